// Laws: on random groups, fabrics, routings and transports an all-to-all in which one rank takes in more than
// its fair share goes over from the equal one without a leap, and takes no less time by the same algorithm.
#include <gtest/gtest.h>

#include <random>

#include "collectives/load_sum.h"
#include "tests/collectives/fabrics.h"
#include "tests/rounds.h"
#include "topology/failures.h"

namespace podsim::unequal_all_to_all_laws {
namespace {

using testing::rounds;

constexpr Algorithm kAlgorithms[] = {Algorithm::kDirect, Algorithm::kHierarchical};

class RandomExchange {
 public:
  explicit RandomExchange(std::uint64_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  Fabric fabric() {
    Fabric built = build_fabric(spec());
    if (below(4) > 0) built.transport = {"lossy", 0.02 * (1 + below(10)), 0.3 + 0.1 * below(6), 0};
    return built;
  }

  std::vector<ChipId> group(const Fabric& fabric) {
    auto chips = all_chips(fabric);
    if (below(3) == 0) return chips;
    for (int i = fabric.chips - 1; i > 0; --i) std::swap(chips[i], chips[below(i + 1)]);
    chips.resize(2 + below(fabric.chips - 1));
    return chips;
  }

 private:
  FabricSpec spec() {
    const std::array<int, 3> shape = {2 + below(4), 1 + below(4), 1 + below(3)};
    FabricSpec made;
    switch (below(6)) {
      case 0:
        made = torus_spec(shape);
        break;
      case 1:
        made = torus_spec(shape, 0, {1});
        break;
      case 2:
        made = torus_spec({2, 2, 4}, 2);
        made.torus->twisted = true;
        break;
      case 3:
        made = torus_spec(shape);
        made.slices = 2 + below(2);
        made.chips *= made.slices;
        made.dcn = {.bandwidth = {kDcnRate}, .efficiency = 1, .latency = kDcnLatency};
        break;
      default: {
        const int per_domain = 1 << below(4);
        made = gpu_spec(per_domain * (2 + below(5)), per_domain);
        made.gpu->rail_optimised = below(2) == 0;
        const int down = made.gpu->rail_optimised ? 2 : 2 * per_domain;
        made.gpu->tiers = {
            {.down = down, .oversubscription = below(2) == 0 ? 1.0 : 2.0}, {.down = 16}, {.down = 16}};
        const Routing by_switch[] = {Routing::kAdaptive, Routing::kEcmp, Routing::kStatic};
        made.routing = by_switch[below(3)];
        made.routing_seed = static_cast<std::uint64_t>(below(1000));
        return made;
      }
    }
    const Routing on_tori[] = {Routing::kAdaptive, Routing::kDimensionOrder, Routing::kStatic};
    made.routing = on_tori[below(3)];
    if (!explain_invalid(made).empty()) made.routing = Routing::kAdaptive;
    return made;
  }

  std::mt19937_64 random_;
};

// `hot` takes in so many times its fair share, the others what is left.
std::vector<double> shares_with(std::size_t ranks, std::size_t hot, double imbalance) {
  const double n = static_cast<double>(ranks);
  std::vector<double> shares(ranks, (1 - imbalance / n) / (n - 1));
  shares[hot] = imbalance / n;
  return shares;
}

std::optional<Time> time_of(Algorithm algorithm, const Fabric& fabric, std::span<const ChipId> group,
                            std::vector<double> shares) {
  const auto plan =
      plan_with(algorithm, fabric, {CollectiveKind::kAllToAll, {1e9}, std::move(shares)}, group);
  return plan ? std::optional(predict(fabric, *plan)) : std::nullopt;
}

TEST(UnequalAllToAllLaw, goes_over_from_the_equal_one_without_a_leap) {
  int colliding = 0, hierarchical = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(rounds(400)); ++seed) {
    RandomExchange random(seed);
    const Fabric fabric = random.fabric();
    const auto group = random.group(fabric);
    const auto hot = static_cast<std::size_t>(random.below(static_cast<int>(group.size())));
    for (const Algorithm algorithm : kAlgorithms) {
      const auto equal = time_of(algorithm, fabric, group, {});
      const auto nearly = time_of(algorithm, fabric, group, shares_with(group.size(), hot, 1 + 1e-9));
      ASSERT_EQ(equal.has_value(), nearly.has_value()) << "seed " << seed;
      if (!equal) continue;
      colliding += flows_collide(fabric);
      hierarchical += algorithm == Algorithm::kHierarchical;
      EXPECT_NEAR(nearly->in_seconds(), equal->in_seconds(), 1e-7 * equal->in_seconds())
          << "seed " << seed << ' ' << to_string(algorithm);
    }
  }
  EXPECT_GT(colliding, rounds(100));
  EXPECT_GT(hierarchical, rounds(30));
}

// A link that leads to other ranks only carries less, by what these take in less; over all choices of the hot
// rank every link carries what it carries for equal parts.
TEST(UnequalAllToAllLaw, is_never_faster_but_by_what_the_others_take_in_less) {
  for (std::uint64_t seed = 1000; seed < 1000 + static_cast<std::uint64_t>(rounds(100)); ++seed) {
    RandomExchange random(seed);
    const Fabric fabric = random.fabric();
    const auto group = random.group(fabric);
    const double n = static_cast<double>(group.size());
    const double imbalance = 1 + (n - 1) * (1 + random.below(99)) / 100;
    for (const Algorithm algorithm : kAlgorithms) {
      const auto equal = time_of(algorithm, fabric, group, {});
      if (!equal) continue;
      const double least = (n - imbalance) / (n - 1) * equal->in_seconds();
      Time slowest;
      for (std::size_t hot = 0; hot < group.size(); ++hot) {
        const Time time = *time_of(algorithm, fabric, group, shares_with(group.size(), hot, imbalance));
        EXPECT_GE(time.in_seconds(), least * (1 - 1e-9)) << "seed " << seed << ' ' << to_string(algorithm);
        slowest = std::max(slowest, time);
      }
      EXPECT_GE(slowest.in_seconds(), equal->in_seconds() * (1 - 1e-9))
          << "seed " << seed << ' ' << to_string(algorithm) << " imbalance " << imbalance;
    }
  }
}

// Where the network looks the same from every rank, whichever is hot.
TEST(UnequalAllToAllLaw, is_never_faster_among_ranks_that_lie_alike) {
  FabricSpec hashed = gpu_spec(64), steered = torus_spec({4, 4, 4});
  hashed.routing = Routing::kStatic;
  steered.routing = Routing::kDimensionOrder;
  for (const FabricSpec& spec :
       {torus_spec({4, 4, 4}), steered, torus_spec({8, 3, 1}), gpu_spec(64), hashed}) {
    Fabric fabric = build_fabric(spec);
    fabric.transport = {"lossy", 0.08, 0.715, 0};
    const auto group = all_chips(fabric);
    for (const Algorithm algorithm : kAlgorithms) {
      std::optional<Time> last = time_of(algorithm, fabric, group, {});
      for (const double imbalance : {1.0001, 1.2, 1.5, 4.0, 16.0}) {
        if (!last) break;
        const Time next = *time_of(algorithm, fabric, group, shares_with(group.size(), 0, imbalance));
        EXPECT_GE(next.ps + 1000, last->ps) << spec.name << ' ' << to_string(algorithm) << ' ' << imbalance;
        last = next;
      }
    }
  }
}

}  // namespace
}  // namespace podsim::unequal_all_to_all_laws
