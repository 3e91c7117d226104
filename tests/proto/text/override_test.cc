// --set path=value: what it sets, and what it says of a wrong path or value.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::override_test {
namespace {

Spec overridden(const std::vector<Override>& overrides) {
  const auto result = load(valid_scenario(), overrides);
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec.value_or(Spec{});
}

TEST(Override, sets_fields_of_every_type) {
  const Spec spec = overridden({{"seed", "18446744073709551615"},
                                {"name", "my name, with a comma"},
                                {"job.precision", "fp8"},
                                {"job.recompute", "full"},
                                {"job.global_batch_sequences", "1e3"},
                                {"job.microbatch_sequences", "1"},
                                {"job.mesh.fsdp.size", "125"},
                                {"cluster.chips", "1000"},
                                {"job.mesh[1].size", "8"},
                                {"cluster.usd_per_chip_hour", "1.25"}});
  EXPECT_EQ(spec.seed, UINT64_MAX);
  EXPECT_EQ(spec.name, "my name, with a comma");
  EXPECT_EQ(spec.job.precision.dtype, Dtype::kFp8);
  EXPECT_EQ(spec.job.recompute, Recompute::kFull);
  EXPECT_EQ(spec.job.global_batch, 1000);
  EXPECT_EQ(spec.job.mesh.devices(), 1000);
  EXPECT_EQ(spec.cluster.price.usd_per_chip_hour, 1.25);
}

TEST(Override, a_list_is_set_as_a_whole) {
  const Spec spec = overridden(
      {{"cluster.fabric", "v5p_pod"}, {"cluster.slice_shape", "8, 16, 4"}, {"job.sharding", "fsdp"}});
  EXPECT_EQ(spec.cluster.fabric.torus->shape, (std::array<int, 3>{8, 16, 4}));
}

TEST(Override, one_past_the_last_element_appends) {
  const Spec spec = overridden({{"adversity.slow_chip[0].chip", "137"},
                                {"adversity.slow_chip[0].speed_fraction", "0.8"},
                                {"adversity.slow_chip[1].chip", "3"},
                                {"adversity.slow_chip[1].speed_fraction", "0.5"}});
  ASSERT_EQ(spec.adversities.degradations.size(), 2u);
  EXPECT_EQ(spec.adversities.degradations[0].chip, 137);
  EXPECT_EQ(spec.adversities.degradations[1].factor.mean, 0.5);
}

TEST(Override, the_last_one_wins) {
  EXPECT_EQ(overridden({{"job.sequence_tokens", "1024"}, {"job.sequence_tokens", "4096"}}).job.sequence,
            4096);
}

TEST(Override, reaches_into_catalogue_entries) {
  const Spec spec = overridden({{"cluster.chip_override.hbm_capacity_gib", "141"},
                                {"cluster.fabric_override.gpu_cluster.nic.bandwidth_gb_per_s", "100"},
                                {"job.model_override.layers", "96"},
                                {"job.stack_override.gemm_factor", "0.5"}});
  EXPECT_EQ(spec.cluster.chip.hbm_capacity.value, 141 * 1073741824.0);
  EXPECT_EQ(spec.cluster.chip.name, "h100");
  EXPECT_EQ(spec.cluster.fabric.gpu->nic.bandwidth.value, 100e9);
  EXPECT_LT(spec.cluster.fabric.gpu->nic.efficiency, 1);  // still that of the catalogue
  EXPECT_EQ(spec.job.model.layers, 96);
  EXPECT_EQ(spec.job.stack.gemm_factor, 0.5);
}

Lines wrong(const std::string& path, const std::string& value) {
  return problems_of(valid_scenario(), {{path, value}});
}

TEST(Override, a_wrong_path_is_shown_with_the_nearest_one) {
  EXPECT_EQ(
      wrong("job.microbach_sequences", "2"),
      Lines{"--set unknown field \"microbach_sequences\" in job | did you mean \"microbatch_sequences\"?"});
  EXPECT_EQ(wrong("job.mesh.tensr.size", "2"),
            Lines{"--set job.mesh has no element \"tensr\" | did you mean \"tensor\"?"});
  EXPECT_EQ(wrong("job.mesh[5].size", "2"), Lines{"--set job.mesh has 2 elements, so there is no [5]"});
  EXPECT_EQ(wrong("job.mesh[x].size", "2"),
            Lines{"--set job.mesh[x].size is not a path | write, for example, job.mesh[0].size"});
  EXPECT_EQ(wrong("job.mesh", "2"),
            Lines{"--set job.mesh is a list: set a field of one element | such as job.mesh[0].name"});
  EXPECT_EQ(wrong("seed[0]", "2"), Lines{"--set seed is not a list"});
  EXPECT_EQ(wrong("seed.size", "2"), Lines{"--set seed is a value, it has no field \"size\""});
  EXPECT_EQ(wrong("job.sharding[0]", "data"),
            Lines{"--set job.sharding is set as a whole | write job.sharding=a,b,c"});
  EXPECT_EQ(wrong("adversity", "2"),
            Lines{"--set adversity is a block: set one of its fields | its fields: slow_chip, slow_link, "
                  "jitter_coefficient_of_variation, failed_link, failed_port, failed_switch, failed_ocs, "
                  "failed_cube, slow, background, nic_flap, jitter, and 4 more"});
  EXPECT_EQ(wrong("", "2").size(), 1u);
  EXPECT_EQ(wrong("job..size", "2").size(), 1u);
  EXPECT_EQ(wrong("job.mesh[", "2").size(), 1u);
  EXPECT_EQ(wrong("job.mesh[-1].size", "2").size(), 1u);
}

TEST(Override, an_axis_takes_the_rest_of_the_chips) {
  const Spec spec = overridden({{"cluster.chips", "1024"}, {"job.mesh.fsdp.size", "rest"}});
  EXPECT_EQ(spec.job.mesh.axes[0].size, 256);
  EXPECT_EQ(wrong("job.mesh.fsdp.size", "remainder"),
            Lines{"--set job.mesh[0].size must be a whole number or rest, not \"remainder\""});
}

TEST(Override, a_wrong_value_is_shown_with_the_argument) {
  EXPECT_EQ(wrong("cluster.chips", "many"),
            Lines{"--set cluster.chips must be a whole number, not \"many\""});
  EXPECT_EQ(wrong("job.precision", "fp-8"), Lines{"--set job.precision must be one of fp32, bf16, fp16, fp8, "
                                                  "fp4, int8, fp8_tensorwise, fp8_rowwise, fp8_blockwise, "
                                                  "mxfp8, mxfp4, nvfp4, not \"fp-8\" | did you mean fp8?"});
  EXPECT_EQ(wrong("cluster.chips", "-5"), Lines{"--set cluster.chips must be from 1 to 16,777,216, not -5"});
  EXPECT_EQ(wrong("cluster.chip", "h10"), Lines{"--set the catalogue has no chip \"h10\" | of this family it "
                                                "has: h100, h100_500w, h100_pcie, h20, h200, h800"});
  EXPECT_EQ(wrong("job.model_override.heads", "63"), Lines{"--set heads 63 are not divisible by kv_heads 8"});
  const auto result = load(valid_scenario(), {{"cluster.chips", "-5"}});
  EXPECT_EQ(format_problem(result.problems[0]),
            "--set: cluster.chips must be from 1 to 16,777,216, not -5\n    cluster.chips=-5\n");
}

}  // namespace
}  // namespace podsim::override_test
