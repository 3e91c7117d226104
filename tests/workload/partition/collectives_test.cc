// Which collectives a training step needs under each scheme: they follow from shardings, and their bytes are
// the textbook's.
#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/resharding/cost_model.h"
#include "workload/sharding/sharding.h"

namespace podsim::testing::collectives_test {
namespace {

constexpr double kSequence = 2048;

// Bytes of one activation [microbatch 1, sequence, d_model] in bf16.
double activation_bytes(const Model& model) { return 2 * kSequence * model.d_model; }

TEST(DataParallel, all_reduces_every_gradient_once_and_nothing_else) {
  Job job = job_of(gpt3_175b(), {{"data", 64}}, {"data"});
  job.stack.gradient_bytes = 2;
  const StepProgram program = partition(job);
  for (const Part* part : {&embedding_of(program), &layer_of(program), &head_of(program)}) {
    EXPECT_TRUE(collectives(part->forward).empty());
    EXPECT_TRUE(collectives(part->backward).empty());
    EXPECT_TRUE(part->parameter_gather.empty());
    const auto reduce = collectives(part->gradient_reduce);
    ASSERT_EQ(reduce.size(), 1u);
    EXPECT_EQ(reduce[0].kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(reduce[0].purpose, Purpose::kGradient);
  }
  EXPECT_DOUBLE_EQ(total_bytes(collectives(layer_of(program).gradient_reduce)),
                   2 * layer_of(program).parameters);
}

TEST(Zero1, scatters_gradients_and_gathers_updated_weights) {
  Job job = job_of(gpt3_175b(), {{"data", 64}}, {"data", "zero1"});
  const StepProgram program = partition(job);
  const auto reduce = collectives(layer_of(program).gradient_reduce);
  const auto gather = collectives(layer_of(program).parameter_gather);
  ASSERT_EQ(reduce.size(), 1u);
  ASSERT_EQ(gather.size(), 1u);
  EXPECT_EQ(reduce[0].kind, CollectiveKind::kReduceScatter);
  EXPECT_DOUBLE_EQ(reduce[0].bytes.value, job.stack.gradient_bytes * layer_of(program).parameters);
  EXPECT_EQ(gather[0].kind, CollectiveKind::kAllGather);
  EXPECT_DOUBLE_EQ(gather[0].bytes.value, 2 * layer_of(program).parameters);
  EXPECT_DOUBLE_EQ(layer_of(program).local_parameters, layer_of(program).parameters);
  EXPECT_DOUBLE_EQ(layer_of(program).local_state, layer_of(program).parameters / 64);
}

TEST(Fsdp, gathers_weights_in_forward_and_once_in_backward_and_scatters_gradients) {
  const Job job = job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"});
  const StepProgram program = partition(job);
  for (const Part* part : {&embedding_of(program), &layer_of(program), &head_of(program)}) {
    const double weights = 2 * part->parameters;
    EXPECT_DOUBLE_EQ(total_bytes(collectives(part->forward)), weights);
    EXPECT_DOUBLE_EQ(total_bytes(collectives(part->forward, CollectiveKind::kAllGather, Purpose::kParameter)),
                     weights);
    const double scattered =
        total_bytes(collectives(part->backward, CollectiveKind::kReduceScatter, Purpose::kGradient));
    EXPECT_DOUBLE_EQ(scattered, job.stack.gradient_bytes * part->parameters);
    EXPECT_TRUE(part->gradient_reduce.empty());
    EXPECT_DOUBLE_EQ(part->local_parameters, part->parameters / 8);
  }
  // The backward of a lookup does not read the table; every vector of a layer is read again.
  EXPECT_TRUE(
      collectives(embedding_of(program).backward, CollectiveKind::kAllGather, Purpose::kParameter).empty());
  EXPECT_DOUBLE_EQ(
      total_bytes(collectives(layer_of(program).backward, CollectiveKind::kAllGather, Purpose::kParameter)),
      2 * layer_of(program).parameters);
}

TEST(Fsdp, moves_vectors_together_with_a_matrix) {
  const StepProgram program = partition(job_of(gpt3_175b(), {{"fsdp", 8}}, {"fsdp"}));
  EXPECT_EQ(collectives(layer_of(program).forward).size(), 4u);
  EXPECT_EQ(
      collectives(layer_of(program).backward, CollectiveKind::kReduceScatter, Purpose::kGradient).size(), 4u);
}

// A ring passes all devices, a tree few: what a message costs however short it is.
class RingsAndTrees : public CostModel {
 public:
  explicit RingsAndTrees(double ring_s) : ring_s_(ring_s) {}
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    const int devices = shard_count(axes);
    if (devices == 1) return 0;
    const bool ring = kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather;
    return (ring ? ring_s_ : 1e-6) + sent_bytes(kind, devices, bytes).value / 50e9;
  }
  double compute(Flops flops) const override { return flops.value / 400e12; }
  bool timed() const override { return true; }

 private:
  double ring_s_;
};

// With the longest rings matrices are all-reduced, and each device takes its slice.
TEST(Fsdp, moves_vectors_with_a_matrix_and_no_activations_whatever_a_message_costs) {
  const Job job = job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"});
  for (const double ring_s : {0.0, 1e-4, 1e-3, 2e-3, 1e-2, 1.0}) {
    const StepProgram program = partition(job, RingsAndTrees(ring_s));
    for (const Part* part : {&embedding_of(program), &layer_of(program), &head_of(program)}) {
      for (const Block* block : {&part->forward, &part->backward})
        for (const CollectiveOp& op : collectives(*block))
          EXPECT_NE(op.purpose, Purpose::kActivation) << ring_s << ", " << op.tensor;
    }
    std::vector<CollectiveOp> reductions = collectives(layer_of(program).backward);
    std::erase_if(reductions, [](const CollectiveOp& op) { return op.purpose != Purpose::kGradient; });
    EXPECT_EQ(reductions.size(), 4u) << ring_s << ", of two vectors and four matrices";
    EXPECT_DOUBLE_EQ(total_bytes(reductions), job.stack.gradient_bytes * layer_of(program).parameters);
  }
}

// Shards of gradients are no reason to move anything but gradients.
TEST(Zero2, moves_the_activations_of_zero1_whatever_a_message_costs) {
  const auto layer_with = [](const std::string& preset, const CostModel& cost) {
    return layer_of(
        partition(job_of(llama3_8b(), {{"data", 8}, {"tensor", 4}}, {"data", preset, "megatron_sp"}), cost));
  };
  const auto activations = [](const Block& block) {
    std::vector<std::pair<std::string, CollectiveKind>> moved;
    for (const CollectiveOp& op : collectives(block))
      if (op.purpose == Purpose::kActivation) moved.emplace_back(op.tensor, op.kind);
    return moved;
  };
  for (const double ring_s : {0.0, 1e-4, 1e-3, 1e-2, 1.0}) {
    const Part one = layer_with("zero1", RingsAndTrees(ring_s));
    const Part two = layer_with("zero2", RingsAndTrees(ring_s));
    EXPECT_EQ(activations(one.forward), activations(two.forward)) << ring_s;
    EXPECT_EQ(activations(one.backward), activations(two.backward)) << ring_s;
  }
}

TEST(Fsdp, gathers_each_weight_immediately_before_its_first_use) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"}));
  const Block& block = layer_of(program).forward;
  for (std::size_t i = 0; i + 1 < block.size(); ++i) {
    const auto* gather = std::get_if<CollectiveOp>(&block[i]);
    if (gather == nullptr) continue;
    EXPECT_TRUE(std::holds_alternative<ComputeOp>(block[i + 1])) << gather->tensor;
  }
}

TEST(Fsdp, full_recompute_shares_the_backward_gather) {
  Job job = job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"});
  job.recompute = Recompute::kFull;
  const StepProgram program = partition(job);
  EXPECT_DOUBLE_EQ(
      total_bytes(collectives(layer_of(program).backward, CollectiveKind::kAllGather, Purpose::kParameter)),
      2 * layer_of(program).parameters);
}

TEST(Fsdp, gathered_weights_and_scattered_gradients_pass_through_memory_as_often_as_the_stack_says) {
  Job job = job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"});
  const auto memory_bytes = [&](const Block& block) {
    double bytes = 0;
    for (const ProgramOp& op : block)
      if (const auto* compute = std::get_if<ComputeOp>(&op);
          compute && compute->op_class == OpClass::kMemoryBound)
        bytes += compute->hbm.value;
    return bytes;
  };
  const Part plain = layer_of(partition(job));
  job.stack.weight_passes = 3;
  const Part copied = layer_of(partition(job));
  const double gathered = total_bytes(collectives(plain.forward));
  EXPECT_NEAR(memory_bytes(copied.forward) - memory_bytes(plain.forward), 3 * gathered, 1);
  EXPECT_NEAR(memory_bytes(copied.backward) - memory_bytes(plain.backward),
              3 * total_bytes(collectives(plain.backward)), 1);
  EXPECT_EQ(total_bytes(collectives(copied.backward)), total_bytes(collectives(plain.backward)));
}

TEST(HybridSharding, reduces_the_shard_over_replicas_once_per_step) {
  const Job job = job_of(llama3_8b(), {{"data", 4}, {"fsdp", 8}}, {"fsdp"});
  const StepProgram program = partition(job);
  const auto scatter =
      collectives(layer_of(program).backward, CollectiveKind::kReduceScatter, Purpose::kGradient);
  EXPECT_DOUBLE_EQ(total_bytes(scatter), job.stack.gradient_bytes * layer_of(program).parameters);
  for (const CollectiveOp& op : scatter) EXPECT_EQ(axis_names(program.mesh, op.axes), "fsdp");
  const auto reduce = collectives(layer_of(program).gradient_reduce);
  ASSERT_EQ(reduce.size(), 1u);
  EXPECT_EQ(reduce[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(axis_names(program.mesh, reduce[0].axes), "data");
  EXPECT_DOUBLE_EQ(reduce[0].bytes.value, job.stack.gradient_bytes * layer_of(program).parameters / 8);
}

TEST(TensorParallel, all_reduces_two_activations_forward_and_two_backward) {
  const Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"});
  const StepProgram program = partition(job);
  for (const Block* block : {&layer_of(program).forward, &layer_of(program).backward}) {
    const auto reduce = collectives(*block);
    ASSERT_EQ(reduce.size(), 2u);
    for (const CollectiveOp& op : reduce) {
      EXPECT_EQ(op.kind, CollectiveKind::kAllReduce);
      EXPECT_EQ(op.purpose, Purpose::kActivation);
      EXPECT_DOUBLE_EQ(op.bytes.value, activation_bytes(job.model));
    }
  }
}

TEST(SequenceParallel, gathers_and_scatters_twice_forward_and_gathers_stored_inputs_again_backward) {
  const Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  const StepProgram program = partition(job);
  const auto count = [&](const Block& block, CollectiveKind kind) {
    const auto ops = collectives(block, kind, Purpose::kActivation);
    for (const CollectiveOp& op : ops) EXPECT_DOUBLE_EQ(op.bytes.value, activation_bytes(job.model));
    return ops.size();
  };
  EXPECT_EQ(count(layer_of(program).forward, CollectiveKind::kAllGather), 2u);
  EXPECT_EQ(count(layer_of(program).forward, CollectiveKind::kReduceScatter), 2u);
  EXPECT_EQ(collectives(layer_of(program).forward).size(), 4u);
  EXPECT_EQ(count(layer_of(program).backward, CollectiveKind::kAllGather), 4u);
  EXPECT_EQ(count(layer_of(program).backward, CollectiveKind::kReduceScatter), 2u);
  EXPECT_EQ(collectives(layer_of(program).backward).size(), 6u);
}

TEST(SequenceParallel, sums_norm_gradients_over_the_tensor_axis) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"tensor", 8}}, {"megatron_sp"}));
  const auto reduce = collectives(layer_of(program).gradient_reduce);
  ASSERT_EQ(reduce.size(), 1u);
  EXPECT_EQ(axis_names(program.mesh, reduce[0].axes), "tensor");
  EXPECT_DOUBLE_EQ(reduce[0].bytes.value, 4.0 * 2 * 4096);  // two norms in fp32
}

