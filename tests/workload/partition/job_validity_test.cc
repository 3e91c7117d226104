// Every mistake in a job is named with its field and its numbers.
#include "workload/partition/job_validity.h"

#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/sharding/presets.h"

namespace podsim::testing::job_validity_test {
namespace {

Job valid_job() {
  Job job = job_of(llama3_70b(), {{"data", 4}, {"pipeline", 2}, {"tensor", 8}}, {"data", "megatron_sp"});
  job.pipeline_axis = "pipeline";
  job.global_batch = 64;
  return job;
}

void expect_problem(const Job& job, const std::string& field, const std::string& words) {
  const auto problems = explain_invalid(job);
  for (const JobProblem& problem : problems) {
    if (problem.field == field && problem.message.find(words) != std::string::npos) return;
  }
  std::string all;
  for (const JobProblem& problem : problems) all += problem.field + ": " + problem.message + "\n";
  ADD_FAILURE() << "no problem of " << field << " with \"" << words << "\" in\n" << all;
}

TEST(ExplainInvalid, accepts_a_sound_job) { EXPECT_TRUE(explain_invalid(valid_job()).empty()); }

TEST(ExplainInvalid, mesh) {
  Job job = valid_job();
  job.mesh.axes.push_back({"data", 2});
  expect_problem(job, "job.mesh", "axis data occurs twice");
  job = valid_job();
  job.mesh.axes[0].size = 0;
  expect_problem(job, "job.mesh", "axis data has size 0");
  job = valid_job();
  job.mesh.axes = {{"data", 1000000}, {"tensor", 1000000}};
  expect_problem(job, "job.mesh", "more devices");
  job.mesh.axes.assign(40, {"data", 1});
  expect_problem(job, "job.mesh", "40 axes");
}

TEST(ExplainInvalid, rules) {
  Job job = valid_job();
  job.rules.push_back({"ffn", {"expert"}});
  expect_problem(job, "job.rule", "ffn names axis expert, which the mesh lacks");
  job = valid_job();
  job.rules.push_back({"width", {"tensor"}});
  expect_problem(job, "job.rule", "no tensor dimension is called width");
  job = valid_job();
  job.rules.push_back({"sequence", {"tensor"}});
  expect_problem(job, "job.rule", "sequence and heads lie on the same axis tensor");
  job = valid_job();
  job.rules.push_back({"batch", {"pipeline"}});
  expect_problem(job, "job.rule", "batch names axis pipeline, which holds the pipeline stages");
}

TEST(ExplainInvalid, divisibility) {
  Job job = valid_job();
  job.mesh.axes[2].size = 7;
  expect_problem(job, "job.rule", "heads 64 are not divisible by 7, the size of axis tensor");
  expect_problem(job, "job.sequence_tokens", "2048 are not divisible by 7");
  job = valid_job();
  job.model.ffn = 28673;
  expect_problem(job, "job.rule", "ffn columns 28673 are not divisible by 8");
  job = valid_job();
  job.model.kv_heads = 16;
  job.mesh.axes[2].size = 32;
  EXPECT_TRUE(explain_invalid(job).empty()) << "fewer key and value heads than shards are replicated";
}

TEST(ExplainInvalid, heads_that_attention_exchanges) {
  Job job = job_of(llama3_8b(), {{"context", 16}, {"tensor", 4}}, {"megatron", "ulysses"});
  expect_problem(job, "job.rule", "heads 32 are not divisible by 64, the size of axis context+tensor");
  job.mesh.axes[0].size = 4;
  EXPECT_TRUE(explain_invalid(job).empty());
}

TEST(ExplainInvalid, rings_of_keys_that_a_window_does_not_see) {
  Job job = job_of(llama3_8b(), {{"context", 4}}, {"ring_context"});
  EXPECT_TRUE(explain_invalid(job).empty());
  job.model.attention_window = 1024;
  expect_problem(job, "job.rule", "local layers of llama3_8b see 1024 tokens only");
  EXPECT_TRUE(explain_invalid(job_of(job.model, {{"context", 4}}, {"context"})).empty());
}

TEST(ExplainInvalid, dimensions_of_gradients_and_state_are_those_of_parameters) {
  Job job = valid_job();
  job.rules.push_back({"state_param_ffn", {"data"}});
  job.rules.push_back({"gradient_param_embed", {"data"}});
  EXPECT_TRUE(explain_invalid(job).empty());
  job.rules.push_back({"state_ffn", {"data"}});
  expect_problem(job, "job.rule", "no tensor dimension is called state_ffn");
  job.rules.back().dimension = "param_batch";
  expect_problem(job, "job.rule", "no tensor dimension is called param_batch");
  job.rules.back().dimension = "param_embd";
  expect_problem(job, "job.rule", "no tensor dimension is called param_embd; did you mean param_embed?");
}

TEST(ExplainInvalid, batch) {
  Job job = valid_job();
  job.global_batch = 63;
  expect_problem(job, "job.global_batch_sequences",
                 "63 sequences is not divisible by 4 batch shards (axes data)");
  job = valid_job();
  job.microbatch = 3;
  expect_problem(job, "job.microbatch_sequences",
                 "leaves 16 sequences each, not divisible by a microbatch of 3");
  job.microbatch = 0;
  expect_problem(job, "job.microbatch_sequences", "microbatch is 0");
}

TEST(ExplainInvalid, pipeline) {
  Job job = valid_job();
  job.pipeline_axis = "stages";
  expect_problem(job, "job.pipeline", "axis stages is not in the mesh");
  job = valid_job();
  job.mesh.axes[1].size = 90;
  expect_problem(job, "job.pipeline", "80 layers are too few for 90 pieces");
  job = valid_job();
  job.chunks_per_stage = 4;
  expect_problem(job, "job.pipeline", "4 chunks per stage, where this schedule has 1");
  job.schedule = PipelineSchedule::kInterleaved;
  EXPECT_TRUE(explain_invalid(job).empty());
  job.global_batch = 4 * 3;
  expect_problem(job, "job.pipeline", "3 microbatches are not divisible by 2 stages");
}

TEST(ExplainInvalid, model) {
  Job job = valid_job();
  job.model.parallel_block = job.model.post_norms = true;
  expect_problem(job, "job.model",
                 "parallel blocks have no norms behind them: post_norms needs blocks in sequence");
  job = valid_job();
  job.model.kv_heads = 7;
  expect_problem(job, "job.model", "heads 64 are not divisible by kv_heads 7");
  job = valid_job();
  job.model.layers = 0;
  expect_problem(job, "job.model", "layers is 0");
  job = valid_job();
  job.model.learned_positions = 1024;
  expect_problem(job, "job.sequence_tokens", "2048 tokens is longer than the 1024 learned positions");
}

TEST(Presets, unknown_names_give_nothing_and_absent_axes_are_skipped) {
  const Mesh mesh{{{"data", 4}}};
  EXPECT_FALSE(preset_rules("megatrom", mesh).has_value());
  EXPECT_TRUE(preset_rules("megatron", mesh)->empty());
  const auto fsdp = preset_rules("fsdp", mesh);
  ASSERT_EQ(fsdp->size(), 1u);
  EXPECT_EQ((*fsdp)[0].axes, std::vector<std::string>{"data"});
  for (const std::string& name : preset_names()) EXPECT_TRUE(preset_rules(name, mesh).has_value());
}

}  // namespace
}  // namespace podsim::testing::job_validity_test
