// Which layers each stage holds, and how many chunks of activations.
#include "workload/pipeline/stages.h"

#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/job/job.h"
#include "workload/partition/job_validity.h"

namespace podsim::testing::stages_test {
namespace {

constexpr int kEmbedding = 0, kLayer = 1, kHead = 2, kOther = 3, kJoint = 4;

// Pieces with a second kind of layer and a piece between layers that is none.
ModelProgram pieces(std::vector<int> sequence) {
  ModelProgram model;
  for (const char* name : {"embedding", "layer", "head", "other layer", "joint"})
    model.parts.push_back({name, std::string(name).find("layer") != std::string::npos, {}});
  model.sequence = std::move(sequence);
  return model;
}

ModelProgram dense(int layers) {
  std::vector<int> sequence(static_cast<std::size_t>(layers) + 2, kLayer);
  sequence.front() = kEmbedding;
  sequence.back() = kHead;
  return pieces(std::move(sequence));
}

std::vector<std::vector<ChunkShape>> chunks_of(const ModelProgram& model, int stages, int chunks) {
  const PipelineShape shape{PipelineSchedule::kInterleaved, stages, chunks, stages};
  return pipeline_chunks(model_pieces(model, piece_count(shape), {}), shape);
}

int count_of(const ChunkShape& chunk, int part) {
  int count = 0;
  for (const PartRun& run : chunk.runs) count += run.part == part ? run.count : 0;
  return count;
}
int layers_of(const std::vector<ChunkShape>& chunks) {
  int sum = 0;
  for (const ChunkShape& chunk : chunks) sum += count_of(chunk, kLayer);
  return sum;
}

TEST(PipelineChunks, even_layers_spread_evenly) {
  const auto stages = chunks_of(dense(96), 8, 3);
  for (const auto& chunks : stages) {
    ASSERT_EQ(chunks.size(), 3u);
    for (const ChunkShape& chunk : chunks) EXPECT_EQ(count_of(chunk, kLayer), 4);
  }
  EXPECT_EQ(stages[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}, {kLayer, 4}}));
  EXPECT_EQ(stages[7][2].runs, (std::vector<PartRun>{{kLayer, 4}, {kHead, 1}}));
  EXPECT_EQ(stages[7][1].runs, (std::vector<PartRun>{{kLayer, 4}}));
  EXPECT_EQ(stages[0][1].runs, (std::vector<PartRun>{{kLayer, 4}}));
}

TEST(PipelineChunks, embedding_and_head_count_as_layers_where_that_divides) {
  const auto stages = chunks_of(dense(126), 16, 8);
  EXPECT_EQ(stages[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}}));
  EXPECT_EQ(stages[15][7].runs, (std::vector<PartRun>{{kHead, 1}}));
  EXPECT_EQ(layers_of(stages[0]), 7);
  EXPECT_EQ(layers_of(stages[1]), 8);
  EXPECT_EQ(layers_of(stages[15]), 7);
}

TEST(PipelineChunks, chosen_layers_replace_the_even_split) {
  const auto pieces_of_model = model_pieces(dense(7), 4, {0, 3, 3, 1});
  EXPECT_EQ(pieces_of_model[0].runs, (std::vector<PartRun>{{kEmbedding, 1}}));
  EXPECT_EQ(pieces_of_model[1].runs, (std::vector<PartRun>{{kLayer, 3}}));
  EXPECT_EQ(pieces_of_model[3].runs, (std::vector<PartRun>{{kLayer, 1}, {kHead, 1}}));
  EXPECT_EQ(explain_uncut(dense(7), 4, {0, 3, 3, 1}), "");
  EXPECT_EQ(explain_uncut(dense(7), 4, {1, 3, 3, 1}), "8 layers in all pieces, where the model has 7");
}

// A head of `head` times the weights of a layer, in a model of 16.
ModelProgram with_head(double head) {
  ModelProgram model = dense(16);
  const auto weigh = [&](int part, std::int64_t elements) {
    Graph& graph = model.parts[static_cast<std::size_t>(part)].graph;
    const TensorId id =
        graph.add({.name = "weight", .role = TensorRole::kParameter, .dims = {{"", {{.size = elements}}}}});
    graph.operations.push_back({.name = "product", .kind = OperationKind::kEinsum, .inputs = {{id, "a"}}});
  };
  weigh(kLayer, 100);
  weigh(kHead, static_cast<std::int64_t>(100 * head));
  return model;
}

Job balancing() {
  Job job;
  job.stack.balances_stages = true;
  return job;
}

std::vector<int> balanced(double head, int pieces) {
  return layers_of_pieces(balancing(), with_head(head), pieces);
}

TEST(PipelineChunks, a_stack_that_balances_stages_gives_the_head_fewer_layers) {
  EXPECT_EQ(balanced(4, 2), (std::vector<int>{10, 6}));
  EXPECT_EQ(balanced(4, 4), (std::vector<int>{5, 5, 5, 1}));
  EXPECT_EQ(balanced(4, 8), (std::vector<int>{3, 3, 2, 2, 2, 2, 2, 0})) << "the head alone is the longest";
  EXPECT_EQ(balanced(0, 4), (std::vector<int>{4, 4, 4, 4}));
}