TEST(ParallelBlock, adds_the_branches_before_one_reduction) {
  const Job job = job_of(palm_540b(), {{"tensor", 16}}, {"megatron_sp"});
  const StepProgram program = partition(job);
  EXPECT_EQ(collectives(layer_of(program).forward, CollectiveKind::kAllGather, Purpose::kActivation).size(),
            1u);
  EXPECT_EQ(
      collectives(layer_of(program).forward, CollectiveKind::kReduceScatter, Purpose::kActivation).size(),
      1u);
  EXPECT_EQ(
      collectives(layer_of(program).backward, CollectiveKind::kReduceScatter, Purpose::kActivation).size(),
      1u);
}

TEST(VocabularyParallel, lookup_sums_an_activation_and_loss_sums_three_values_per_token) {
  const Job job = job_of(llama3_70b(), {{"tensor", 8}}, {"megatron"});
  const StepProgram program = partition(job);
  const auto lookup = collectives(embedding_of(program).forward);
  ASSERT_EQ(lookup.size(), 1u);
  EXPECT_EQ(lookup[0].kind, CollectiveKind::kAllReduce);
  EXPECT_DOUBLE_EQ(lookup[0].bytes.value, activation_bytes(job.model));
  EXPECT_TRUE(collectives(embedding_of(program).backward).empty());

  const auto loss = collectives(head_of(program).forward);
  ASSERT_EQ(loss.size(), 3u);
  for (const CollectiveOp& op : loss) EXPECT_DOUBLE_EQ(op.bytes.value, 4 * kSequence);
  const auto logits = collectives(head_of(program).backward);
  ASSERT_EQ(logits.size(), 1u);
  EXPECT_EQ(logits[0].kind, CollectiveKind::kAllReduce);
  EXPECT_DOUBLE_EQ(logits[0].bytes.value, activation_bytes(job.model));
}

