// Who is slow: selectors, random draws, domains.
#include "scheduler/folding/drawn_degradations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/rounds.h"
#include "tests/scheduler/fixture.h"

namespace podsim::drawn_degradations_test {
namespace {

struct Cluster {
  Fabric fabric;
  Parts parts;
  ChipRoles roles;

  explicit Cluster(const FabricSpec& spec, const Mesh& mesh = {}, int pipeline_axis = -1)
      : fabric(build_fabric(spec)), parts(fabric, spec.chips_per_host) {
    roles.stage.assign(fabric.chips, -1);
    roles.data_rank = roles.stage;
    if (mesh.axes.empty()) return;
    const std::vector<ShardingRule> rules = {{"batch", {"data"}}};
    add_roles(roles, mesh, pipeline_axis, rules, place(fabric, mesh, {}));
  }
  DrawnDegradations draw(const std::vector<Degradation>& entries, std::uint64_t seed = 1) const {
    return draw_degradations(fabric, parts, roles, entries, seed);
  }
};

Degradation entry(PartKind kind, double factor = 0.5) {
  Degradation slow;
  slow.which.kind = kind;
  slow.factor.mean = factor;
  return slow;
}

std::vector<ChipId> slow_chips(const DrawnDegradations& degradations) {
  std::vector<ChipId> slow;
  for (std::size_t c = 0; c < degradations.chip_factor.size(); ++c)
    if (degradations.chip_factor[c] < 1) slow.push_back(static_cast<ChipId>(c));
  return slow;
}

TEST(DrawnDegradations, a_slow_host_slows_all_its_chips_and_no_other) {
  const Cluster cluster(testing::gpu_fabric(32, 8, 4));  // hosts of 4
  Degradation host = entry(PartKind::kHost);
  host.which.numbers = {{1, 1}, {7, 7}};
  const DrawnDegradations degradations = cluster.draw({host});
  EXPECT_EQ(slow_chips(degradations), (std::vector<ChipId>{4, 5, 6, 7, 28, 29, 30, 31}));
  EXPECT_EQ(degradations.hits[0].parts, 2);
  EXPECT_EQ(degradations.hits[0].chips, 8);
}

TEST(DrawnDegradations, a_selector_finds_the_chips_of_a_stage_and_of_a_data_rank) {
  const Cluster cluster(testing::gpu_fabric(16, 8, 4), {{{"pipeline", 2}, {"data", 4}, {"tensor", 2}}}, 0);
  Degradation chip = entry(PartKind::kChip);
  chip.which.stages = {1};
  chip.which.data_ranks = {2};
  EXPECT_EQ(slow_chips(cluster.draw({chip})), (std::vector<ChipId>{12, 13}));
}

TEST(DrawnDegradations, a_slow_nic_slows_both_directions_of_its_link) {
  const Cluster cluster(testing::gpu_fabric(32, 8, 4));
  Degradation nic = entry(PartKind::kNic, 0.25);
  nic.which.numbers = {{9, 9}};
  const DrawnDegradations degradations = cluster.draw({nic});
  EXPECT_TRUE(slow_chips(degradations).empty());
  int slow = 0;
  for (std::size_t l = 0; l < degradations.link_factor.size(); ++l) {
    if (degradations.link_factor[l] == 1) continue;
    const Link& link = cluster.fabric.links[l];
    EXPECT_EQ(link.kind, LinkKind::kNic);
    EXPECT_TRUE(link.from == 9 || link.to == 9);
    EXPECT_EQ(degradations.link_factor[l], 0.25);
    ++slow;
  }
  EXPECT_EQ(slow, 2);
}

TEST(DrawnDegradations, an_entry_changes_a_link_between_two_of_its_chips_once) {
  const Cluster ring(testing::ring_fabric(8));
  Degradation ici = entry(PartKind::kIci);
  const std::size_t links = ring.fabric.links.size();
  EXPECT_EQ(ring.draw({ici}).link_factor, std::vector<double>(links, 0.5));
  EXPECT_EQ(ring.draw({ici}).hits[0].links, static_cast<std::int64_t>(links));
  ici.which.together = Domain::kAll;
  ici.which.random_fraction = 0.999;
  ici.multiply = true;
  EXPECT_EQ(ring.draw({ici}).link_factor, std::vector<double>(links, 0.5))
      << "nor does it multiply with itself";
  Degradation swing = entry(PartKind::kIci);
  swing.season.swing_amplitude = 0.5;
  swing.season.swing_period = Time::seconds(1);
  for (const SpeedProfile& profile : ring.draw({swing}).profiles) EXPECT_EQ(profile.size(), 1u);
  Degradation neighbours = entry(PartKind::kIci);
  neighbours.which.numbers = {{0, 1}};
  const std::vector<double> factor = ring.draw({neighbours}).link_factor;
  EXPECT_EQ(factor[ring.fabric.link_between(0, 1)], 0.5);
  EXPECT_EQ(factor[ring.fabric.link_between(1, 0)], 0.5);
  EXPECT_EQ(std::count(factor.begin(), factor.end(), 0.5), 6);
}

TEST(DrawnDegradations, of_the_draws_at_both_ends_of_a_link_the_slower_counts) {
  const Cluster ring(testing::ring_fabric(64));
  const auto draw = [&](std::pair<int, int> chips) {
    Degradation ici = entry(PartKind::kIci);
    ici.which.numbers = {chips};
    ici.factor = {SpeedFactor::Shape::kUniform, 1, 0, 0.2, 0.9};
    return ring.draw({ici}).link_factor;
  };
  const std::vector<double> all = draw({0, 63});
  for (ChipId chip = 0; chip < 63; ++chip) {
    const LinkId link = ring.fabric.link_between(chip, chip + 1);
    EXPECT_EQ(all[link], std::min(draw({chip, chip})[link], draw({chip + 1, chip + 1})[link])) << chip;
  }
}

TEST(DrawnDegradations, the_uplinks_of_all_leaves_are_a_tier) {
  const Cluster cluster(testing::gpu_fabric(64, 8, 4));
  const DrawnDegradations degradations = cluster.draw({entry(PartKind::kLeafUplink)});
  for (std::size_t l = 0; l < degradations.link_factor.size(); ++l)
    EXPECT_EQ(degradations.link_factor[l] < 1, cluster.fabric.links[l].kind == LinkKind::kTrunk);
}

TEST(DrawnDegradations, a_larger_fraction_hits_all_that_a_smaller_one_hits) {
  const Cluster cluster(testing::gpu_fabric(512, 8, 4));
  std::vector<ChipId> before;
  for (const double fraction : {0.0, 0.1, 0.3, 0.7, 1.0}) {
    Degradation chips = entry(PartKind::kChip);
    chips.which.random_fraction = fraction;
    const std::vector<ChipId> now = slow_chips(cluster.draw({chips}));
    EXPECT_TRUE(std::includes(now.begin(), now.end(), before.begin(), before.end()));
    before = now;
  }
  EXPECT_EQ(before.size(), 512u);
}

TEST(DrawnDegradations, another_entry_shifts_no_draw) {
  const Cluster cluster(testing::gpu_fabric(512, 8, 4));
  Degradation hosts = entry(PartKind::kHost), nics = entry(PartKind::kNic), more = entry(PartKind::kHost);
  hosts.which.random_fraction = nics.which.random_fraction = more.which.random_fraction = 0.2;
  more.draw = 1;
  const DrawnDegradations alone = cluster.draw({hosts}), beside = cluster.draw({nics, hosts});
  EXPECT_EQ(alone.chip_factor, beside.chip_factor);
  EXPECT_NE(alone.chip_factor, cluster.draw({more}).chip_factor) << "another number is another draw";
}

TEST(DrawnDegradations, chips_of_a_domain_share_one_draw) {
  const Cluster cluster(testing::gpu_fabric(512, 8, 4));
  Degradation chips = entry(PartKind::kChip);
  chips.which.random_fraction = 0.3;
  chips.which.together = Domain::kNvlinkDomain;
  chips.factor = {SpeedFactor::Shape::kUniform, 1, 0, 0.5, 0.9};
  const DrawnDegradations degradations = cluster.draw({chips});
  for (ChipId c = 0; c < 512; ++c)
    EXPECT_EQ(degradations.chip_factor[c], degradations.chip_factor[c / 8 * 8]);
  EXPECT_GT(degradations.hits[0].chips, 0);
  EXPECT_LT(degradations.hits[0].chips, 512);
}

TEST(DrawnDegradations, factors_have_the_moments_and_bounds_of_their_distribution) {
  const Cluster cluster(testing::gpu_fabric(8192, 8, 64));
  for (const auto shape : {SpeedFactor::Shape::kNormal, SpeedFactor::Shape::kLognormal}) {
    Degradation chips = entry(PartKind::kChip);
    chips.factor = {shape, 0.8, 0.02, 0.1, 1};
    const std::vector<double> factor = cluster.draw({chips}).chip_factor;
    double sum = 0, squares = 0;
    for (const double f : factor) sum += f, squares += f * f;
    const double n = 8192, mean = sum / n, sd = std::sqrt(squares / n - mean * mean);
    EXPECT_NEAR(mean, 0.8, 3 * 0.016 / std::sqrt(n));
    EXPECT_NEAR(sd, 0.016, 3 * 0.016 / std::sqrt(2 * n));
    chips.factor.low = 0.79;
    chips.factor.high = 0.81;
    for (const double f : cluster.draw({chips}).chip_factor) {
      EXPECT_GE(f, 0.79);
      EXPECT_LE(f, 0.81);
    }
  }
}

// With each of N hosts slow with probability p, a synchronous step is hit with probability 1 - (1 - p)^N.
TEST(DrawnDegradationsLaw, a_step_is_hit_as_often_as_any_host_is_slow) {
  constexpr double kSlow = 0.005;
  constexpr int kSeeds = testing::rounds(4000);
  for (const int hosts : {8, 64, 128, 512}) {
    FabricSpec spec = testing::gpu_fabric(hosts, 1, 1024);
    spec.chips_per_host = 1;
    const Cluster cluster(spec);
    Degradation slow = entry(PartKind::kHost, 0.9);
    slow.which.random_fraction = kSlow;
    int hit = 0;
    for (int seed = 0; seed < kSeeds; ++seed) hit += cluster.draw({slow}, seed).hits[0].parts > 0;
    const double expected = 1 - std::pow(1 - kSlow, hosts);
    const double error = std::sqrt(expected * (1 - expected) / kSeeds);
    EXPECT_NEAR(static_cast<double>(hit) / kSeeds, expected, 3 * error) << hosts << " hosts";
  }
}

}  // namespace
}  // namespace podsim::drawn_degradations_test
