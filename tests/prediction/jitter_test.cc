// The preset of jitter on a step of a large model: how much steps and runs vary, and that the mean stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "prediction/predict.h"
#include "prediction/prepare_job.h"
#include "prediction/seed_runs.h"
#include "tests/prediction/scenario.h"
#include "tests/rounds.h"
#include "workload/partition/op_cost.h"

namespace podsim::jitter_test {
namespace {

struct Spread {
  double mean, deviation;
  double variation() const { return deviation / mean; }
};
Spread spread_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1))};
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1];
}

// 405B on 1,024 GPUs; with fewer microbatches and one chunk per stage, so that many steps are quick to
// simulate.
Spec large_model() {
  Spec spec = testing::load("typical_jitter_1024_h100");
  spec.job.schedule = PipelineSchedule::k1F1B;
  spec.job.chunks_per_stage = 1;
  spec.job.model.layers = 8;
  spec.job.global_batch = 64;
  return spec;
}

// [run][step] seconds, of as many seeds.
std::vector<std::vector<double>> runs_of(const Spec& spec) {
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const LaidJob job = prepare_job(spec, fabric, 0);
  const std::vector<SimulateOptions> draws = draws_of(spec, spec.adversities, 1);
  const SimulatedJobs simulated = simulate_draws(fabric, {&job, 1}, spec.adversities, draws);
  std::vector<std::vector<double>> runs(draws.size());
  std::size_t next = 0;
  for (std::vector<double>& run : runs)
    for (int step = 0; step < spec.steps; ++step)
      run.push_back(simulated.of_job.front().step_times[next++].in_seconds());
  return runs;
}

TEST(TypicalJitter, varies_steps_and_runs_as_published_runs_do) {
  Spec spec = large_model();
  spec.steps = 150;
  spec.seeds = testing::rounds(20);
  std::vector<double> medians, means, variations, tails;
  for (const std::vector<double>& run : runs_of(spec)) {
    const double median = quantile(run, 0.5);
    std::vector<double> ordinary;
    for (const double step : run)
      if (step <= 1.5 * median) ordinary.push_back(step);
    medians.push_back(median);
    means.push_back(spread_of(run).mean);
    variations.push_back(spread_of(ordinary).variation());
    tails.push_back(quantile(run, 0.99) / median);
  }
  for (const double variation : variations) {
    EXPECT_GT(variation, 0.008);
    EXPECT_LT(variation, 0.035);
  }
  for (const double tail : tails) {
    EXPECT_GT(tail, 1.003);
    EXPECT_LT(tail, 1.365);
  }
  EXPECT_NEAR(quantile(variations, 0.5), 0.0135, 0.005);
  EXPECT_NEAR(quantile(tails, 0.5), 1.047, 0.02);
  EXPECT_LT(spread_of(medians).variation(), 0.007);
  EXPECT_GT(spread_of(medians).variation(), 0.0001);
  EXPECT_NEAR(spread_of(means).variation(), 0.003, 0.0015) << "0.2 to 0.4 %, of a sample";
}

TEST(TypicalJitter, keeps_the_mean_step_of_the_calibrated_model) {
  Spec spec = large_model();
  spec.steps = 100;
  spec.seeds = testing::rounds(20);
  Spec clean = spec;
  clean.adversities = {};
  const double predicted = predict_step(clean, {}).report.step_time.in_seconds();
  std::vector<double> means;
  for (const std::vector<double>& run : runs_of(spec)) means.push_back(spread_of(run).mean);
  const Spread spread = spread_of(means);
  EXPECT_NEAR(spread.mean, predicted, 3 * spread.deviation / std::sqrt(static_cast<double>(means.size())));
}

TEST(TypicalJitter, folds_as_if_there_were_none) {
  Spec spec = large_model(), clean = spec;
  spec.steps = 2;
  clean.adversities = {};
  const Report jittered = predict_step(spec, {}).report, calm = predict_step(clean, {}).report;
  EXPECT_EQ(jittered.chip_classes, calm.chip_classes);
  EXPECT_EQ(jittered.link_classes, calm.link_classes);
  ASSERT_EQ(jittered.fault_costs.size(), 1u);
  EXPECT_EQ(jittered.fault_costs[0].what, "jitter of steps");
}

// A hiccup lengthens a step by so much that others would have to be 51 times as fast for the mean to stay.
TEST(Hiccups, leave_steps_without_one_no_faster_than_the_peaks_of_the_chip) {
  Spec spec = testing::load("custom_mlp_8_h100");
  Spec calm = spec;
  spec.steps = 20;
  spec.adversities.variation.hiccups = {{Entity::kJob, 0.5, 100}};
  const std::vector<double> steps = runs_of(spec).at(0);
  const double shortest = *std::ranges::min_element(steps);
  EXPECT_LT(shortest, predict_step(calm, {}).report.step_time.in_seconds()) << "the mean is kept as far as";
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const LaidJob job = prepare_job(spec, fabric, 0);
  double roofline = 0;
  for (const Part& part : job.program.parts)
    for (const Block* block : {&part.forward, &part.backward})
      for (const ProgramOp& op : *block)
        if (const auto* work = std::get_if<ComputeOp>(&op))
          roofline += roofline_seconds(*work, spec.cluster.chip);
  EXPECT_GE(shortest, roofline * job.program.microbatches);
}

TEST(FaultCosts, tell_each_source_of_chance_apart_with_the_same_draws) {
  Spec spec = testing::load("custom_mlp_8_h100");
  spec.steps = 20;
  StepVariation& variation = spec.adversities.variation;
  variation.of_step[static_cast<std::size_t>(Entity::kChip)] = 0.02;
  variation.collection = {Entity::kJob, 2, Time::seconds(5e-3), 0};
  variation.input = {0.5, Time::seconds(1)};
  const Report report = predict_step(spec, {}).report;
  ASSERT_EQ(report.fault_costs.size(), 3u);
  for (const FaultCost& fault : report.fault_costs) EXPECT_GT(fault.cost.ps, 0) << fault.what;
  for (const FaultCost& fault : report.fault_costs)
    EXPECT_TRUE(fault.what != "garbage collection" || fault.cost <= Time::seconds(2.5e-3));
}

}  // namespace
}  // namespace podsim::jitter_test