TEST(TiedEmbedding, reduces_the_table_once_without_a_pipeline_and_on_both_stages_with_one) {
  Job job = job_of(gpt3_175b(), {{"data", 8}, {"pipeline", 2}}, {"data"});
  const double table = 4.0 * 50257 * 12288;
  EXPECT_LT(total_bytes(collectives(head_of(partition(job)).gradient_reduce)), table / 100);
  job.pipeline_axis = "pipeline";
  EXPECT_GT(total_bytes(collectives(head_of(partition(job)).gradient_reduce)), table);
}

TEST(ThreeAxes, bytes_of_each_scheme_shrink_by_the_other_axes) {
  const Job job = job_of(llama3_70b(), {{"data", 2}, {"fsdp", 16}, {"tensor", 4}}, {"fsdp", "megatron_sp"});
  const StepProgram program = partition(job);
  const auto gathers =
      collectives(layer_of(program).forward, CollectiveKind::kAllGather, Purpose::kParameter);
  const double vectors = 2.0 * 2 * job.model.d_model;
  EXPECT_DOUBLE_EQ(total_bytes(gathers), (2 * layer_of(program).parameters - vectors) / 4 + vectors);
  for (const CollectiveOp& op : gathers) EXPECT_EQ(axis_names(program.mesh, op.axes), "fsdp");
  for (const CollectiveOp& op :
       collectives(layer_of(program).forward, CollectiveKind::kReduceScatter, Purpose::kActivation)) {
    EXPECT_DOUBLE_EQ(op.bytes.value, activation_bytes(job.model));
    EXPECT_EQ(axis_names(program.mesh, op.axes), "tensor");
  }
}

