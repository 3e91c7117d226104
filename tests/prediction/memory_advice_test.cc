// Advice for jobs that do not fit: every line must be true of the job that it describes.
#include "prediction/memory_advice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "prediction/memory_changes.h"
#include "prediction/predict.h"
#include "scenario.h"
#include "scheduler/question/spec.h"
#include "workload/partition/job_validity.h"
#include "workload/partition/program.h"

namespace podsim::testing::memory_advice_test {
namespace {

// A 16-layer transformer of 3.5e9 parameters, replicated on eight chips whose memory is what a test says.
Spec replicated() {
  Spec spec = load("llama3_70b_512_h100");
  spec.cluster.fabric.chips = 8;
  Job& job = spec.job;
  job.model = {.name = "model",
               .layers = 16,
               .d_model = 4096,
               .heads = 32,
               .kv_heads = 32,
               .head_dim = 128,
               .ffn = 16384,
               .vocabulary = 32000};
  job.mesh.axes = {{"data", 8}};
  job.rules = {{"batch", {"data"}}};
  job.pipeline_axis.clear();
  job.schedule = PipelineSchedule::k1F1B;
  job.chunks_per_stage = 1;
  job.global_batch = 64;
  job.microbatch = 4;
  job.sequence = 2048;
  job.recompute = Recompute::kNone;
  return spec;
}

Bytes needed(const Job& job) { return partition(job).memory.at(0).total(); }

std::vector<MemoryChange> advice_at(Spec spec, Bytes capacity) {
  spec.cluster.chip.hbm_capacity = capacity;
  return memory_advice(spec, build_fabric(spec.cluster.fabric), 0);
}

const MemoryChange* find(const std::vector<MemoryChange>& advice, const std::string& words) {
  const auto found = std::find_if(advice.begin(), advice.end(), [&](const MemoryChange& change) {
    return change.change.find(words) != std::string::npos;
  });
  return found == advice.end() ? nullptr : &*found;
}

TEST(MemoryAdvice, of_a_job_just_above_the_capacity_is_of_every_kind) {
  const auto advice = advice_at(replicated(), needed(replicated().job) * 0.99);
  for (const char* words : {"recompute_modules", "recompute_policy: \"minimal\"", "recompute_layers",
                            "recompute: full", "microbatch_sequences: 2", "offload_optimizer"})
    EXPECT_NE(find(advice, words), nullptr) << words;
}

TEST(MemoryAdvice, begins_with_the_fastest_step) {
  const auto advice = advice_at(replicated(), needed(replicated().job) * 0.99);
  ASSERT_GT(advice.size(), 3u);
  for (std::size_t i = 1; i < advice.size(); ++i) EXPECT_LE(advice[i - 1].step_time, advice[i].step_time);
}

TEST(MemoryAdvice, foretells_the_report_of_the_changed_job) {
  Spec spec = replicated();
  spec.cluster.chip.hbm_capacity = needed(spec.job) * 0.99;
  const Report before = predict_step(spec, {}).report;
  ASSERT_FALSE(before.memory.fits);
  const MemoryChange* smaller = find(before.memory.advice, "microbatch_sequences: 2");
  ASSERT_NE(smaller, nullptr);
  spec.job.microbatch = 2;
  const Report after = predict_step(spec, {}).report;
  EXPECT_TRUE(after.memory.fits);
  EXPECT_TRUE(after.memory.advice.empty());
  EXPECT_EQ(after.step_time, smaller->step_time);
  EXPECT_EQ(after.memory.total, smaller->total);
}

TEST(MemoryAdvice, takes_the_mildest_degree_that_is_enough) {
  Spec some = replicated();
  some.job.recompute = Recompute::kFull;
  some.job.recompute_layers = 5;
  const Bytes enough = needed(some.job);
  EXPECT_NE(find(advice_at(replicated(), enough), "recompute_layers: 5"), nullptr);
  EXPECT_NE(find(advice_at(replicated(), enough * 0.999), "recompute_layers: 6"), nullptr);
}

TEST(MemoryAdvice, every_line_fits) {
  for (const double share : {0.98, 0.8, 0.6, 0.5}) {
    const Bytes capacity = needed(replicated().job) * share;
    for (const MemoryChange& change : advice_at(replicated(), capacity)) {
      EXPECT_TRUE(change.fits) << change.change;
      EXPECT_LE(change.total * 1073741824.0, capacity.value) << change.change;
    }
  }
}

TEST(MemoryAdvice, two_changes_come_before_a_single_one_that_costs_more_time) {
  Spec sharded = replicated();
  sharded.job.rules.push_back({"param_embed", {"data"}});
  Spec small = replicated();
  small.job.microbatch = 1;
  Spec both = sharded;
  both.job.microbatch = 1;
  const Bytes capacity = needed(both.job) * 1.02;
  ASSERT_GT(needed(sharded.job), capacity);
  ASSERT_GT(needed(small.job), capacity);
  const auto advice = advice_at(replicated(), capacity);
  ASSERT_FALSE(advice.empty());
  EXPECT_TRUE(advice.front().fits);
  EXPECT_LE(advice.front().step_time, predict_step(both, {}).report.step_time) << advice.front().change;
}

TEST(MemoryAdvice, changes_pile_up_when_none_is_enough_alone) {
  Spec all = replicated();
  all.job.recompute = Recompute::kFull;
  all.job.microbatch = 1;
  all.job.rules.push_back({"param_embed", {"data"}});
  const auto advice = advice_at(replicated(), needed(all.job) * 1.05);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_TRUE(advice[0].fits);
  EXPECT_NE(advice[0].change.find(", "), std::string::npos) << advice[0].change;
}

TEST(MemoryAdvice, when_nothing_helps_the_nearest_is_told) {
  const auto advice = advice_at(replicated(), {1e8});
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_FALSE(advice[0].fits);
}

TEST(MemoryAdvice, nothing_is_told_of_which_a_part_does_as_much) {
  Spec spec = load("qwen3_14b_8_h100");
  spec.job.recompute = Recompute::kNone;
  spec.job.microbatch = 4;
  const auto advice = memory_advice(spec, build_fabric(spec.cluster.fabric), 0);
  ASSERT_GT(advice.size(), 2u);
  for (const MemoryChange& whole : advice)
    for (const MemoryChange& part : advice) {
      const bool contains = &part != &whole && whole.change.find(part.change) != std::string::npos;
      if (!contains) continue;
      EXPECT_TRUE(part.step_time.in_seconds() > 1.001 * whole.step_time.in_seconds() ||
                  part.total > 1.001 * whole.total)
          << whole.change << " beside " << part.change;
    }
}

TEST(MemoryChanges, offload_only_over_a_link_to_the_host) {
  const auto words = [](bool host_link) {
    std::string all;
    for (const auto& degrees : memory_changes(replicated().job, host_link))
      for (const JobChange& change : degrees) all += change.words + "\n";
    return all;
  };
  EXPECT_NE(words(true).find("offload"), std::string::npos);
  EXPECT_EQ(words(false).find("offload"), std::string::npos);
}

TEST(MemoryChanges, are_valid_jobs) {
  for (const char* name : {"llama31_405b_16384_h100", "deepseek_v3_2048_h800", "custom_layer_64_h100"}) {
    const auto changes = memory_changes(load(name).job, true);
    EXPECT_FALSE(changes.empty());
    for (const auto& degrees : changes) {
      EXPECT_FALSE(degrees.empty());
      for (const JobChange& change : degrees)
        EXPECT_TRUE(explain_invalid(change.job).empty()) << change.words;
    }
  }
}

TEST(MemoryChanges, more_chunks_and_plain_1f1b_are_tried_in_a_pipeline) {
  std::string all;
  for (const auto& degrees : memory_changes(load("llama31_405b_16384_h100").job, true))
    for (const JobChange& change : degrees) all += change.words + "\n";
  EXPECT_NE(all.find("pipeline { schedule: one_f_one_b }"), std::string::npos);
  EXPECT_NE(all.find("pipeline { chunks_per_stage: 8 }"), std::string::npos);
}

// Both do all passes forward before the first backward.
TEST(MemoryChanges, plain_1f1b_is_tried_where_all_microbatches_are_held) {
  Job job = load("llama31_405b_16384_h100").job;
  job.chunks_per_stage = 1;
  const auto tries_it = [&](PipelineSchedule schedule) {
    job.schedule = schedule;
    for (const auto& degrees : memory_changes(job, true))
      for (const JobChange& change : degrees)
        if (change.words == "pipeline { schedule: one_f_one_b }") return true;
    return false;
  };
  EXPECT_TRUE(tries_it(PipelineSchedule::kGpipe));
  EXPECT_TRUE(tries_it(PipelineSchedule::kShifting));
  EXPECT_FALSE(tries_it(PipelineSchedule::k1F1B));
  EXPECT_FALSE(tries_it(PipelineSchedule::kZeroBubbleH1));
}

}  // namespace
}  // namespace podsim::testing::memory_advice_test
