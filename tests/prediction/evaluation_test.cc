// Evaluations between training steps: their share of a step.
#include <gtest/gtest.h>

#include "prediction/evaluate.h"
#include "prediction/predict.h"
#include "tests/prediction/scenario.h"

namespace podsim::evaluation_test {
namespace {

Report report_of(int sequences, double every_sequences, bool slow_chip = false) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  spec.job.model.layers = 4;
  spec.job.evaluation = {.sequences = sequences, .every_sequences = every_sequences};
  if (slow_chip) spec.adversities.add(Degradation::of_chip(7, 0.8));
  return predict_step(spec, {}).report;
}

TEST(EvaluationTime, of_the_batch_of_every_step_is_its_forward_passes) {
  const Report plain = report_of(0, 1), evaluated = report_of(512, 512);
  EXPECT_EQ(plain.evaluation, Time{});
  EXPECT_EQ(evaluated.step_time, plain.step_time + evaluated.evaluation);
  EXPECT_EQ(evaluated.compute, plain.compute);
  // Forward is a quarter of forward, recompute and backward.
  const double share = evaluated.evaluation.in_seconds() / plain.step_time.in_seconds();
  EXPECT_GT(share, 0.2);
  EXPECT_LT(share, 0.3);
  EXPECT_LT(evaluated.tokens_per_s, plain.tokens_per_s);
}

TEST(EvaluationTime, is_amortised_and_fills_up_its_last_batch) {
  const double each = report_of(512, 512).evaluation.in_seconds();
  EXPECT_NEAR(report_of(512, 5120).evaluation.in_seconds(), each / 10, 1e-11);
  EXPECT_NEAR(report_of(513, 5120).evaluation.in_seconds(), 2 * each / 10, 1e-11);
}

TEST(EvaluationTime, under_adversities_delays_the_step_and_leaves_the_bucket_as_it_is) {
  const Report clean = report_of(512, 512), slow = report_of(512, 512, true);
  EXPECT_EQ(slow.evaluation, clean.evaluation);
  EXPECT_EQ(slow.compute + slow.exposed_communication + slow.pipeline_bubble + slow.optimizer +
                slow.input_stall + slow.offload_wait + slow.skew_wait + slow.evaluation +
                slow.straggler_delay,
            slow.step_time);
  EXPECT_EQ(slow.straggler_delay, slow.step_time - clean.step_time);
  EXPECT_NEAR(slow.step_time.in_seconds() / clean.step_time.in_seconds(), 1.25, 0.05);
}

// One second at speed 0.3 costs at most 0.7 s, in all steps together.
TEST(EvaluationTime, does_not_bear_what_is_slow_for_a_time) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  spec.job.model.layers = 4;
  spec.job.evaluation = {.sequences = 512, .every_sequences = 5120};
  spec.steps = 20;
  const Report clean = predict_step(spec, {}).report;
  Degradation slow;
  slow.which.numbers = {{7, 7}};
  slow.factor.mean = 0.3;
  for (const int from_s : {0, 1}) {
    slow.season.windows = {{Time::seconds(from_s), Time::seconds(from_s + 1)}};
    spec.adversities.degradations = {slow};
    const Report report = predict_step(spec, {}).report;
    EXPECT_EQ(report.evaluation, clean.evaluation);
    EXPECT_GT(report.straggler_delay, Time{}) << from_s;
    EXPECT_LE(report.straggler_delay.in_seconds() * report.steps, 0.7) << from_s;
  }
}

// On for a share of all slots: so are evaluations, whatever is in the first slot.
TEST(EvaluationTime, bears_what_is_on_and_off_by_its_share_of_the_time) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  spec.job.model.layers = 4;
  spec.steps = 200;
  Degradation slow;
  slow.which.numbers = {{7, 7}};
  slow.factor.mean = 0.5;
  const auto evaluations_s = [&](double share) {
    slow.season.chance_share = share;
    slow.season.chance_slot = Time::seconds(0.5);
    spec.adversities.degradations = {slow};
    spec.job.evaluation = {};
    const double without = predict_step(spec, {}).report.step_time.in_seconds();
    spec.job.evaluation = {.sequences = 512, .every_sequences = 512};
    return predict_step(spec, {}).report.step_time.in_seconds() - without;
  };
  const double never = report_of(512, 512).evaluation.in_seconds(), always = evaluations_s(1);
  EXPECT_GT(always, 1.5 * never);
  for (int seed = 1; seed <= 3; ++seed, ++spec.seed)
    EXPECT_NEAR(evaluations_s(0.7), never + 0.7 * (always - never), 0.25 * (always - never)) << seed;
}

}  // namespace
}  // namespace podsim::evaluation_test
