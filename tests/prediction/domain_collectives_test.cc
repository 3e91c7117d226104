// Laws of collectives over whole NVLink domains, on every fabric of the catalogue that has them: more domains
// are never faster than what their NICs add, and an all-reduce is about the two halves that it is made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

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

// Of four domains each, by name.
const std::map<std::string, Fabric>& clusters() {
  static const std::map<std::string, Fabric> made = [] {
    const Catalog catalog;
    std::map<std::string, Fabric> fabrics;
    for (const std::string& name : catalog.names(Catalog::Section::kFabrics)) {
      // Racks of 72 are the largest domains; what is built of them tells the size of one.
      const auto several =
          chosen_fabric(catalog, {.name = name, .chips = 72 * kMostDomains, .shape = {}}).first;
      if (!several || !several->gpu) continue;
      const int chips = several->gpu->gpus_per_domain * kMostDomains;
      fabrics.emplace(
          name,
          build_fabric(chosen_fabric(catalog, {.name = name, .chips = chips, .shape = {}}).first.value()));
    }
    return fabrics;
  }();
  return made;
}

std::vector<double> sizes() {
  std::vector<double> bytes;
  for (double size = 1024; size <= 1 << 30; size *= 4) bytes.push_back(size);
  return bytes;
}

struct Timed {
  double s, latency_s, bound_s;
  std::string algorithm;
};

Timed over_domains(const Fabric& fabric, CollectiveKind kind, double bytes, int domains) {
  std::vector<ChipId> group(static_cast<std::size_t>(domains * fabric.gpus_per_domain));
  std::iota(group.begin(), group.end(), 0);
  const Collective collective = {kind, {bytes}};
  const CollectivePlan made = plan(fabric, collective, group);
  Time latency = made.launch;
  for (const Phase& phase : made.phases) latency += phase.latency;
  return {predict(fabric, made).in_seconds(), latency.in_seconds(),
          lower_bound(fabric, collective, group).in_seconds(), std::string(to_string(made.algorithm))};
}

// Rings that leave a domain bring a part of the data in by NICs, at the same time as NVLinks bring the rest.
// By the bounds, whose bandwidth is of both, that shortens transfers, and where links of a domain are
// measured far below their bound by up to an eighth more (broadcasts of 1 GiB on H800); it shortens no
// latency.
TEST(DomainCollectives, take_no_less_over_several_domains_than_over_one_but_for_what_nics_carry) {
  constexpr double kOfTransfer = 0.87;
  ASSERT_GE(clusters().size(), 20u);
  for (const auto& [name, fabric] : clusters()) {
    if (fabric.gpus_per_domain < 2) continue;
    for (const CollectiveKind kind : kKinds)
      for (const double bytes : sizes()) {
        const Timed one = over_domains(fabric, kind, bytes, 1);
        for (int domains = 2; domains <= kMostDomains; ++domains) {
          const Timed more = over_domains(fabric, kind, bytes, domains);
          const double gain = one.bound_s > 0 ? std::max(0.0, 1 - more.bound_s / one.bound_s) : 0;
          const double transfer = (1 - gain) * (one.s - one.latency_s);
          EXPECT_GE(more.s, one.latency_s + kOfTransfer * transfer - 1e-12)
              << name << ' ' << to_string(kind) << ' ' << bytes << " over " << domains << ": "
              << one.algorithm << ", " << more.algorithm;
        }
      }
  }
}

// NCCL joins no hierarchical scatter and gather to an all-reduce (published ones over two racks are missed by
// more where it may): it has trees, in switches or as chains, which lose some of the middle sizes. A fabric
// with a channel of all-reduces says what else goes on there.
TEST(DomainCollectives, an_all_reduce_takes_about_a_scatter_and_a_gather_at_most) {
  constexpr double kTreesLose = 1.45;  // at most 1.41, of 16 MiB over three racks of GB300
  for (const auto& [name, fabric] : clusters()) {
    const auto of_reductions = [](const ChannelSpec& channel) { return channel.kind == "all-reduce"; };
    if (std::ranges::any_of(fabric.channels, of_reductions)) continue;
    for (const double bytes : sizes())
      for (int domains = 2; domains <= kMostDomains; ++domains)
        EXPECT_LE(over_domains(fabric, kReduction, bytes, domains).s,
                  kTreesLose * (over_domains(fabric, CollectiveKind::kReduceScatter, bytes, domains).s +
                                over_domains(fabric, CollectiveKind::kAllGather, bytes, domains).s))
            << name << ' ' << bytes << ' ' << domains;
  }
}

TEST(DomainCollectives, broadcasts_take_longer_the_more_domains) {
  for (const auto& [name, fabric] : clusters())
    for (const double bytes : sizes())
      for (int domains = 2; domains < kMostDomains; ++domains)
        EXPECT_GE(over_domains(fabric, kBroadcast, bytes, domains + 1).s,
                  over_domains(fabric, kBroadcast, bytes, domains).s * (1 - 1e-9))
            << name << ' ' << bytes << ' ' << domains;
}

}  // namespace
}  // namespace podsim::domain_collectives_test
