// Simulated runs with known slow parts: what the run says of itself, and what its exported trace says.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "prediction/predict.h"
#include "prediction/selectors.h"
#include "proto/traces/trace_file.h"
#include "tests/prediction/scenario.h"

namespace podsim::attribution_test {
namespace {

// 512 GPUs: 16 data ranks x 8 stages x 4 GPUs, interleaved; chip 137 is on data rank 2 in stage 2. A quarter
// of the batch, which is as good and sooner simulated.
Spec one_slow_chip() {
  Spec spec = testing::load("one_slow_chip_512");
  spec.job.global_batch = 128;
  return spec;
}

Prediction predict(const Spec& spec, bool fold = true, bool trace = false) {
  PredictOptions options;
  options.fold = fold;
  options.trace = trace;
  return predict_step(spec, options);
}

Spec with_slow_chip(Spec spec, ChipId chip, double speed) {
  spec.adversities.add(Degradation::of_chip(chip, speed));
  return spec;
}

void expect_same(double a, double b) { EXPECT_NEAR(a, b, 1e-9 * std::abs(b)); }

TEST(Attribution, names_the_worker_of_the_slow_chip) {
  const WhatIf result = predict(one_slow_chip()).report.what_if.value();
  ASSERT_FALSE(result.culprits.empty());
  EXPECT_EQ(result.culprits[0].worker.data_rank, 2);
  EXPECT_EQ(result.culprits[0].worker.stage, 2);
  EXPECT_EQ(result.culprits[0].worker.alike, 1);
  EXPECT_EQ(result.likely_cause, "few workers");
  EXPECT_GT(result.few_workers.gained.value(), 0.5);
}

TEST(Attribution, an_exported_trace_names_the_same_worker_with_the_same_slowdowns) {
  const Prediction run = predict(one_slow_chip(), true, true);
  const WhatIf own = run.report.what_if.value();
  const std::string path = ::testing::TempDir() + "/attribution.csv.gz";
  std::ofstream(path, std::ios::binary) << gzipped(trace_rows(run.trace.value()));
  std::ofstream(meta_path(path)) << trace_meta(run.trace.value(), "one slow chip", 512);
  std::vector<Problem> problems;
  const auto read = read_trace(path, meta_path(path), problems);
  ASSERT_TRUE(read) << format_problem(problems.at(0));
  const WhatIf replayed = what_if(*read, {});
  expect_same(replayed.S.mean, own.S.mean);
  expect_same(replayed.T_s, own.T_s);
  expect_same(replayed.few_workers.gained.value(), own.few_workers.gained.value());
  expect_same(replayed.last_stage.gained.value(), own.last_stage.gained.value());
  ASSERT_EQ(replayed.by_stage.size(), own.by_stage.size());
  for (std::size_t s = 0; s < own.by_stage.size(); ++s)
    expect_same(replayed.by_stage[s].mean, own.by_stage[s].mean);
  ASSERT_EQ(replayed.data_ranks(), 16);
  for (int row = 0; row < own.data_ranks(); ++row)
    expect_same(replayed.by_data_rank[own.rank_number(row)].mean, own.by_data_rank[row].mean);
  ASSERT_FALSE(replayed.culprits.empty());
  EXPECT_EQ(replayed.culprits[0].worker.data_rank, own.culprits[0].worker.data_rank);
  EXPECT_EQ(replayed.culprits[0].worker.stage, own.culprits[0].worker.stage);
  EXPECT_EQ(replayed.culprits[0].worker.global_rank, own.culprits[0].worker.global_rank);
  EXPECT_EQ(replayed.likely_cause, own.likely_cause);
}

// The replay knows passes, not the operations inside.
TEST(Attribution, replayed_steps_are_near_the_simulated_ones) {
  Spec plain = one_slow_chip();
  plain.job.schedule = PipelineSchedule::k1F1B;
  plain.job.chunks_per_stage = 1;
  const Spec sharded = with_slow_chip(testing::load("llama3_70b_512_v5p"), 3, 0.8);
  for (const Spec& spec : {one_slow_chip(), plain, sharded}) {
    const Report report = predict(spec).report;
    const double step_s = report.step_time.in_seconds();
    EXPECT_NEAR(report.what_if.value().T_s, step_s, 0.03 * step_s) << spec.name;
  }
}

// Without a pipeline no stage is slower than another: what is lost to stragglers is lost to the slow chip.
TEST(Attribution, where_data_ranks_gather_weights_in_each_pass_the_slowdown_is_that_of_the_slow_chip) {
  const Report report = predict(with_slow_chip(testing::load("llama3_70b_512_v5p"), 3, 0.8)).report;
  const double step_s = report.step_time.in_seconds();
  const double slowdown = step_s / (step_s - report.straggler_delay.in_seconds());
  EXPECT_NEAR(report.what_if.value().S.mean, slowdown, 0.02 * slowdown);
  EXPECT_GT(slowdown, 1.1);
  EXPECT_EQ(report.what_if->likely_cause, "few workers");
}

TEST(Attribution, is_the_same_of_folded_and_unfolded_systems) {
  const Spec spec = one_slow_chip();
  const WhatIf folded = predict(spec).report.what_if.value();
  const WhatIf unfolded = predict(spec, false).report.what_if.value();
  EXPECT_EQ(folded.ranks_alike, unfolded.ranks_alike);
  expect_same(folded.S.mean, unfolded.S.mean);
  expect_same(folded.T_ideal_s, unfolded.T_ideal_s);
  expect_same(folded.few_workers.gained.value(), unfolded.few_workers.gained.value());
  EXPECT_EQ(folded.culprits[0].worker.global_rank, unfolded.culprits[0].worker.global_rank);
}

TEST(Attribution, is_of_runs_with_adversities_and_of_passes_that_traces_know) {
  EXPECT_FALSE(predict(testing::load("llama3_70b_512_h100")).report.what_if);
  EXPECT_FALSE(predict(with_slow_chip(testing::load("zero_bubble_70b_256_h100"), 0, 0.9)).report.what_if);
}

TEST(Attribution, of_jittered_steps_is_deterministic) {
  Spec spec = testing::load("dlrm_8_h100");
  spec.adversities.jitter.coefficient_of_variation = 0.02;
  spec.steps = 6;
  const WhatIf first = predict(spec).report.what_if.value(), again = predict(spec).report.what_if.value();
  EXPECT_EQ(first.steps.size(), 4u);
  EXPECT_EQ(first.S.per_step, again.S.per_step);
}

TEST(Selectors, name_chips_and_their_ports) {
  Spec spec = testing::load("llama3_70b_512_h100");
  EXPECT_EQ(add_slow(spec, "chip:137=0.9x"), "");
  EXPECT_EQ(add_slow(spec, "chip:node17/gpu1=90%"), "");
  ASSERT_EQ(spec.adversities.degradations.size(), 2u);
  for (const Degradation& slow : spec.adversities.degradations) {
    EXPECT_EQ(slow.cause, Degradation::Cause::kSlowChip);
    EXPECT_EQ(slow.chip, 137);
    EXPECT_DOUBLE_EQ(slow.factor.mean, 0.9);
  }
  EXPECT_EQ(add_slow(spec, "node:63=0.5"), "");
  ASSERT_EQ(spec.adversities.degradations.size(), 10u);
  EXPECT_EQ(spec.adversities.degradations.back().chip, 511);
  EXPECT_EQ(add_slow(spec, "nic:node17/nic3=0.5x"), "");
  ASSERT_EQ(spec.adversities.degradations.size(), 11u);
  EXPECT_EQ(spec.adversities.degradations[10].cause, Degradation::Cause::kSlowLink);
  EXPECT_EQ(spec.adversities.degradations[10].chip, 17 * 8 + 3);
  EXPECT_EQ(spec.adversities.degradations[10].link, LinkKind::kNic);
  EXPECT_EQ(add_slow(spec, "chip:0=0.5x"), "");
  EXPECT_EQ(spec.adversities.degradations[10].chip, 0) << "chips come before links";
  EXPECT_EQ(add_failure(spec, "leaf:0"), "");
  ASSERT_EQ(spec.adversities.failures.size(), 1u);
}

TEST(Selectors, say_what_is_wrong_with_them) {
  Spec spec = testing::load("llama3_70b_512_h100");
  const auto expect = [](const std::string& why, const std::string& part) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
  };
  expect(add_slow(spec, "chip:512=0.9"), "there is no chip \"512\" among 512 chips, 8 on a host");
  expect(add_slow(spec, "nic:node3/nic8=0.9"), "there is no chip");
  expect(add_slow(spec, "chip:1=1.5x"), "\"1.5x\" is no speed");
  expect(add_slow(spec, "chip:1"), "expected chip:137=0.9x");
  expect(add_slow(spec, "nvlnk:1=0.5"), "did you mean \"nvlink\"?");
  expect(add_slow(spec, "ici:1=0.5"), "has no ici");
  expect(add_slow(spec, "node:64=0.5"), "there is no host \"64\" among 64");
  expect(add_failure(spec, "leav:1"), "did you mean \"leaf\"?");
  expect(add_failure(spec, "nic"), "expected link:4-5");
  expect(add_failure(spec, "leaf:100000"), "leaf");
  EXPECT_TRUE(spec.adversities.none());
}

TEST(Attribution, of_steps_that_wait_for_their_batches_charges_nobody_with_what_costs_nothing) {
  const Spec spec = testing::load_text(testing::kInputBoundPipeline +
                                       "adversity { slow_chip { chip: 0 speed_fraction: 0.64 } }");
  const Prediction prediction = predict(spec, true, true);
  const WhatIf& what_if = prediction.report.what_if.value();
  expect_same(what_if.T_s, prediction.report.step_time.in_seconds());
  expect_same(what_if.S.mean, 1);
  EXPECT_EQ(what_if.likely_cause, "none");
  for (const RecordedOp& op : prediction.trace->ops)
    EXPECT_LE(op.start_s + op.duration_s, what_if.T_s * (1 + 1e-12)) << to_string(op.type);
}

TEST(Attribution, a_stall_of_input_is_told_as_one_and_not_as_communication) {
  const Spec spec = testing::load_text(R"(
      steps: 4 seed: 6
      cluster { chip: "h100" chips: 16 fabric: "dgx_h100" }
      job {
        measured_layers {
          layer {
            name: "l" count: 4 forward_us: 10000 weight_gradient_us: 20000
            weight_gradient_collective { kind: all_reduce bytes: 1e6 }
          }
        }
        mesh { name: "data" size: 16 } sharding: "data"
        global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 1000
      }
      adversity { input_stall { probability: 0.5 mean_ms: 500 } })");
  const Report report = predict(spec).report;
  const WhatIf& what_if = report.what_if.value();
  EXPECT_NEAR(what_if.T_s, report.step_time.in_seconds(), 1e-3 * what_if.T_s);
  EXPECT_GT(what_if.S.mean, 1.1);
  EXPECT_EQ(what_if.likely_cause, "stalls of input");
  EXPECT_TRUE(what_if.culprits.empty());
  for (const TypeSlowdown& type : what_if.by_type)
    EXPECT_NEAR(type.slowdown.mean, type.type == "input" ? what_if.S.mean : 1, 1e-6) << type.type;
}

}  // namespace
}  // namespace podsim::attribution_test
