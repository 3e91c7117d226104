// Tests of libraries: each size takes the protocol that is best for it, by the closed forms of the
// documentation.
#include "collectives/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/collectives/fabrics.h"
#include "tests/collectives/protocols.h"

namespace podsim::library_test {
namespace {

using some_protocols::kUs;
using some_protocols::library;
using some_protocols::of;
using some_protocols::us;

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;
Fabric with_library(FabricSpec spec, const LibrarySpec& library, bool nvls = false) {
  spec.library = library;
  spec.gpu->nvls = nvls;
  return build_fabric(spec);
}

double seconds_of(Algorithm algorithm, const Fabric& fabric, CollectiveKind kind, double bytes, int ranks) {
  const auto plan = plan_with(algorithm, fabric, {kind, {bytes}}, first_chips(ranks));
  return predict(fabric, plan.value()).in_seconds();
}

// F (2 sqrt(x) - x) of d stages with chunks of c bytes that cost a each, at w seconds per byte.
double ramp(double bytes, double d, double c, double a, double w) {
  const double fill = d * c * w, x = std::min(1.0, bytes / (c * fill / a));
  return fill * (2 * std::sqrt(x) - x);
}

TEST(Library, a_ring_in_a_domain_takes_flags_when_small_and_chunks_when_large) {
  const Fabric fabric = with_library(gpu_spec(8), library());
  const double hop = 1e-6;  // two links of 0.5 us
  for (const double bytes : {8.0, 1e5, 1e6, 1e9}) {
    const double on_wire = bytes * 3 / 4;
    const double ll = 3 * (hop + 0.25e-6) + (on_wire + bytes / 4) / (0.05 * kNvlinkRate);
    const double ll128 = 3 * (hop + 0.5e-6) + (on_wire + bytes / 4) / (0.4 * kNvlinkRate);
    const double w = 0.75 / (0.8 * kNvlinkRate);
    const double simple =
        5e-6 + 3 * (hop + 2e-6) + bytes * w + ramp(bytes, 1, 16e6, 1e-6, w) + bytes / 4 / 900e9;
    EXPECT_NEAR(seconds_of(Algorithm::kRing, fabric, CollectiveKind::kAllGather, bytes, 4),
                std::min({ll, ll128, simple}), 3e-12)
        << bytes;
  }
  EXPECT_LT(3 * (hop + 0.5e-6), 5e-6 + 3 * (hop + 2e-6));
}

TEST(Library, a_protocol_of_small_messages_beats_no_link_at_the_rate_of_the_largest) {
  LibrarySpec odd = library();
  of(odd.domain, Protocol::kLl).efficiency = 1;
  const Fabric fabric = with_library(gpu_spec(8), odd);
  const double on_wire = 1e9 * 7 / 8 / (0.8 * kNvlinkRate);
  EXPECT_GE(seconds_of(Algorithm::kRing, fabric, CollectiveKind::kAllGather, 1e9, 8), on_wire);
}

// 2 x 8 GPUs: a round of the ring crosses the network twice.
TEST(Library, a_ring_over_domains_pays_the_network_once_for_each_of_them) {
  const Fabric fabric = with_library(gpu_spec(16), library());
  const double inside = 1e-6 + 0.25e-6, across = 2e-6 + 5e-6;
  EXPECT_NEAR(seconds_of(Algorithm::kRing, fabric, kAllReduce, 1e-3, 16), 26 * inside + 4 * across, 1e-11);
}

// So that two racks are no faster than one: each rank still takes in the parts of all its neighbours.
TEST(Library, a_hierarchy_pays_inside_domains_the_steps_of_a_ring_there) {
  const double inside = 1e-6 + 0.25e-6, across = 2e-6 + 5e-6;
  for (const int domains : {2, 3, 8}) {
    const Fabric fabric = with_library(gpu_spec(8 * domains), library());
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, kAllReduce}) {
      const int passes = kind == kAllReduce ? 2 : 1;
      EXPECT_NEAR(seconds_of(Algorithm::kHierarchical, fabric, kind, 1e-3, 8 * domains),
                  passes * (7 * inside + (domains - 1) * across), 2e-11)
          << to_string(kind) << ' ' << domains;
      EXPECT_GT(seconds_of(Algorithm::kHierarchical, fabric, kind, 1e-3, 8 * domains),
                seconds_of(Algorithm::kRing, fabric, kind, 1e-3, 8));
    }
  }
}

// What has come is passed on while more comes, so that no part lands when all else is done.
TEST(Library, a_broadcast_streams_to_its_last_rank) {
  const Fabric fabric = with_library(gpu_spec(8), library());
  const double w = 1 / (0.8 * kNvlinkRate), bytes = 1e9;
  EXPECT_NEAR(seconds_of(Algorithm::kRing, fabric, CollectiveKind::kBroadcast, bytes, 4),
              5e-6 + 3 * (1e-6 + 2e-6) + bytes * w + ramp(bytes, 1, 16e6, 1e-6, w), 3e-12);
}

TEST(Library, a_tree_over_domains_runs_down_their_members_as_a_chain) {
  const double inside = 1e-6 + 0.25e-6, across = 2e-6 + 5e-6;
  for (const int domains : {2, 4, 8}) {
    const Fabric fabric = with_library(gpu_spec(8 * domains), library());
    const double depth = std::log2(domains);
    EXPECT_NEAR(seconds_of(Algorithm::kTree, fabric, kAllReduce, 1e-12, 8 * domains),
                14 * inside + 2 * depth * across, 2e-12)
        << domains;
  }
}

