// Laws of collectives over whole NVLink domains, on every fabric of the catalogue that has them: more domains
// are never faster than what their NICs add, and an all-reduce is about the two halves that it is made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "collectives/candidates.h"
#include "collectives/collective.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "topology/fabric.h"

namespace podsim::domain_collectives_test {
namespace {

constexpr int kMostDomains = 4;

constexpr CollectiveKind kReduction = CollectiveKind::kAllReduce, kBroadcast = CollectiveKind::kBroadcast;
constexpr CollectiveKind kKinds[] = {
    kReduction, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
    kBroadcast, CollectiveKind::kPermute,   CollectiveKind::kBarrier};

// One domain has no network, so that bounds there know of no NICs.
struct Cluster {
  Fabric one, several;
};

const std::map<std::string, Cluster>& clusters() {
  static const std::map<std::string, Cluster> made = [] {
    const Catalog catalog;
    const auto spec = [&](const std::string& name, int chips) {
      return chosen_fabric(catalog, {.name = name, .chips = chips, .shape = {}}).first;
    };
    std::map<std::string, Cluster> fabrics;
    for (const std::string& name : catalog.names(Catalog::Section::kFabrics)) {
      // Of racks of 72 as of servers: what is built tells the size of a domain.
      const auto some = spec(name, 72 * kMostDomains);
      if (!some || !some->gpu) continue;
      const int domain = some->gpu->gpus_per_domain;
      if (domain < 2) continue;
      fabrics.emplace(name, Cluster{build_fabric(spec(name, domain).value()),
                                    build_fabric(spec(name, domain * kMostDomains).value())});
    }
    return fabrics;
  }();
  return made;
}

// 1 KiB to 1 GiB.
const std::vector<Bytes>& sizes() {
  static const std::vector<Bytes> bytes = [] {
    std::vector<Bytes> made;
    for (double size = 1 << 10; size <= 1 << 30; size *= 4) made.push_back({size});
    return made;
  }();
  return bytes;
}

struct Timed {
  double s, latency_s, bound_s;
  Algorithm algorithm;
};

// Of each size.
std::vector<Timed> timed(const Fabric& fabric, CollectiveKind kind, int domains) {
  std::vector<ChipId> group(static_cast<std::size_t>(domains * fabric.gpus_per_domain));
  std::iota(group.begin(), group.end(), 0);
  std::vector<Timed> times;
  for (const CollectivePlan& made : plans_of_sizes(fabric, kind, sizes(), group, nullptr)) {
    Time latency = made.launch;
    for (const Phase& phase : made.phases) latency += phase.latency;
    times.push_back({predict(fabric, made).in_seconds(), latency.in_seconds(),
                     lower_bound(fabric, {kind, made.bytes}, group).in_seconds(), made.algorithm});
  }
  return times;
}

// Rings that leave a domain bring a part of the data in by NICs, at the same time as NVLinks bring the rest.
// By the bounds, whose bandwidth is of both, that shortens transfers; it shortens no latency.
TEST(DomainCollectives, take_no_less_over_several_domains_than_over_one_but_for_what_nics_carry) {
  ASSERT_GE(clusters().size(), 20u);
  for (const auto& [name, cluster] : clusters())
    for (const CollectiveKind kind : kKinds) {
      const std::vector<Timed> one = timed(cluster.one, kind, 1);
      for (int domains = 2; domains <= kMostDomains; ++domains) {
        const std::vector<Timed> more = timed(cluster.several, kind, domains);
        for (std::size_t i = 0; i < one.size(); ++i) {
          const double gain = one[i].bound_s > 0 ? std::max(0.0, 1 - more[i].bound_s / one[i].bound_s) : 0;
          EXPECT_GE(more[i].s, one[i].s - gain * (one[i].s - one[i].latency_s) - 1e-12)
              << name << ' ' << to_string(kind) << ' ' << sizes()[i].value << " over " << domains << ": "
              << to_string(one[i].algorithm) << ", " << to_string(more[i].algorithm);
        }
      }
    }
}

// NCCL joins no hierarchical scatter and gather to an all-reduce (published ones over two racks are missed by
// more where it may): it has trees, in switches or as chains, which lose some of the middle sizes. A fabric
// with a channel of all-reduces says what else goes on there.
TEST(DomainCollectives, an_all_reduce_takes_about_a_scatter_and_a_gather_at_most) {
  constexpr double kTreesLose = 1.45;  // at most 1.41, of 16 MiB over three racks of GB300
  for (const auto& [name, cluster] : clusters()) {
    const auto of_reductions = [](const ChannelSpec& channel) { return channel.kind == "all-reduce"; };
    if (std::ranges::any_of(cluster.several.channels, of_reductions)) continue;
    for (int domains = 2; domains <= kMostDomains; ++domains) {
      const std::vector<Timed> whole = timed(cluster.several, kReduction, domains),
                               scatter = timed(cluster.several, CollectiveKind::kReduceScatter, domains),
                               gather = timed(cluster.several, CollectiveKind::kAllGather, domains);
      for (std::size_t i = 0; i < whole.size(); ++i)
        EXPECT_LE(whole[i].s, kTreesLose * (scatter[i].s + gather[i].s))
            << name << ' ' << sizes()[i].value << " over " << domains;
    }
  }
}

TEST(DomainCollectives, broadcasts_take_longer_the_more_domains) {
  for (const auto& [name, cluster] : clusters()) {
    std::vector<Timed> fewer = timed(cluster.several, kBroadcast, 2);
    for (int domains = 3; domains <= kMostDomains; ++domains) {
      std::vector<Timed> more = timed(cluster.several, kBroadcast, domains);
      for (std::size_t i = 0; i < more.size(); ++i)
        EXPECT_GE(more[i].s, fewer[i].s * (1 - 1e-9))
            << name << ' ' << sizes()[i].value << " over " << domains;
      fewer = std::move(more);
    }
  }
}

}  // namespace
}  // namespace podsim::domain_collectives_test
