// Uneven work: documents of many lengths in a step of a model, and a pipeline stage with the logits.
#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"
#include "workload/model/model_program.h"
#include "workload/partition/step_bound.h"

namespace podsim::lengths_test {
namespace {

Report predict(const Spec& spec) { return predict_step(spec, {}).report; }

// Eight data ranks of an 8B model, sequences of 32K tokens.
Spec packed(std::vector<LengthBin> bins) {
  Spec spec = testing::load("uneven_lengths_128_h100", {{"cluster.chips", "8"},

                                                        {"job.mesh.data.size", "8"},
                                                        {"job.global_batch_sequences", "8"},
                                                        {"steps", "1"}});
  spec.job.lengths.bins = std::move(bins);
  spec.adversities.variation.uneven_lengths = spec.job.lengths.any();
  return spec;
}

double seconds(const std::vector<LengthBin>& bins) { return predict(packed(bins)).step_time.in_seconds(); }

TEST(Lengths, of_full_sequences_change_nothing) {
  const Report report = predict(packed({{32768, 1}}));
  EXPECT_NEAR(report.step_time.in_seconds(), seconds({}), 1e-9);
  EXPECT_EQ(report.straggler_delay.ps, 0);
}

// Attention falls in proportion to the length of equal documents, and nothing else changes.
TEST(Lengths, of_equal_documents_scale_attention_alone) {
  const double full = seconds({{32768, 1}}), half = seconds({{16384, 1}}), quarter = seconds({{8192, 1}}),
               short_ones = seconds({{1024, 1}});
  EXPECT_NEAR((full - half) / (half - quarter), 2, 1e-2);
  EXPECT_NEAR((full - half) / (full - short_ones), (1 - 1 / 2.0) / (1 - 1 / 32.0), 1e-2);
}

// Halves of a sequence have half the scores of a whole one: MFU and HFU count what was there to compute.
TEST(Lengths, of_equal_documents_scale_the_scores_that_utilisation_counts) {
  const Report full = predict(packed({})), half = predict(packed({{16384, 1}}));
  const double causal = full.model_flops_per_token_full - full.model_flops_per_token_causal;
  EXPECT_NEAR(full.model_flops_per_token_full - half.model_flops_per_token_full, causal, 1e-9 * causal);
  EXPECT_NEAR(full.model_flops_per_token_causal - half.model_flops_per_token_causal, causal / 2,
              1e-9 * causal);
  EXPECT_EQ(half.tokens_per_step, full.tokens_per_step);
  const auto flops = [](const Report& r) { return r.mfu_causal * r.step_time.in_seconds(); };
  EXPECT_NEAR(flops(half) / flops(full),
              half.model_flops_per_token_causal / full.model_flops_per_token_causal, 1e-9);
}

TEST(Lengths, that_are_drawn_scale_utilisation_by_the_documents_of_all_steps_and_seeds) {
  Spec spec = packed({{1024, 16}, {32768, 1}});
  spec.steps = 2;
  spec.seeds = 2;
  const Report both = predict(spec);
  double sum = 0;
  spec.seeds = 1;
  for (int seed = 0; seed < 2; ++seed, ++spec.seed) sum += predict(spec).model_flops_per_token_full;
  EXPECT_NEAR(both.model_flops_per_token_full, sum / 2, 1e-9 * sum);
}

// Scores are most of the work: no step of full attention is so short.
TEST(Lengths, leave_the_shortest_possible_step_below_the_step) {
  Spec spec = packed({{1024, 1}});
  const double least_s = shortest_step_s(spec.job, model_program(spec.job), spec.cluster.chip);
  EXPECT_LT(least_s, predict(spec).step_time.in_seconds());
  spec.job.lengths.bins.clear();
  EXPECT_GT(shortest_step_s(spec.job, model_program(spec.job), spec.cluster.chip), least_s);
}

TEST(Lengths, that_are_uneven_cost_what_the_dearest_rank_has_more_than_the_mean) {
  const Report report = predict(packed({{1024, 16}, {32768, 1}}));
  EXPECT_GT(report.straggler_delay.ps, 0);
  ASSERT_EQ(report.fault_costs.size(), 1u);
  EXPECT_EQ(report.fault_costs[0].what, "lengths of documents");
  EXPECT_EQ(report.fault_costs[0].cost, report.straggler_delay);
}

// One data rank and microbatch: nothing can be dealt unevenly, and each seed draws other documents.
TEST(Lengths, of_several_seeds_are_held_against_the_same_documents_without_adversities) {
  Spec spec = packed({{1024, 16}, {32768, 1}});
  spec.cluster.fabric.chips = spec.job.mesh.axes.front().size = spec.job.global_batch = 1;
  spec.steps = 2;
  spec.seeds = 4;
  const Report all = predict(spec);
  EXPECT_NEAR(all.straggler_delay.in_seconds(), 0, 1e-9 * all.step_time.in_seconds());
  EXPECT_EQ(all.compute + all.exposed_communication + all.pipeline_bubble + all.optimizer + all.input_stall +
                all.offload_wait + all.skew_wait + all.evaluation + all.straggler_delay,
            all.step_time);
  double compute_s = 0;
  spec.seeds = 1;
  for (int seed = 0; seed < 4; ++seed, ++spec.seed) compute_s += predict(spec).compute.in_seconds() / 4;
  EXPECT_NEAR(all.compute.in_seconds(), compute_s, 1e-9 * compute_s);
}

TEST(Lengths, of_several_seeds_tell_of_each_draw) {
  Spec spec = packed({{1024, 16}, {32768, 1}});
  spec.seeds = 3;
  spec.adversities.add(Degradation::of_chip(3, 0.9));
  int told = 0;
  PredictOptions options;
  options.draw_done = [&] { ++told; };
  predict_step(spec, options);
  EXPECT_EQ(told, draws_told(spec));
  EXPECT_EQ(told, 4 * 3) << "as it is, without adversities, and without each of the two";
}

// Mistral's layers see 4,096 keys, half of Gemma's and more 1,024: sequences of 2,048 are what documents of
// 2,048 in longer ones are.
TEST(Lengths, of_windowed_attention_are_those_of_sequences_as_long) {
  for (const char* model : {"mistral_7b", "gemma3_4b"}) {
    const auto step = [&](const char* tokens, const char* microbatch) {
      Spec spec = testing::load("uneven_lengths_128_h100", {{"job.model", model},
                                                            {"cluster.chips", "8"},
                                                            {"job.mesh.data.size", "8"},
                                                            {"job.sequence_tokens", tokens},
                                                            {"job.microbatch_sequences", microbatch},
                                                            {"steps", "1"}});
      spec.job.global_batch = 8 * spec.job.microbatch;
      spec.job.lengths.bins = {{2048, 1}};
      spec.adversities.variation.uneven_lengths = true;
      return predict(spec);
    };
    const Report packed = step("16384", "1"), whole = step("2048", "8");
    EXPECT_EQ(packed.tokens_per_step, whole.tokens_per_step);
    for (const auto flops : {&Report::model_flops_per_token_full, &Report::model_flops_per_token_causal})
      EXPECT_NEAR(packed.*flops / whole.*flops, 1, 1e-9) << model;
    EXPECT_NEAR(packed.compute.in_seconds() / whole.compute.in_seconds(), 1, 0.02) << model;
    EXPECT_NEAR(packed.power.matmul_w * packed.step_time.in_seconds() /
                    (whole.power.matmul_w * whole.step_time.in_seconds()),
                1, 0.02)
        << model;
  }
}

// Doubles hold no odd picoseconds of such a step.
TEST(InputWaits, of_hours_are_the_same_picoseconds_in_every_loop) {
  Spec spec = packed({});
  spec.job.input_bytes_per_token = 2e6;
  spec.job.storage_rate = Bandwidth{1e7};
  spec.job.batches_ahead = 2;
  const auto step = [&](Loop loop) {
    PredictOptions options;
    options.loop = loop;
    return predict_step(spec, options).report.step_time;
  };
  const Time reference = step(Loop::kReference);
  EXPECT_GT(reference.ps, std::int64_t{1} << 53);
  EXPECT_EQ(step(Loop::kOrdered), reference);
  EXPECT_EQ(step(Loop::kFast), reference);
}

// The published gain of dealing documents by squared length is 23.9 %.
TEST(Lengths, balanced_by_squares_make_a_long_tailed_job_a_quarter_faster) {
  Spec spec = testing::load("uneven_lengths_128_h100");
  const auto step = [&](LengthBalance balance) {
    spec.job.lengths.balance = balance;
    return predict(spec).step_time.in_seconds();
  };
  const double none = step(LengthBalance::kNone), squares = step(LengthBalance::kSquares);
  EXPECT_NEAR(none / squares - 1, 0.239, 0.25 * 0.239);
  const double sorted = step(LengthBalance::kSorted);
  EXPECT_LT(squares, sorted);
  EXPECT_LT(sorted, none);
}

// The published gain of a partition made by hand is 9.9 %.
TEST(StageImbalance, moving_layers_away_from_the_logits_gains_a_tenth) {
  Spec spec = testing::load("stage_imbalance_32_h100");
  const double even = predict(spec).step_time.in_seconds();
  spec.job.layers_per_chunk = {10, 10, 9, 8};
  const double by_hand = predict(spec).step_time.in_seconds();
  EXPECT_NEAR(even / by_hand - 1, 0.099, 0.15 * 0.099);
  spec.job.layers_per_chunk = {11, 11, 11, 4};
  EXPECT_LT(predict(spec).step_time.in_seconds(), by_hand);
}

}  // namespace
}  // namespace podsim::lengths_test