// T = hop + setup + d a + S w + F (2 sqrt(x) - x) with d = 2, c and a of every member.
TEST(Library, chunks_of_a_reduction_grow_with_the_members_of_the_domain) {
  for (const int members : {2, 8, 64}) {
    const Fabric fabric = with_library(gpu_spec(members, members), library(), true);
    const double c = 1e6 * members, a = 0.5e-6 * members, w = 1 / (0.5 * kNvlinkRate);
    for (const double bytes : {1e3, 1e7, 1e10})
      EXPECT_NEAR(seconds_of(Algorithm::kNvls, fabric, kAllReduce, bytes, members),
                  8e-6 + 2 * a + bytes * w + ramp(bytes, 2, c, a, w), 3e-12)
          << members << ' ' << bytes;
  }
}

TEST(Library, a_reduction_over_domains_adds_the_network_and_hands_parts_to_it) {
  const Fabric fabric = with_library(gpu_spec(16), library(), true);
  const double a = 4e-6, d = 4, w = 1 / (0.5 * kNvlinkRate), bytes = 1e8;
  EXPECT_NEAR(seconds_of(Algorithm::kNvlsTree, fabric, kAllReduce, bytes, 16),
              49e-6 + 2 * (2e-6 + 9e-6) + d * a + bytes * w + ramp(bytes, d, 8e6, a, w) + bytes / 8 / 900e9,
              3e-12);
}

TEST(Library, an_exchange_has_one_step_whatever_the_ranks) {
  const Fabric fabric = with_library(gpu_spec(8), library());
  for (const int ranks : {2, 8}) {
    const double part = (ranks - 1.0) / ranks;
    EXPECT_NEAR(seconds_of(Algorithm::kDirect, fabric, CollectiveKind::kAllToAll, 1e-3, ranks), 2e-6, 1e-12);
    EXPECT_NEAR(seconds_of(Algorithm::kDirect, fabric, CollectiveKind::kAllToAll, 1e9, ranks),
                7e-6 + 1e9 * part / (0.7 * kNvlinkRate) + 1e9 / ranks / 900e9, 2e-12);
  }
}

TEST(Library, a_protocol_without_an_efficiency_does_not_run_there) {
  LibrarySpec without = library();
  of(without.network, Protocol::kLl) = {};
  const Fabric with = with_library(gpu_spec(16), library()), fabric = with_library(gpu_spec(16), without);
  EXPECT_LT(seconds_of(Algorithm::kTree, with, kAllReduce, 8, 16),
            seconds_of(Algorithm::kTree, fabric, kAllReduce, 8, 16));
  EXPECT_EQ(seconds_of(Algorithm::kTree, with, kAllReduce, 8, 8),
            seconds_of(Algorithm::kTree, fabric, kAllReduce, 8, 8));
}

TEST(Library, sustains_no_more_than_the_links_carry) {
  FabricSpec spec = gpu_spec(8);
  spec.gpu->nvlink.efficiency = 0.6;
  LibrarySpec fast = library();
  fast.landing = {};
  of(fast.domain, Protocol::kSimple) = {.efficiency = 0.9};
  const Fabric fabric = with_library(spec, fast);
  EXPECT_NEAR(seconds_of(Algorithm::kRing, fabric, CollectiveKind::kAllGather, 1e10, 8),
              7e-6 + 1e10 * 7 / 8 / (0.6 * kNvlinkRate), 1e-11);
}

TEST(Library, has_the_algorithms_that_it_names_for_a_kind_and_all_of_other_kinds) {
  LibrarySpec made = library();
  made.offers = {{"all-reduce", "ring"}, {"all-reduce", "tree"}};
  EXPECT_TRUE(is_offered(made, kAllReduce, Algorithm::kTree));
  EXPECT_FALSE(is_offered(made, kAllReduce, Algorithm::kHierarchical));
  EXPECT_TRUE(is_offered(made, CollectiveKind::kAllGather, Algorithm::kHierarchical));
  EXPECT_FALSE(is_offered(made, CollectiveKind::kAllGather, Algorithm::kLogStep));
}

TEST(Library, a_channel_of_the_fabric_comes_before_it) {
  FabricSpec spec = gpu_spec(8);
  spec.channels = {{.algorithm = "ring", .kind = "all-gather", .setup = us(100)}};
  const Fabric fabric = with_library(spec, library());
  const double hops = 7e-6;
  EXPECT_NEAR(seconds_of(Algorithm::kRing, fabric, CollectiveKind::kAllGather, 1e-3, 8), 100e-6 + hops,
              1e-12);
  EXPECT_NEAR(seconds_of(Algorithm::kRing, fabric, CollectiveKind::kReduceScatter, 1e-3, 8), 7 * 1.25e-6,
              1e-12);
}

// Four domains below one set of leaves, others beyond a spine: the farthest two tell what a hop between
// domains takes, whichever the group names first and last.
TEST(Library, a_group_takes_as_long_in_whatever_order_it_is_named) {
  FabricSpec spec = gpu_spec(128);
  spec.gpu->tiers = {{.down = 4}, {.down = 64}};
  const Fabric fabric = with_library(spec, library());
  std::vector<ChipId> group = {0, 8, 64, 73};
  const Collective collective = {kAllReduce, {1024}};
  const Time time = predict(fabric, plan(fabric, collective, group));
  const GroupShape shape = shape_of(fabric, group);
  EXPECT_EQ(shape.across, 2 * (kNicLatency + kNicLatency));
  do {
    EXPECT_EQ(shape_of(fabric, group).across, shape.across);
    EXPECT_EQ(predict(fabric, plan(fabric, collective, group)), time);
  } while (std::ranges::next_permutation(group).found);
}

}  // namespace
}  // namespace podsim::library_test