TEST(ContextParallel, gathers_keys_and_values_and_scatters_their_gradients) {
  Job job = job_of(llama3_8b(), {{"context", 4}}, {});
  job.rules = {{"sequence", {"context"}}, {"residual_sequence", {"context"}}};
  const StepProgram program = partition(job);
  const auto forward = collectives(layer_of(program).forward);
  ASSERT_EQ(forward.size(), 1u);
  EXPECT_EQ(forward[0].kind, CollectiveKind::kAllGather);
  EXPECT_DOUBLE_EQ(forward[0].bytes.value, 2.0 * kSequence * 2 * 8 * 128);
  EXPECT_EQ(
      collectives(layer_of(program).backward, CollectiveKind::kReduceScatter, Purpose::kActivation).size(),
      1u);
}

// Weights are cut over both axes and activations over both: the 2D "finalized" sharding of GSPMD.
TEST(TwoDimensional, gathers_activations_over_one_axis_and_weights_over_the_other) {
  Job job = job_of(gpt3_175b(), {{"x", 4}, {"y", 8}}, {});
  job.rules = {{"batch", {"x"}},    {"embed", {"y"}},       {"heads", {"y"}},       {"kv_heads", {"y"}},
               {"ffn", {"y"}},      {"param_embed", {"x"}}, {"param_heads", {"y"}}, {"param_kv_heads", {"y"}},
               {"param_ffn", {"y"}}};
  job.global_batch = 4;
  const StepProgram program = partition(job);
  const auto axes_of = [&](CollectiveKind kind, Purpose purpose) {
    std::vector<std::string> axes;
    for (const CollectiveOp& op : collectives(layer_of(program).forward, kind, purpose)) {
      if (op.bytes.value > 1e6) axes.push_back(axis_names(program.mesh, op.axes));
    }
    return axes;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(axes_of(CollectiveKind::kAllGather, Purpose::kParameter), (Names{"x", "x", "x", "x"}));
  EXPECT_EQ(axes_of(CollectiveKind::kAllGather, Purpose::kActivation), (Names{"y", "y"}));
  EXPECT_EQ(axes_of(CollectiveKind::kReduceScatter, Purpose::kActivation), (Names{"y", "y"}));
  // What is left are the two sums of each norm over the cut embedding.
  EXPECT_EQ(collectives(layer_of(program).forward, CollectiveKind::kAllReduce, Purpose::kActivation).size(),
            4u);
}

TEST(Collectives, an_axis_of_size_one_or_without_rules_moves_nothing) {
  const Job job =
      job_of(llama3_8b(), {{"data", 1}, {"tensor", 1}, {"spare", 4}}, {"data", "megatron_sp", "zero1"});
  const StepProgram program = partition(job);
  for (const Part* part : {&embedding_of(program), &layer_of(program), &head_of(program)}) {
    for (const Block* block :
         {&part->forward, &part->backward, &part->gradient_reduce, &part->parameter_gather}) {
      EXPECT_TRUE(collectives(*block).empty());
    }
  }
}

TEST(Collectives, joining_presets_in_any_order_gives_the_same_program) {
  const std::vector<MeshAxis> axes = {{"data", 2}, {"fsdp", 4}, {"tensor", 2}};
  const StepProgram one = partition(job_of(llama3_8b(), axes, {"data", "fsdp", "megatron_sp"}));
  const StepProgram two = partition(job_of(llama3_8b(), axes, {"megatron_sp", "fsdp", "data"}));
  const auto a = collectives(layer_of(one).backward), b = collectives(layer_of(two).backward);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tensor, b[i].tensor);
    EXPECT_EQ(a[i].axes, b[i].axes);
    EXPECT_EQ(a[i].bytes, b[i].bytes);
  }
}

}  // namespace
}  // namespace podsim::testing::collectives_test
