// Random factors of whole steps and pauses: who waits for whom, what folds, what is kept on average.
#include "scheduler/simulation/state/step_delays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/folding/laid_job.h"
#include "tests/rounds.h"
#include "tests/scheduler/fixture.h"

namespace podsim::step_delays_test {
namespace {

using testing::collective;

constexpr double kStepMs = 10;

double& of_step(StepVariation& variation, Entity entity) {
  return variation.of_step[static_cast<std::size_t>(entity)];
}

// Data parallel on `chips` chips, hosts of four: 10 ms of computation, and nothing that takes time besides.
// The peak of the memory is twice what is reached, so that a step may take half as long by chance.
constexpr double kReached = 0.5;
struct Case {
  Spec spec = testing::plain_spec();
  StepProgram program;
  FabricSpec fabric;

  explicit Case(int chips)
      : program(testing::pipeline_program({{{"data", chips}}}, PipelineSchedule::k1F1B, 1, 1, 1, kStepMs, 0)),
        fabric(testing::ring_fabric(chips)) {
    spec.cluster.fabric = fabric;
    spec.cluster.fabric.chips_per_host = 4;
    spec.cluster.chip.hbm = spec.cluster.chip.hbm * (1 / kReached);
    spec.cluster.chip.hbm_efficiency = kReached;
  }
  StepVariation& variation() { return spec.adversities.variation; }
  double& of_step(Entity entity) { return podsim::step_delays_test::of_step(variation(), entity); }