TEST(PipelineChunks, a_heavy_head_leaves_the_last_of_many_balanced_stages_idle) {
  const auto idle = [](double head, int stages, int chunks = 1) {
    return explain_idle_stages(balancing(), with_head(head), {PipelineSchedule::k1F1B, stages, chunks, 8});
  };
  EXPECT_EQ(idle(4, 8), "") << "16 layers reach the 7th stage, the head has the 8th";
  EXPECT_EQ(idle(4, 16).substr(0, 81),
            "16 layers and a head of the weight of 4 leave 1 of 16 stages without work, as the");
  EXPECT_EQ(idle(2, 16), "") << "16 layers reach the 15th stage";
  EXPECT_EQ(idle(4, 8, 2), "") << "interleaved pieces are dealt out by count";
  Job chosen = balancing();
  chosen.layers_per_chunk = std::vector<int>(16, 1);
  for (const Job& job : {chosen, Job{}})
    EXPECT_EQ(explain_idle_stages(job, with_head(4), {PipelineSchedule::k1F1B, 16, 1, 8}), "");
}

TEST(PipelineChunks, balance_leaves_chosen_layers_and_other_stacks_alone) {
  Job job;
  EXPECT_TRUE(layers_of_pieces(job, dense(16), 4).empty());
  job.stack.balances_stages = true;
  job.layers_per_chunk = {5, 5, 5, 1};
  EXPECT_EQ(layers_of_pieces(job, dense(16), 4), job.layers_per_chunk);
}

TEST(PipelineChunks, v_and_dualpipe_lay_the_pieces_down_the_stages_and_up) {
  const auto at = [](PipelineSchedule schedule) {
    const PipelineShape shape{schedule, 2, 2, 4};
    return pipeline_chunks(model_pieces(dense(4), piece_count(shape), {}), shape);
  };
  const auto v = at(PipelineSchedule::kZeroBubbleV);
  EXPECT_EQ(v[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}, {kLayer, 1}}));
  EXPECT_EQ(v[0][1].runs, (std::vector<PartRun>{{kLayer, 1}, {kHead, 1}}));
  const auto dual = at(PipelineSchedule::kDualPipe);
  EXPECT_EQ(dual[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}, {kLayer, 2}}));
  EXPECT_EQ(dual[0][0].runs, dual[1][1].runs);
  EXPECT_EQ(dual[0][1].runs, dual[1][0].runs);
}

TEST(PipelineChunks, every_split_keeps_all_layers_and_differs_by_one_at_most) {
  for (int layers = 1; layers <= 40; ++layers) {
    for (int stages = 1; stages <= 8; ++stages) {
      for (int chunks = 1; chunks <= 3; ++chunks) {
        if (!explain_uncut(dense(layers), stages * chunks, {}).empty()) continue;
        int sum = 0, most = 0;
        for (const auto& stage : chunks_of(dense(layers), stages, chunks)) {
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
  const auto stages = chunks_of(dense(32), 1, 1);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}, {kLayer, 32}, {kHead, 1}}));
}

TEST(PipelineChunks, kinds_of_layers_keep_their_order) {
  const ModelProgram model = pieces({kEmbedding, kLayer, kLayer, kOther, kOther, kOther, kOther, kHead});
  const auto stages = chunks_of(model, 3, 1);
  EXPECT_EQ(stages[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}, {kLayer, 2}}));
  EXPECT_EQ(stages[1][0].runs, (std::vector<PartRun>{{kOther, 2}}));
  EXPECT_EQ(stages[2][0].runs, (std::vector<PartRun>{{kOther, 2}, {kHead, 1}}));
}

TEST(PipelineChunks, a_piece_between_layers_rides_with_the_layer_after_it) {
  const auto stages = chunks_of(pieces({kEmbedding, kLayer, kLayer, kJoint, kOther, kOther, kHead}), 2, 1);
  EXPECT_EQ(stages[0][0].runs, (std::vector<PartRun>{{kEmbedding, 1}, {kLayer, 2}}));
  EXPECT_EQ(stages[1][0].runs, (std::vector<PartRun>{{kJoint, 1}, {kOther, 2}, {kHead, 1}}));
}

TEST(PipelineChunks, a_model_without_layers_fits_one_stage_only) {
  EXPECT_EQ(explain_uncut(pieces({kJoint}), 1, {}), "");
  EXPECT_EQ(explain_uncut(pieces({kJoint}), 2, {}), "0 layers are too few for 2 pieces, one per chunk");
  EXPECT_EQ(chunks_of(pieces({kJoint}), 1, 1)[0][0].runs, (std::vector<PartRun>{{kJoint, 1}}));
}

TEST(Pipeline, what_a_layer_hands_on_is_the_residual_shard_and_stage_parameters_add_up) {
  Job job = job_of(megatron_530b(), {{"pipeline", 35}, {"tensor", 8}}, {"megatron_sp"});
  job.pipeline_axis = "pipeline";
  job.schedule = PipelineSchedule::kInterleaved;
  job.chunks_per_stage = 3;
  job.global_batch = 280;
  ASSERT_TRUE(explain_invalid(job).empty());
  const StepProgram program = partition(job);
  EXPECT_EQ(program.stages, 35);
  EXPECT_EQ(program.microbatches, 280);
  EXPECT_DOUBLE_EQ(layer_of(program).output.value, 2.0 * 2048 * 20480 / 8);
  EXPECT_EQ(program.memory.size(), 35u);
  double weights = 0;
  for (const MemoryUse& use : program.memory) weights += use.weights.value;
  // Norms are replicated over the tensor axis and the tied table is on two stages.
  EXPECT_NEAR(weights * 8 / 2 / program.parameters, 1, 0.01);
}

}  // namespace
}  // namespace podsim::testing::stages_test
