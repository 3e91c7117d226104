// Which layers each stage holds, and how many chunks of activations.
#include "workload/stages.h"

#include <gtest/gtest.h>

#include "models.h"

namespace podsim::testing {
namespace {

int layers_of(const std::vector<ChunkShape>& chunks) {
  int sum = 0;
  for (const ChunkShape& chunk : chunks) sum += chunk.layers;
  return sum;
}

TEST(PipelineChunks, even_layers_spread_evenly) {
  const auto stages = pipeline_chunks(96, 8, 3);
  for (const auto& chunks : stages) {
    ASSERT_EQ(chunks.size(), 3u);
    for (const ChunkShape& chunk : chunks) EXPECT_EQ(chunk.layers, 4);
  }
  EXPECT_TRUE(stages[0][0].embedding);
  EXPECT_TRUE(stages[7][2].head);
  EXPECT_FALSE(stages[7][1].head);
  EXPECT_FALSE(stages[0][1].embedding);
}

TEST(PipelineChunks, embedding_and_head_count_as_layers_where_that_divides) {
  const auto stages = pipeline_chunks(126, 16, 8);
  EXPECT_EQ(stages[0][0].layers, 0);
  EXPECT_EQ(stages[15][7].layers, 0);
  EXPECT_EQ(layers_of(stages[0]), 7);
  EXPECT_EQ(layers_of(stages[1]), 8);
  EXPECT_EQ(layers_of(stages[15]), 7);
}

TEST(PipelineChunks, every_split_keeps_all_layers_and_differs_by_one_at_most) {
  for (int layers = 1; layers <= 40; ++layers) {
    for (int stages = 1; stages <= 8; ++stages) {
      for (int chunks = 1; chunks <= 3; ++chunks) {
        if (!pipeline_fits(layers, stages * chunks)) continue;
        int sum = 0, most = 0;
        for (const auto& stage : pipeline_chunks(layers, stages, chunks)) {
          sum += layers_of(stage);
          most = std::max(most, layers_of(stage));
        }
        EXPECT_EQ(sum, layers);
        EXPECT_LE(most, (layers + stages - 1) / stages + 1);
      }
    }
  }
}

TEST(PipelineChunks, one_stage_holds_everything) {
  const auto stages = pipeline_chunks(32, 1, 1);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0][0].layers, 32);
  EXPECT_TRUE(stages[0][0].embedding && stages[0][0].head);
}

TEST(ChunksInFlight, follow_the_schedule) {
  EXPECT_EQ(chunks_in_flight(PipelineSchedule::k1F1B, 0, 8, 1, 64), 8);
  EXPECT_EQ(chunks_in_flight(PipelineSchedule::k1F1B, 7, 8, 1, 64), 1);
  EXPECT_EQ(chunks_in_flight(PipelineSchedule::k1F1B, 0, 8, 1, 4), 4);
  EXPECT_EQ(chunks_in_flight(PipelineSchedule::kGpipe, 7, 8, 1, 64), 64);
  // Korthikanti section 4.2.3: L (1 + (p - 1) / (p m)) layers on the first stage.
  EXPECT_EQ(chunks_in_flight(PipelineSchedule::kInterleaved, 0, 8, 3, 64), 8 * 3 + 8 - 1);
}

TEST(Pipeline, boundary_is_the_residual_shard_and_stage_parameters_add_up) {
  Job job = job_of(megatron_530b(), {{"pipeline", 35}, {"tensor", 8}}, {"megatron_sp"});
  job.pipeline_axis = "pipeline";
  job.schedule = PipelineSchedule::kInterleaved;
  job.chunks_per_stage = 3;
  job.global_batch = 280;
  ASSERT_TRUE(explain_invalid(job).empty());
  const StepProgram program = partition(job, {});
  EXPECT_EQ(program.stages, 35);
  EXPECT_EQ(program.microbatches, 280);
  EXPECT_DOUBLE_EQ(program.boundary.value, 2.0 * 2048 * 20480 / 8);
  EXPECT_EQ(program.memory.size(), 35u);
  double weights = 0;
  for (const MemoryUse& use : program.memory) weights += use.weights.value;
  // Norms are replicated over the tensor axis and the tied table is on two stages.
  EXPECT_NEAR(weights * 8 / 2 / program.parameters, 1, 0.01);
}

}  // namespace
}  // namespace podsim::testing