  Timeline run(bool fold = true, bool steady = true) const {
    const Fabric built = build_fabric(fabric);
    const LaidJob job = testing::lay(spec, program, built, 0);
    SimulateOptions options;
    options.seed = spec.seed;
    options.steps = spec.steps;
    options.steady = steady;
    options.draw(spec.adversities);
    return simulate(assemble(built, {&job, 1}, spec.adversities, fold), options).front();
  }
};

std::vector<double> steps_ms(const Timeline& timeline) {
  std::vector<double> steps;
  Time begin;
  for (const Time end : timeline.step_end) {
    steps.push_back((end - begin).in_seconds() * 1e3);
    begin = end;
  }
  return steps;
}

struct Sample {
  double mean, standard_error;
};
Sample sample_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

double bucket_ms(const Timeline& timeline, Bucket bucket) {
  return timeline.chips[0].bucket[static_cast<int>(bucket)].in_seconds() * 1e3;
}

TEST(StepJitter, a_step_takes_as_long_as_its_slowest_chip_computes) {
  Case c(64);
  c.of_step(Entity::kChip) = 0.05;
  const Timeline timeline = c.run();
  Time slowest;
  for (const ChipTotals& chip : timeline.chips)
    slowest = std::max(slowest, chip.bucket[static_cast<int>(Bucket::kCompute)]);
  EXPECT_EQ(timeline.chips.size(), 64u);
  EXPECT_EQ(timeline.step_end.back(), slowest);
}

// Mean of the largest of n lognormal draws of mean 1, by numerical integration of their distribution.
TEST(StepJitter, of_many_chips_a_step_takes_the_mean_of_the_largest_draw) {
  struct Expected {
    int chips;
    double variation, largest, tolerance;
  };
  constexpr Expected kExpected[] = {
      {64, 0.01, 1.023, 0.003},   {64, 0.02, 1.048, 0.005},   {64, 0.05, 1.125, 0.01},
      {1024, 0.01, 1.032, 0.003}, {1024, 0.02, 1.067, 0.005}, {1024, 0.05, 1.175, 0.01},
  };
  for (const Expected& expected : kExpected) {
    Case c(expected.chips);
    c.of_step(Entity::kChip) = expected.variation;
    c.spec.steps = testing::rounds(200);
    const Sample steps = sample_of(steps_ms(c.run()));
    EXPECT_NEAR(steps.mean / kStepMs, expected.largest, expected.tolerance)
        << expected.chips << " chips, " << expected.variation;
  }
}

TEST(StepJitter, more_of_it_never_helps) {
  double before = kStepMs;
  for (const double variation : {0.01, 0.02, 0.05, 0.1}) {
    Case c(16);
    c.of_step(Entity::kChip) = variation;
    c.spec.steps = testing::rounds(200);
    const Sample steps = sample_of(steps_ms(c.run()));
    EXPECT_GT(steps.mean, before - 3 * steps.standard_error);
    before = steps.mean;
  }
}

TEST(StepJitter, of_the_job_keeps_the_mean_with_its_hiccups) {
  Case c(8);
  c.of_step(Entity::kJob) = 0.03;
  c.variation().hiccups = {{Entity::kJob, 0.05, 0.5}};
  c.spec.steps = testing::rounds(20000);
  const Sample steps = sample_of(steps_ms(c.run()));
  EXPECT_NEAR(steps.mean, kStepMs, 3 * steps.standard_error);
  EXPECT_GT(steps.standard_error, 0);
}

TEST(StepJitter, of_a_run_is_one_factor_of_all_its_steps) {
  Case c(8);
  c.variation().of_run = 0.1;
  c.spec.steps = 5;
  const std::vector<double> steps = steps_ms(c.run());
  for (const double step : steps) EXPECT_NEAR(step, steps.front(), 1e-9);
  std::vector<double> runs;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(testing::rounds(2000)); ++seed) {
    c.spec.seed = seed;
    c.spec.steps = 1;
    runs.push_back(steps_ms(c.run()).front());
  }
  const Sample sample = sample_of(runs);
  EXPECT_NEAR(sample.mean, kStepMs, 3 * sample.standard_error);
  EXPECT_NEAR(sample.standard_error * std::sqrt(runs.size()) / kStepMs, 0.1, 0.01);
}

// 1 - 0.9^16 of the steps have a hiccup of at least one host.
TEST(StepJitter, hiccups_of_hosts_hit_a_step_when_any_host_has_one) {
  Case c(64);
  c.variation().hiccups = {{Entity::kHost, 0.1, 1e-3}};
  c.spec.steps = testing::rounds(4000);
  const double quiet = kStepMs / (1 + 0.1 * 1e-3);
  double hit = 0;
  for (const double step : steps_ms(c.run())) hit += step > quiet + 1e-9;
  const double share = 1 - std::pow(0.9, 16);
  EXPECT_NEAR(hit / c.spec.steps, share, 3 * std::sqrt(share * (1 - share) / c.spec.steps));
}

// For the mean to stay, a step without a hiccup would have to take a fifty-first of the time.
TEST(StepJitter, no_step_is_faster_than_the_peaks_of_the_chip) {
  Case c(8);
  c.variation().hiccups = {{Entity::kJob, 0.5, 100}};
  c.spec.steps = 50;
  const std::vector<double> steps = steps_ms(c.run());
  EXPECT_NEAR(*std::min_element(steps.begin(), steps.end()), kReached * kStepMs, 1e-9);
}

TEST(StepJitter, folds_what_shares_its_draws_and_nothing_else) {
  const auto classes = [](Entity entity) {
    Case c(32);
    c.of_step(entity) = 0.1;
    return c.run().chips.size();
  };
  EXPECT_EQ(classes(Entity::kJob), 1u);
  EXPECT_EQ(classes(Entity::kHost), 8u);
  EXPECT_EQ(classes(Entity::kChip), 32u);
}

// A pipeline of four stages on four replicas that reduce gradients at the end.
Case pipelined() {
  Case c(16);
  c.program = testing::pipeline_program({{{"pipeline", 4}, {"data", 4}}}, PipelineSchedule::k1F1B, 4, 1, 24,
                                        0.2, 0.4);
  testing::layer_of(c.program).output = {5e6};
  testing::layer_of(c.program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, AxisSet{2}, 12e6, Purpose::kGradient)};
  c.spec.steps = 6;
  return c;
}

TEST(StepDelays, folded_are_unfolded_to_the_picosecond) {
  for (const Entity entity : {Entity::kChip, Entity::kHost, Entity::kJob}) {
    Case c = pipelined();
    c.of_step(entity) = 0.05;
    c.variation().hiccups = {{entity, 0.3, 0.2}};
    c.variation().collection = {entity, 3, Time::seconds(4e-3), 0.5};
    EXPECT_EQ(c.run(true).step_end, c.run(false).step_end) << static_cast<int>(entity);
  }
}

