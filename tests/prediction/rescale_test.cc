// Rules of running a job at another chip count.
#include "prediction/rescale.h"

#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"
#include "workload/sharding/sharding.h"

namespace podsim::rescale_test {
namespace {

TEST(Rescale, weak_scaling_keeps_the_batch_per_chip_and_strong_scaling_the_global_batch) {
  const Spec base = testing::load("llama3_70b_512_h100");
  Spec weak = base, strong = base;
  ASSERT_EQ(rescale(weak, 1024, false), "");
  ASSERT_EQ(rescale(strong, 1024, true), "");
  EXPECT_EQ(weak.job.global_batch, 2 * base.job.global_batch);
  EXPECT_EQ(strong.job.global_batch, base.job.global_batch);
  EXPECT_EQ(weak.job.mesh.devices(), 1024);
  EXPECT_EQ(strong.job.mesh.devices(), 1024);
}

TEST(Rescale, evaluations_every_so_many_steps_stay_so_many_steps_apart) {
  Spec spec = testing::load("llama3_70b_512_h100");
  spec.job.evaluation = {.sequences = 1000, .every_steps = 10};
  ASSERT_EQ(rescale(spec, 1024, false), "");
  EXPECT_EQ(spec.job.global_batch, 1024);
  EXPECT_EQ(spec.job.evaluation_passes(), 0.1) << "one batch holds an evaluation";
}

TEST(Rescale, a_torus_slice_becomes_the_most_cubic_one) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  ASSERT_EQ(rescale(spec, 4096, false), "");
  EXPECT_EQ(spec.cluster.fabric.torus->shape, (std::array<int, 3>{16, 16, 16}));
  EXPECT_EQ(predict_step(spec, {}).report.chips, 4096);
}

TEST(Rescale, slices_are_of_the_same_shape) {
  Spec spec = testing::load("validation/maxtext-v5e-16b-2x256");
  ASSERT_EQ(rescale_slices(spec, 8, false), "");
  EXPECT_EQ(spec.cluster.fabric.chips, 2048);
  EXPECT_EQ(spec.cluster.fabric.slices, 8);
  EXPECT_EQ(spec.cluster.fabric.torus->shape, (std::array<int, 3>{16, 16, 1}));
  EXPECT_EQ(spec.job.mesh.axes[0].size, 8);
  EXPECT_EQ(spec.job.global_batch, 4 * 3072);
}

TEST(Rescale, slices_into_which_the_batch_does_not_divide_take_the_nearest_that_does) {
  Spec spec = testing::load("validation/maxtext-v5e-16b-2x256");
  spec.job.global_batch = 12288;
  spec.job.microbatch = 1;
  Spec exact = spec;
  EXPECT_NE(rescale_slices(exact, 5, true), "");
  std::string changed;
  ASSERT_EQ(rescale_slices(spec, 5, true, &changed), "");
  EXPECT_EQ(spec.job.global_batch, 12800) << "ten for each of 1,280 chips";
  EXPECT_EQ(changed, "12,800 sequences instead of 12,288") << "whole numbers have no decimals";
}

TEST(Rescale, a_gpu_cluster_has_no_slices) {
  Spec spec = testing::load("llama3_70b_512_h100");
  EXPECT_EQ(rescale_slices(spec, 2, false), "dgx_h100 has no slices");
}

TEST(Rescale, what_cannot_be_is_explained_and_changes_nothing) {
  const Spec base = testing::load("llama3_70b_512_h100");
  Spec spec = base;
  EXPECT_NE(rescale(spec, 500, false), "");
  EXPECT_EQ(spec.cluster.fabric.chips, base.cluster.fabric.chips);
  EXPECT_EQ(spec.job.mesh.devices(), 512);
}

TEST(Rescale, a_batch_that_does_not_come_out_even_becomes_the_nearest_that_does) {
  Spec spec = testing::load("llama3_70b_512_h100");
  spec.job.global_batch = 1008;  // 16 replicas of 63 sequences each
  Spec exact = spec;
  EXPECT_NE(rescale(exact, 640, true), "");
  std::string changed;
  ASSERT_EQ(rescale_nearly(spec, 640, true, changed), "");  // 20 replicas: 50.4 sequences each
  EXPECT_EQ(spec.job.global_batch % 20, 0);
  EXPECT_NEAR(spec.job.global_batch, 1008, 1008 / 8);
  EXPECT_NE(changed.find("sequences instead of 1,008"), std::string::npos) << changed;
  EXPECT_EQ(spec.cluster.fabric.chips, 640);
  Spec even = testing::load("llama3_70b_512_h100");
  ASSERT_EQ(rescale_nearly(even, 1024, false, changed), "");
  EXPECT_EQ(changed, "") << "what comes out even is not changed";
}

// 48 chips would be one and a half data ranks of 8 stages; with 4 stages they are three.
TEST(Rescale, a_size_that_no_batch_divides_into_takes_a_layout_near_that_of_the_scenario) {
  Spec spec = testing::load("llama3_70b_512_h100");
  Spec exact = spec;
  EXPECT_NE(rescale(exact, 48, false), "");
  std::string changed;
  ASSERT_EQ(rescale_nearly(spec, 48, false, changed), "");
  EXPECT_EQ(changed, "pipeline 4 instead of 8");
  EXPECT_EQ(spec.job.mesh.devices(), 48);
  EXPECT_EQ(spec.job.global_batch, 48);
}

TEST(Rescale, the_axis_that_takes_the_rest_takes_the_change) {
  Spec spec = testing::load("llama3_70b_512_h100");
  spec.job.rest_axis = "pipeline";
  ASSERT_EQ(rescale(spec, 256, true), "");
  EXPECT_EQ(spec.job.mesh.axes[0].size, 4);
  EXPECT_EQ(spec.job.mesh.axes[1].size, 16);
  EXPECT_EQ(rescale(spec, 96, true), "no size of \"pipeline\" of the mesh turns 256 into 96 chips");
}

TEST(Rescale, a_fault_on_a_chip_that_is_gone_is_explained) {
  Spec spec = testing::load("one_slow_chip_512");
  spec.adversities.degradations[0].chip = 400;
  EXPECT_NE(rescale(spec, 256, false).find("slow chip 400"), std::string::npos);
}

TEST(Rescale, a_data_rank_a_stage_or_a_late_chip_that_is_gone_is_explained) {
  const Spec healthy = testing::load("llama3_70b_512_h100");
  const auto at_256 = [](Spec spec) { return rescale(spec, 256, true); };
  ASSERT_EQ(at_256(healthy), "");
  const int ranks = batch_shards(healthy.job);
  for (const bool stage : {false, true}) {
    Spec spec = healthy;
    Degradation slow;
    slow.factor.mean = 0.5;
    (stage ? slow.which.stages : slow.which.data_ranks) = {stage ? 8 : ranks - 1};
    spec.adversities.add(slow);
    EXPECT_EQ(at_256(spec), stage ? "the mesh has no pipeline stage 8, only 8 of them"
                                  : "the mesh has no data rank " + std::to_string(ranks - 1) + ", only " +
                                        std::to_string(ranks / 2) + " of them");
    (stage ? slow.which.stages : slow.which.data_ranks) = {0};
    spec.adversities.degradations = {slow};
    EXPECT_EQ(at_256(spec), "");
  }
  Spec late = healthy;
  late.adversities.variation.late = {{300, Time::seconds(1), {}, {}}};
  EXPECT_EQ(at_256(late), "late launch of chip 300 does not exist among 256");
}

// As the scenario of that size is read.
TEST(Rescale, a_microbatch_that_is_not_stated_is_all_that_a_data_rank_has) {
  const Spec base = testing::load("dlrm_64_h100");
  for (const bool strong : {false, true})
    for (const int chips : {8, 32, 128, 256}) {
      Spec scaled = base;
      ASSERT_EQ(rescale(scaled, chips, strong), "");
      const std::string count = std::to_string(chips);
      const Spec read = testing::load(
          "dlrm_64_h100", {{"cluster.chips", count},
                           {"job.mesh.data.size", count},
                           {"job.global_batch_sequences", std::to_string(strong ? 65536 : 1024 * chips)}});
      EXPECT_EQ(scaled.job, read.job) << chips << (strong ? ", strong" : ", weak");
    }
  Spec near = base;
  std::string changed;
  ASSERT_EQ(rescale_nearly(near, 96, true, changed), "");
  EXPECT_EQ(near.job.global_batch, 65568);
  EXPECT_EQ(near.job.microbatch, 683);
  Spec stated = testing::load("dlrm_64_h100", {{"job.microbatch_sequences", "1024"}});
  ASSERT_EQ(rescale(stated, 8, true), "");
  EXPECT_EQ(stated.job.microbatch, 1024);
}

}  // namespace
}  // namespace podsim::rescale_test
