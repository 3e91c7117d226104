// Advice for jobs that do not fit: every line must be true of the job it describes.
#include "report/memory_advice.h"

#include <gtest/gtest.h>

#include "workload/program.h"

namespace podsim {
namespace {

// A 16-layer transformer of 3.2e9 parameters, replicated on eight devices.
Job replicated_job() {
  Job job;
  job.model.name = "model";
  job.model.layers = 16;
  job.model.d_model = 4096;
  job.model.heads = 32;
  job.model.kv_heads = 32;
  job.model.head_dim = 128;
  job.model.ffn = 16384;
  job.model.vocabulary = 32000;
  job.mesh.axes = {{"data", 8}};
  job.rules = {{"batch", {"data"}}};
  job.global_batch = 64;
  job.microbatch = 4;
  job.sequence = 2048;
  return job;
}

Bytes needed(const Job& job) { return partition(job).memory.at(0).total(); }

bool advises(const std::vector<std::string>& advice, const std::string& words) {
  for (const std::string& line : advice) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(MemoryAdvice, a_job_just_above_the_capacity_has_several_ways_out) {
  const Job job = replicated_job();
  const std::vector<std::string> advice = memory_advice(job, needed(job) * 0.99);
  EXPECT_TRUE(advises(advice, "recompute full"));
  EXPECT_TRUE(advises(advice, "microbatch_sequences 2"));
  EXPECT_TRUE(advises(advice, "optimizer state sharded over data"));
}

TEST(MemoryAdvice, a_single_change_is_advised_only_where_it_suffices) {
  Job recomputed = replicated_job();
  recomputed.recompute = Recompute::kFull;
  const Bytes enough = needed(recomputed);
  EXPECT_TRUE(advises(memory_advice(replicated_job(), enough), "recompute full"));
  for (const std::string& line : memory_advice(replicated_job(), enough * 0.999)) {
    EXPECT_NE(line.rfind("recompute full: ", 0), 0u) << line;
  }
}

TEST(MemoryAdvice, changes_pile_up_when_none_is_enough_alone) {
  Job all = replicated_job();
  all.recompute = Recompute::kFull;
  all.microbatch = 1;
  all.rules.push_back({"state_param_embed", {"data"}});
  all.rules.push_back({"param_embed", {"data"}});
  const std::vector<std::string> advice = memory_advice(replicated_job(), needed(all) * 1.05);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_NE(advice[0].find("recompute full"), std::string::npos) << advice[0];
  EXPECT_NE(advice[0].find("param_embed"), std::string::npos) << advice[0];
  EXPECT_EQ(advice[0].find("more chips"), std::string::npos) << advice[0];
}

TEST(MemoryAdvice, when_nothing_helps_it_says_so) {
  const std::vector<std::string> advice = memory_advice(replicated_job(), {1e9});
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_NE(advice[0].find("or more chips, are needed"), std::string::npos) << advice[0];
}

}  // namespace
}  // namespace podsim
