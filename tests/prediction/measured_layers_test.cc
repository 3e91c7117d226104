// Jobs given as measured layers: closed forms of their steps, and what is not known of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prediction/predict.h"
#include "proto/writing/write.h"
#include "report/tables/write.h"
#include "tests/prediction/scenario.h"

namespace podsim::measured_layers_test {
namespace {

constexpr Time us(std::int64_t count) { return {count * 1'000'000}; }

// Four layers on a ring of eight chips, 50 GB/s and 500 ns per link and direction; forward 2 ms, backward
// 4 ms, update of the step 1 ms.
constexpr int kLayers = 4;
const Time kForward = us(2000), kBackward = us(4000), kUpdate = us(1000);
const std::string kLayer = "job.measured_layers.layer[0]";

Spec on_a_ring(std::vector<Override> changes) {
  std::vector<Override> all = {
      {"cluster.slice_shape", "8"}, {"job.mesh.data.size", "8"}, {kLayer + ".count", "4"}};
  all.insert(all.end(), changes.begin(), changes.end());
  return testing::load("layers_96_512_torus", all);
}

Time step_of(const Spec& spec) { return predict_step(spec, {}).report.step_time; }

// Half of the bytes goes round in each direction, in seven steps of a gather and seven of a scatter.
Time all_reduce(double bytes) { return Time::seconds(2 * 7.0 / 8 * bytes / 2 / 50e9) + us(7); }

Override gradient_bytes(const std::string& bytes) {
  return {kLayer + ".weight_gradient_collective.bytes", bytes};
}

TEST(MeasuredLayers, of_short_collectives_hide_all_but_the_last) {
  EXPECT_EQ(step_of(on_a_ring({gradient_bytes("1e8")})),
            kLayers * (kForward + kBackward) + all_reduce(1e8) + kUpdate);
}

TEST(MeasuredLayers, of_long_collectives_wait_for_one_after_another) {
  EXPECT_EQ(step_of(on_a_ring({gradient_bytes("8e8")})),
            kLayers * kForward + kBackward + kLayers * all_reduce(8e8) + kUpdate);
}

TEST(MeasuredLayers, without_overlap_add_up) {
  const Spec spec = on_a_ring({gradient_bytes("4e8"), {"job.stack_override.gradients_overlapped", "false"}});
  EXPECT_EQ(step_of(spec), kLayers * (kForward + kBackward + all_reduce(4e8)) + kUpdate);
}

TEST(MeasuredLayers, wait_for_collectives_of_activations) {
  const Spec spec = on_a_ring({gradient_bytes("1e8"),
                               {kLayer + ".input_gradient_us", "3000"},
                               {kLayer + ".forward_collective.kind", "all_reduce"},
                               {kLayer + ".forward_collective.bytes", "2e8"},
                               {kLayer + ".input_gradient_collective.kind", "all_reduce"},
                               {kLayer + ".input_gradient_collective.bytes", "3e8"}});
  // Reductions of gradients are over before the next ones of activations begin.
  EXPECT_EQ(step_of(spec), kLayers * (kForward + all_reduce(2e8) + us(3000) + all_reduce(3e8) + kBackward) +
                               all_reduce(1e8) + kUpdate);
}

TEST(MeasuredLayers, are_updated_one_by_one_where_they_say_so) {
  const Spec spec = on_a_ring({gradient_bytes("1e8"), {kLayer + ".update_us", "50"}});
  EXPECT_EQ(step_of(spec), kLayers * (kForward + kBackward + us(50)) + all_reduce(1e8) + kUpdate);
}

TEST(MeasuredLayers, reduce_gradients_once_for_all_microbatches) {
  const Spec spec = on_a_ring(
      {gradient_bytes("1e8"), {"job.global_batch_sequences", "24"}, {"job.microbatch_sequences", "1"}});
  EXPECT_EQ(step_of(spec), 3 * kLayers * (kForward + kBackward) + all_reduce(1e8) + kUpdate);
}

TEST(MeasuredLayers, of_a_pipeline_have_its_bubble) {
  const Spec spec = on_a_ring({gradient_bytes("1e8"),
                               {"job.mesh[1].name", "pipeline"},
                               {"job.mesh[1].size", "4"},
                               {"job.mesh.data.size", "2"},
                               {"job.global_batch_sequences", "16"},
                               {"job.microbatch_sequences", "1"}});
  const Report report = predict_step(spec, {}).report;
  // One layer per stage: eight microbatches, and three more turns of a forward and a backward pass.
  const Time turns = 11 * (kForward + kBackward);
  EXPECT_GE(report.step_time, turns + kUpdate);
  EXPECT_LE(report.step_time, turns + kUpdate + us(5000)) << "sends of no bytes, and a reduction of 2 ms";
  EXPECT_GE(report.pipeline_bubble, 3 * (kForward + kBackward));
}

TEST(MeasuredLayers, send_along_an_axis_of_one_device_as_if_there_were_none) {
  // Along all axes forward, along one by name backward: the same groups, on one stream after another.
  std::vector<Override> changes = {gradient_bytes("1e8"),
                                   {kLayer + ".weight_gradient_collective.axis", "data"},
                                   {kLayer + ".forward_collective.kind", "all_reduce"},
                                   {kLayer + ".forward_collective.bytes", "2e8"}};
  const Report without = predict_step(on_a_ring(changes), {}).report;
  changes.insert(changes.end(), {{"job.mesh[1].name", "unit"}, {"job.mesh[1].size", "1"}});
  const Report with = predict_step(on_a_ring(changes), {}).report;
  ASSERT_EQ(with.exposed.size(), without.exposed.size());
  for (std::size_t i = 0; i < with.exposed.size(); ++i) {
    EXPECT_EQ(with.exposed[i].axes, without.exposed[i].axes);
    EXPECT_EQ(with.exposed[i].time, without.exposed[i].time);
  }
}

TEST(MeasuredLayers, hold_the_gaps_between_kernels) {
  const Spec plain = on_a_ring({});
  Spec gaps = plain;
  gaps.job.stack.kernels_per_layer = gaps.job.stack.backward_kernels = 100;
  gaps.job.stack.kernel_gap = gaps.job.stack.host_launch = us(30);
  EXPECT_EQ(step_of(gaps), step_of(plain));
}

TEST(MeasuredLayers, fold_and_do_not_fold_to_the_same_step) {
  Spec spec = on_a_ring({});
  for (const bool slow : {false, true}) {
    if (slow) spec.adversities.add(Degradation::of_chip(3, 0.9));
    PredictOptions unfolded;
    unfolded.fold = false;
    EXPECT_EQ(predict_step(spec, unfolded).report.step_time, step_of(spec));
  }
}

TEST(MeasuredLayers, know_neither_flops_nor_memory) {
  const Report report = predict_step(on_a_ring({}), {}).report;
  EXPECT_EQ(report.mfu_full, 0);
  EXPECT_EQ(report.memory.total, 0);
  EXPECT_TRUE(report.memory.fits);
  EXPECT_FALSE(report.band.has_value());
  const std::string text = report_table(report);
  EXPECT_NE(text.find("memory per chip is not known"), std::string::npos);
  EXPECT_NE(text.find("not known"), std::string::npos);
  EXPECT_EQ(text.find("% MFU"), std::string::npos);
}

TEST(MeasuredLayers, have_the_mfu_of_the_flops_that_the_user_gives) {
  const Spec spec = on_a_ring({{"job.measured_layers.model_gflop_per_token", "10"}});
  const Report report = predict_step(spec, {}).report;
  EXPECT_DOUBLE_EQ(report.mfu_full, 10e9 * report.tokens_per_s / (8 * 275e12));
}

TEST(MeasuredLayers, of_a_512_chip_torus_use_all_its_links) {
  const Report report = predict_step(testing::load("layers_96_512_torus"), {}).report;
  // Rings over three dimensions both ways: 300 GB/s per chip, and 21 hops to scatter and to gather.
  const Time reduction = Time::seconds(2 * 511.0 / 512 * 402653184 / 300e9) + us(21);
  const Time ideal = 96 * (kForward + kBackward) + reduction + kUpdate;
  EXPECT_NEAR(report.step_time.in_seconds(), ideal.in_seconds(), 1e-4);
}

}  // namespace
}  // namespace podsim::measured_layers_test
