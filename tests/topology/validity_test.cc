// What cannot be built is explained with numbers, and what would be right.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>

#include "tests/topology/fabrics.h"

namespace podsim::validity_test {
namespace {

void expect_says(const FabricSpec& spec, const std::string& expected) {
  EXPECT_EQ(explain_invalid(spec), expected);
}

TEST(Validity, buildable_fabrics_have_nothing_to_explain) {
  for (const auto& spec :
       {ocs_spec({4, 4, 4}), ocs_spec({16, 16, 24}), ocs_spec({2, 2, 1}), ocs_spec({4, 4, 2}),
        ocs_spec({8, 8, 16}, true), ocs_spec({4, 8, 8}, true), flat_spec(16, 16), flat_spec(4, 8),
        torus_spec({5, 3, 1}, 0), multislice_spec({4, 4, 4}, 3), gpu_spec(1), gpu_spec(4), gpu_spec(8),
        gpu_spec(16384), gpu_spec(32768, false)})
    expect_says(spec, "");
}

TEST(Validity, pod_makes_whole_cubes_or_parts_of_one) {
  expect_says(ocs_spec({4, 5, 8}),
              "the pod cannot make a 4x5x8 slice: lengths must be multiples of 4 (nearest: 4x4x8), "
              "or all of them 1, 2 or 4 inside one cube");
  expect_says(ocs_spec({2, 4, 8}),
              "the pod cannot make a 2x4x8 slice: lengths must be multiples of 4 (nearest: 4x4x8), "
              "or all of them 1, 2 or 4 inside one cube");
  EXPECT_NE(explain_invalid(ocs_spec({3, 2, 1})), "");
}

TEST(Validity, shape_must_multiply_to_the_chips_of_a_slice) {
  FabricSpec spec = ocs_spec({4, 4, 8});
  spec.chips = 512;
  spec.slices = 2;
  expect_says(spec,
              "a 4x4x8 slice has 128 chips, but 512 chips in 2 slices are 256 per slice: 256 chips would fit "
              "this shape");
  spec.chips = 513;
  expect_says(spec, "513 chips cannot be divided into 2 equal slices");
}

TEST(Validity, slice_cannot_be_larger_than_the_generation_makes) {
  FabricSpec spec = ocs_spec({16, 16, 28});
  spec.torus->max_chips = 6144;
  expect_says(spec, "a slice has at most 6144 chips, not 7168: use more slices");
}

TEST(Validity, slice_without_ocs_cannot_be_longer_than_the_pod) {
  expect_says(flat_spec(4, 32), "a 4x32 slice is longer than the pod, whose side is 16");
  FabricSpec spec = flat_spec(4, 4);
  spec.torus->shape[2] = 2;
  expect_says(spec, "this torus has 2 dimensions: a 4x4x2 slice has more");
}

TEST(Validity, only_two_families_of_shapes_twist) {
  for (const auto& shape : {std::array{8, 8, 8}, {8, 4, 4}, {4, 4, 4}, {4, 8, 16}, {2, 2, 4}})
    EXPECT_NE(explain_invalid(ocs_spec(shape, true)), "");
  expect_says(ocs_spec({8, 8, 8}, true),
              "a 8x8x8 slice cannot be twisted: only n x n x 2n and n x 2n x 2n, in this order, "
              "with n a multiple of 4");
  FabricSpec spec = torus_spec({4, 4, 8}, 0);
  spec.torus->twisted = true;
  expect_says(spec, "a twist needs optical circuit switches, and this fabric has none");
}

TEST(Validity, gpus_fill_their_nvlink_domains) {
  expect_says(gpu_spec(20), "20 GPUs do not fill NVLink domains of 8: 16 or 24 would");
}

TEST(Validity, fat_tree_must_reach_all_gpus) {
  FabricSpec spec = gpu_spec(4096);
  spec.gpu->tiers.resize(2);
  expect_says(
      spec,
      "a fat-tree of 2 tiers like this joins at most 2048 GPUs, not 4096: add a tier or larger switches");
  spec.gpu->tiers.clear();
  expect_says(spec, "4096 GPUs in NVLink domains of 8 need a fat-tree, and there are no tiers");
}

TEST(Validity, fabric_of_exactly_the_capacity_has_one_top_switch_and_one_domain_more_is_too_many) {
  for (const bool rails : {true, false}) {
    FabricSpec spec = gpu_spec(8, rails);
    spec.gpu->tiers = {{.down = 16}, {.down = 24}, {.down = 2}};
    spec.chips = rails ? 24 / 8 * 2 * 16 * 8 : 24 * 2 * 16;
    expect_says(spec, "");
    const Fabric fabric = build_fabric(spec);
    EXPECT_EQ(std::ranges::count(fabric.nodes, 3, &Node::tier), 1);
    spec.chips += 8;
    EXPECT_NE(explain_invalid(spec), "");
  }
}

TEST(Validity, rails_need_a_spine_to_meet) {
  FabricSpec spec = gpu_spec(64);
  spec.gpu->tiers.resize(1);
  expect_says(spec,
              "a fat-tree of 1 tier like this joins at most 8 GPUs, not 64: add a tier or larger switches");
}

TEST(Validity, leaf_of_by_node_cabling_holds_a_whole_domain) {
  FabricSpec spec = gpu_spec(64, false);
  spec.gpu->tiers[0].down = 4;
  expect_says(spec,
              "a leaf with 4 links below cannot serve a whole domain of 8 GPUs: cable it rail-optimised");
}

TEST(Validity, gpus_joined_pair_by_pair_are_few_and_reduce_in_no_switch) {
  FabricSpec spec = gpu_spec(64);
  spec.gpu->nvlink_mesh = true;
  expect_says(spec, "");
  spec.gpu->nvls = true;
  expect_says(spec, "an NVLink mesh has no switches that could reduce (nvls)");
  spec = gpu_spec(64);
  spec.gpu->nvlink_mesh = true;
  spec.gpu->gpus_per_domain = 16;
  expect_says(spec, "an NVLink mesh joins at most 8 GPUs pair by pair, not 16");
}

TEST(Validity, absurd_sizes_are_refused_at_once) {
  expect_says(gpu_spec(1'000'000'000), "podsim simulates at most 16777216 chips, not 1000000000");
  expect_says(gpu_spec(1'000'001),
              "podsim simulates at most 1000000 chips, not 1000001");  // domains not full
  FabricSpec spec = ocs_spec({4, 4, 4});
  spec.torus->shape = {1'000'000'000, 1'000'000'000, 1'000'000'000};
  expect_says(spec, "a slice cannot have length 1000000000 in dimension x");
  spec = gpu_spec(64);
  spec.gpu->tiers.resize(200, {.down = 1});
  expect_says(spec, "a fat-tree has at most 8 tiers, not 200");
  spec.gpu->gpus_per_domain = INT_MAX;
  expect_says(spec, "");
  EXPECT_EQ(build_fabric(spec).nodes.size(), 65u);
  expect_says(gpu_spec(0), "a fabric needs at least 1 chip, not 0");
  expect_says(gpu_spec(-8), "a fabric needs at least 1 chip, not -8");
}

TEST(Validity, figures_of_links_must_make_sense) {
  FabricSpec spec = ocs_spec({4, 4, 4});
  spec.torus->ici.bandwidth = {0};
  expect_says(spec, "the ICI bandwidth must be positive, not 0 B/s");
  spec = gpu_spec(64);
  spec.gpu->nic.efficiency = 1.5;
  expect_says(spec, "the NIC efficiency must be in (0, 1], not 1.5");
  spec = gpu_spec(64);
  spec.gpu->tiers[1].oversubscription = 0;
  expect_says(spec, "the oversubscription of tier 1 must be positive (2 for 2:1), not 0");
  spec = multislice_spec({4, 4, 4}, 2);
  spec.dcn.latency = Time{-1};
  expect_says(spec, "the DCN latency must not be negative");
}

TEST(Validity, channels_of_a_kind_leave_an_algorithm_for_every_group) {
  FabricSpec spec = gpu_spec(64);
  spec.channels = {{.algorithm = "ring", .kind = "all-to-all"}};
  expect_says(
      spec,
      "the channel of ring for all-to-all needs one of direct beside it, the algorithm that serves every "
      "group");
  spec.channels.push_back({.algorithm = "direct", .kind = "all-to-all"});
  EXPECT_EQ(explain_invalid(spec), "");
}

TEST(Validity, fabric_is_either_torus_or_gpu_cluster) {
  expect_says(FabricSpec{}, "a fabric is either a torus or a GPU cluster");
  FabricSpec spec = gpu_spec(64);
  spec.slices = 2;
  expect_says(spec, "a GPU cluster has no slices: its fat-tree joins all GPUs, not 2 parts");
}

}  // namespace
}  // namespace podsim::validity_test