TEST(StepDelays, that_are_constant_over_a_step_leave_its_loops_periodic) {
  for (const Entity entity : {Entity::kChip, Entity::kHost, Entity::kJob}) {
    Case c = pipelined();
    c.program.microbatches = 200;
    c.of_step(entity) = 0.05;
    c.variation().collection = {Entity::kJob, 3, Time::seconds(4e-3), 0.5};
    const Timeline jumped = c.run(true, true), whole = c.run(true, false);
    EXPECT_EQ(jumped.step_end, whole.step_end) << static_cast<int>(entity);
    if (entity == Entity::kJob) {
      EXPECT_GT(jumped.periods_skipped, 0);
    }
    EXPECT_EQ(whole.periods_skipped, 0);
  }
}

TEST(StepDelays, of_one_kind_do_not_change_the_draws_of_another) {
  Case alone(16), both(16);
  alone.of_step(Entity::kChip) = both.of_step(Entity::kChip) = 0.1;
  both.variation().collection = {Entity::kJob, 1, Time::seconds(5e-3), 0};
  alone.spec.steps = both.spec.steps = 10;
  const std::vector<double> without = steps_ms(alone.run()), with = steps_ms(both.run());
  for (std::size_t s = 0; s < without.size(); ++s) EXPECT_NEAR(with[s], without[s] + 5, 1e-9);
}

TEST(Collection, all_at_once_pauses_every_nth_step_and_is_a_bucket_of_its_own) {
  Case c(8);
  c.variation().collection = {Entity::kJob, 4, Time::seconds(30e-3), 0};
  c.spec.steps = 8;
  const Timeline timeline = c.run();
  EXPECT_EQ(timeline.chips.size(), 1u);
  EXPECT_EQ(timeline.step_end.back(), Time::seconds(8 * 10e-3 + 2 * 30e-3));
  EXPECT_DOUBLE_EQ(bucket_ms(timeline, Bucket::kPause), 60);
  EXPECT_DOUBLE_EQ(bucket_ms(timeline, Bucket::kCompute), 80);
  const std::vector<double> steps = steps_ms(timeline);
  for (std::size_t s = 0; s + 4 < steps.size(); ++s) EXPECT_EQ(steps[s], steps[s + 4]);
}

TEST(Collection, each_for_itself_makes_everybody_wait_for_each) {
  constexpr int kWorkers = 32, kSteps = 2000;
  constexpr double kEvery = 20;
  Case c(kWorkers);
  c.variation().collection = {Entity::kChip, kEvery, Time::seconds(3e-3), 0};
  c.spec.steps = kSteps;
  const Timeline timeline = c.run();
  double hit = 0;
  for (const double step : steps_ms(timeline)) {
    EXPECT_TRUE(std::fabs(step - 10) < 1e-9 || std::fabs(step - 13) < 1e-9) << step;
    hit += step > 12;
  }
  for (const ChipTotals& chip : timeline.chips)
    EXPECT_NEAR(chip.bucket[static_cast<int>(Bucket::kPause)].in_seconds() * 1e3, 3 * kSteps / kEvery, 3.1)
        << "every 20 steps, from a phase of its own";
  // Phases are fixed, so steps 20 apart are alike: of 20 phases those are free that no worker has.
  const double share = 1 - std::pow(1 - 1 / kEvery, kWorkers);
  EXPECT_NEAR(hit / kSteps, share, 3 * std::sqrt(share * (1 - share) / kEvery));
}

TEST(Collection, amid_a_pipeline_is_in_one_bucket_of_the_worker_and_delays_the_others) {
  Case c = pipelined();
  const Time quiet = c.run().step_end.back();
  c.variation().collection = {Entity::kChip, 6, Time::seconds(20e-3), 0};
  const Timeline timeline = c.run();
  EXPECT_GT(timeline.step_end.back(), quiet);
  for (const ChipTotals& chip : timeline.chips) {
    EXPECT_EQ(chip.bucket[static_cast<int>(Bucket::kPause)], Time::seconds(20e-3)) << "once in six steps";
    Time all;
    for (const Time part : chip.bucket) all += part;
    EXPECT_EQ(all, timeline.step_end.back());
  }
}

}  // namespace
}  // namespace podsim::step_delays_test
