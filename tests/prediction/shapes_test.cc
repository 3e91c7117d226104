// Steps of documents that are padded, against the steps of each length.
#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"

namespace podsim::shapes_test {
namespace {

Report predict(const Spec& spec) { return predict_step(spec, {}).report; }

// Eight data ranks of an 8B model, sequences of 4K tokens.
Spec padded(std::optional<PaddedShapes> shapes, int sequence = 4096) {
  Spec spec = testing::load("uneven_lengths_128_h100", {{"cluster.chips", "8"},
                                                        {"job.mesh.data.size", "8"},
                                                        {"job.global_batch_sequences", "8"},
                                                        {"steps", "1"}});
  spec.job.lengths = {};
  spec.adversities.variation.uneven_lengths = false;
  spec.job.sequence = sequence;
  spec.job.shapes = std::move(shapes);
  return spec;
}

const std::vector<LengthBin> kTwoLengths = {{1000, 3}, {4000, 1}};

TEST(Shapes, of_a_run_are_the_mean_of_the_steps_of_each) {
  const Report report = predict(padded(pad_to_buckets(kTwoLengths, {1024}, 4096)));
  const double brief = predict(padded({}, 1024)).step_time.in_seconds(),
               longest = predict(padded({})).step_time.in_seconds();
  EXPECT_EQ(report.step_time.in_seconds(), longest) << "the report is of the longest";
  EXPECT_NEAR(report.shapes.value().step_time.in_seconds(), 0.75 * brief + 0.25 * longest, 1e-11);
  EXPECT_NEAR(report.shapes->tokens_per_s, 8 * 1750 / (0.75 * brief + 0.25 * longest), 1e-3);
}

TEST(Shapes, of_one_length_without_padding_are_the_plain_step) {
  const Report report = predict(padded(keep_lengths({{4096, 1}}, 4096)));
  EXPECT_EQ(report.shapes.value().step_time, report.step_time);
  EXPECT_EQ(report.shapes->padding_share, 0);
  EXPECT_NEAR(report.shapes->tokens_per_s / report.tokens_per_s, 1, 1e-9);
}

TEST(Shapes, that_are_compiled_cost_every_step_its_share) {
  PaddedShapes shapes = keep_lengths(kTwoLengths, 4096);
  const Report eager = predict(padded(shapes));
  shapes.compile_s = 50;
  shapes.run_steps = 1000;
  const Report compiled = predict(padded(shapes));
  EXPECT_EQ(compiled.shapes.value().compile_time, Time::seconds(0.1));
  EXPECT_EQ(compiled.shapes->step_time, eager.shapes.value().step_time);
  EXPECT_LT(compiled.shapes->tokens_per_s, eager.shapes->tokens_per_s);
}

TEST(Shapes, bear_the_adversities_of_the_step) {
  Spec spec = padded(pad_to_buckets(kTwoLengths, {1024}, 4096)), brief = padded({}, 1024),
       longest = padded({});
  for (Spec* each : {&spec, &brief, &longest}) each->adversities.add(Degradation::of_chip(3, 0.5));
  const ShapesReport shapes = predict(spec).shapes.value();
  EXPECT_EQ(shapes.by_shape.at(0).step_time, predict(brief).step_time);
  EXPECT_EQ(shapes.by_shape.at(1).step_time, predict(longest).step_time);
}

}  // namespace
}  // namespace podsim::shapes_test
