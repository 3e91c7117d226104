// Several seeds: each draw is the run of that seed alone, whatever the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "prediction/predict.h"
#include "prediction/prepare_job.h"
#include "prediction/seed_runs.h"
#include "proto/writing/write.h"
#include "tests/prediction/scenario.h"

namespace podsim::ensembles_test {
namespace {

Spec jittered(int seeds, int steps = 1) {
  Spec spec = testing::load("custom_mlp_8_h100");
  spec.adversities.jitter.coefficient_of_variation = 0.05;
  spec.seed = 7;
  spec.seeds = seeds;
  spec.steps = steps;
  return spec;
}

Report predict(const Spec& spec, int threads = 1) {
  PredictOptions options;
  options.threads = threads;
  return predict_step(spec, options).report;
}

TEST(Ensembles, are_the_runs_of_their_seeds) {
  constexpr int kSeeds = 12;
  const Report ensemble = predict(jittered(kSeeds));
  std::vector<Time> times;
  std::int64_t sum = 0, events = 0;
  for (int k = 0; k < kSeeds; ++k) {
    Spec spec = jittered(1);
    spec.seed += static_cast<std::uint64_t>(k);
    const Report single = predict(spec);
    times.push_back(single.step_time);
    sum += single.step_time.ps;
    events += single.events;
    EXPECT_EQ(single.compute, ensemble.compute) << "of the step without adversities";
  }
  std::sort(times.begin(), times.end());
  EXPECT_EQ(ensemble.steps, kSeeds);
  EXPECT_EQ(ensemble.step_time.ps, (sum + kSeeds / 2) / kSeeds);
  EXPECT_EQ(ensemble.step_time_p50, times[kSeeds / 2 - 1]);
  EXPECT_EQ(ensemble.step_time_p99, times.back());
  EXPECT_EQ(ensemble.ensemble->shortest, times.front());
  EXPECT_EQ(ensemble.ensemble->longest, times.back());
  EXPECT_EQ(ensemble.events, events);
  EXPECT_EQ(ensemble.compute + ensemble.exposed_communication + ensemble.pipeline_bubble +
                ensemble.straggler_delay + ensemble.optimizer + ensemble.input_stall + ensemble.offload_wait +
                ensemble.skew_wait,
            ensemble.step_time);
}

TEST(Ensembles, of_several_steps_keep_each_of_them) {
  Spec spec = jittered(3, 4);
  spec.job.evaluation = {.sequences = 64, .every_sequences = 640};
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const LaidJob job = prepare_job(spec, fabric, 0);
  const std::vector<SimulateOptions> draws = draws_of(spec, spec.adversities, 1);
  const auto times = [&](std::span<const SimulateOptions> some) {
    return simulate_draws(fabric, {&job, 1}, spec.adversities, some, {.threads = 2}).of_job[0].step_times;
  };
  std::vector<Time> one_by_one;
  for (const SimulateOptions& draw : draws) {
    const std::vector<Time> own = times({&draw, 1});
    ASSERT_EQ(own.size(), 4u);
    one_by_one.insert(one_by_one.end(), own.begin(), own.end());
  }
  EXPECT_EQ(times(draws), one_by_one);
  EXPECT_NE(one_by_one[0], one_by_one[4]);
}

TEST(Ensembles, do_not_depend_on_the_number_of_threads) {
  const std::string one = report_json(predict(jittered(20, 2), 1));
  for (const int threads : {2, 5, 64})
    EXPECT_EQ(report_json(predict(jittered(20, 2), threads)), one) << threads;
}

TEST(Ensembles, of_a_step_without_chance_are_one_run) {
  Spec spec = testing::load("one_slow_chip_512");
  spec.job.model.layers = 40;
  const std::string once = report_json(predict(spec));
  spec.seeds = 50;
  EXPECT_EQ(report_json(predict(spec, 2)), once);
  EXPECT_EQ(draws_told(spec), 0);
}

TEST(Ensembles, count_the_last_seed_after_the_largest_number) {
  Spec spec = jittered(2);
  spec.seed = UINT64_MAX;
  const Report both = predict(spec);
  spec.seeds = 1;
  const Time first = predict(spec).step_time;
  spec.seed = 0;
  const Time second = predict(spec).step_time;
  EXPECT_EQ(both.ensemble->shortest, std::min(first, second));
  EXPECT_EQ(both.ensemble->longest, std::max(first, second));
}

TEST(Ensembles, cost_of_a_fault_is_over_the_same_draws) {
  Spec spec = jittered(5);
  spec.adversities.add(Degradation::of_chip(3, 0.9));
  std::atomic<int> told = 0;
  PredictOptions options;
  options.threads = 2;
  options.draw_done = [&] { ++told; };
  const Report report = predict_step(spec, options).report;
  EXPECT_EQ(told, 10) << "with and without the slow chip";
  EXPECT_EQ(draws_told(spec), 10);
  spec.adversities.degradations.clear();
  const Time without = predict(spec).step_time;
  ASSERT_EQ(report.fault_costs.size(), 2u);
  EXPECT_EQ(report.fault_costs[0].what, "chip 3 at speed 0.9");
  EXPECT_EQ(report.fault_costs[0].cost, report.step_time - without);
}

TEST(Ensembles, show_the_timeline_of_the_first_seed) {
  PredictOptions options;
  options.dump = "timeline";
  EXPECT_EQ(predict_step(jittered(4), options).dump, predict_step(jittered(1), options).dump);
}

TEST(Ensembles, of_jobs_that_share_no_link_do_not_look_like_slowdown) {
  const std::string job =
      "job { model: \"llama3_8b\" model_override { layers: 2 } stack: \"torchtitan\" "
      "mesh { name: \"fsdp\" size: 8 } sharding: \"fsdp\" sequence_tokens: 2048 global_batch_sequences: ";
  const std::string text =
      "seeds: 3\ncluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
      "adversity { jitter_coefficient_of_variation: 0.05 }\n"
      "jobs { name: \"a\" first_chip: 0 chips: 8 " +
      job + "8 } }\njobs { name: \"b\" first_chip: 8 chips: 8 " + job + "16 } }\n";
  const LoadResult loaded = load_scenario("jitter.textproto", text, Catalog(), {});
  ASSERT_TRUE(loaded.spec.has_value());
  std::atomic<int> told = 0;
  PredictOptions options;
  options.threads = 3;
  options.draw_done = [&] { ++told; };
  const JobsReport report = *predict_step(*loaded.spec, options).jobs;
  EXPECT_EQ(told, draws_told(*loaded.spec));
  for (const JobReport& each : report.jobs) {
    EXPECT_EQ(each.slowdown(), 1);
    EXPECT_EQ(each.alone.steps, each.together.steps);
    EXPECT_EQ(each.alone.ensemble->mean.low, each.together.ensemble->mean.low);
  }
  EXPECT_EQ(report.jobs[1].together.steps, 3 * 16);
}

// One seed after the other.
std::vector<Report> alone(Spec spec) {
  std::vector<Report> reports;
  const int seeds = std::exchange(spec.seeds, 1);
  for (int k = 0; k < seeds; ++k, ++spec.seed) reports.push_back(predict(spec));
  return reports;
}

TEST(Ensembles, take_the_energy_of_their_seeds_wherever_chips_wait_for_input) {
  const Spec spec = testing::load_text(R"(
      steps: 4 seeds: 8
      cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
      job {
        measured_layers {
          layer { name: "l" count: 4 forward_us: 10000 input_gradient_us: 10000 weight_gradient_us: 10000 }
        }
        mesh { name: "data" size: 8 } sharding: "data"
        global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 1000
      }
      adversity { input_stall { probability: 0.05 mean_ms: 2000 } })");
  double joules = 0, seconds = 0;
  for (const Report& report : alone(spec)) {
    joules += report.power_kw * report.step_time.in_seconds();
    seconds += report.step_time.in_seconds();
  }
  EXPECT_NEAR(predict(spec).power_kw, joules / seconds, 1e-6 * joules / seconds);
}

TEST(Ensembles, tell_of_a_flap_what_stood_still_in_any_of_their_seeds) {
  Spec spec = testing::load_text(R"(
      seeds: 12
      cluster { chip: "h100" chips: 2 fabric: "dgx_h100" }
      job {
        measured_layers {
          layer {
            name: "l" count: 1 forward_us: 5000 weight_gradient_us: 5000
            weight_gradient_collective { kind: all_reduce bytes: 1e8 }
          }
        }
        mesh { name: "data" size: 2 } sharding: "data"
        global_batch_sequences: 2 microbatch_sequences: 1 sequence_tokens: 1000
      }
      adversity {
        nic_flap { which { kind: "nvlink" index: 0 } at_s: 0.0095 down_s: 0.5 library_timeout_s: 0.49 }
        jitter_override { name: "wide" of_step: 0.1 }
      })");
  for (const std::uint64_t first : {1u, 3u}) {
    spec.seed = first;
    Time longest, shortest = Time::max();
    for (const Report& report : alone(spec)) {
      longest = std::max(longest, report.slow_entries.at(0).flap->stood_still);
      shortest = std::min(shortest, report.slow_entries.at(0).flap->stood_still);
    }
    ASSERT_LT(shortest, longest) << "the draws differ";
    const FlapOutcome flap = predict(spec).slow_entries.at(0).flap.value();
    EXPECT_EQ(flap.stood_still, longest) << "from seed " << first;
    EXPECT_TRUE(flap.restart());
  }
}

}  // namespace
}  // namespace podsim::ensembles_test
