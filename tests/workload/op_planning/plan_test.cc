// The choice of factors, and that any rules give a valid program.
#include "workload/op_planning/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workload/models.h"
#include "workload/op_planning/known_plans.h"
#include "workload/partition/job_validity.h"
#include "workload/sharding/sharding.h"

namespace podsim::testing::plan_test {
namespace {

// m k, k n -> m n with the given logical dimensions, on a mesh of one axis x of 8.
struct Product {
  Job job;
  Graph graph;
  std::vector<Available> available;
  std::vector<Layout> ruled;
  Operation op{.name = "product", .inputs = {{0, "mk"}, {1, "kn"}}, .outputs = {{2, "mn"}}};

  Product(std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<std::string>& lhs,
          const std::vector<std::string>& rhs, const std::vector<std::string>& out) {
    job.mesh = {{{"x", 8}}};
    job.rules = {{"cut", {"x"}}};
    const auto tensor = [&](const std::vector<std::string>& logical, std::int64_t rows,
                            std::int64_t columns) {
      Tensor made{.name = "t", .dims = {{logical[0], {{.size = rows}}}, {logical[1], {{.size = columns}}}}};
      ruled.push_back(ruled_layout(job, made));
      available.push_back({ruled.back()});
      graph.add(std::move(made));
    };
    tensor(lhs, m, k);
    tensor(rhs, k, n);
    tensor(out, m, n);
  }
  LetterAxes plan(const CostModel& cost = SentBytes()) const {
    return plan_operation({job, cost, graph, available, ruled}, op)->letters;
  }
};

// Seconds of a slow network beside slow chips.
class SlowNetwork : public SentBytes {
 public:
  explicit SlowNetwork(double flops_per_s) : rate_(flops_per_s) {}
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    return SentBytes::collective(kind, axes, bytes) / 1e9;
  }
  double compute(Flops flops) const override { return flops.value / rate_; }
  bool timed() const override { return true; }
  double at_least(Bytes) const override { return 0; }

 private:
  double rate_;
};

// The same with a bound: what comes to a device takes its links.
class BoundedNetwork : public SlowNetwork {
 public:
  using SlowNetwork::SlowNetwork;
  double at_least(Bytes received) const override { return received.value / 1e9; }
};

// A slow network whose plans are remembered.
class RememberedNetwork : public SlowNetwork {
 public:
  using SlowNetwork::SlowNetwork;
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    ++asked;
    return SlowNetwork::collective(kind, axes, bytes);
  }
  KnownPlans* known_plans() const override { return &plans_; }
  mutable int asked = 0;

 private:
  mutable KnownPlans plans_;
};

const AxisList kX = {{0, 1, 8}};

bool whole(const LetterAxes& plan) { return plan['m'].empty() && plan['n'].empty() && plan['k'].empty(); }

TEST(Plan, agreement_of_two_tensors_decides) {
  EXPECT_EQ(Product(64, 64, 64, {"cut", ""}, {"cut", ""}, {"cut", ""}).plan()['m'], kX);
  EXPECT_EQ(Product(64, 64, 64, {"", "cut"}, {"cut", ""}, {"cut", ""}).plan()['k'], kX);
}

// Sizes, shardings and what is settled all make another problem.
TEST(Plan, that_is_remembered_is_the_one_that_is_made_and_is_not_made_again) {
  const SlowNetwork network(1e15);
  const RememberedNetwork remembered(1e15);
  const std::vector<std::vector<std::string>> names = {{"cut", ""}, {"", "cut"}, {"", ""}};
  for (const bool again : {false, true}) {
    remembered.asked = 0;
    for (const std::int64_t size : {64, 65536})
      for (const auto& lhs : names)
        for (const auto& rhs : names)
          for (const auto& out : names)
            for (const Partitioner partitioner : {Partitioner::kDeclared, Partitioner::kSearch}) {
              Product product(64, size, 4096, lhs, rhs, out);
              product.job.partitioner = partitioner;
              const LetterAxes made = product.plan(network), known = product.plan(remembered);
              for (const char letter : {'m', 'n', 'k'}) EXPECT_EQ(made[letter], known[letter]) << letter;
            }
    EXPECT_EQ(remembered.asked == 0, again);
  }
}

// The columns agree, but moving the small left operand to the contracted dimension is cheaper.
TEST(Plan, a_search_overrules_agreement_where_that_is_faster) {
  Product product(64, 64, 65536, {"cut", ""}, {"cut", ""}, {"cut", ""});
  const SlowNetwork network(1e15);
  EXPECT_EQ(product.plan(network)['m'], kX);
  product.job.partitioner = Partitioner::kSearch;
  EXPECT_EQ(product.plan(network)['k'], kX);
}

TEST(Plan, disagreement_is_settled_by_time) {
  // Gathering both small operands beats moving the large result, where computing is nearly free.
  const SlowNetwork fast_chips(1e18);
  EXPECT_TRUE(whole(Product(4096, 4096, 8, {"cut", ""}, {"cut", ""}, {"", ""}).plan(fast_chips)));
  // The contracted dimension is long, the result small: partial sums are cheaper than a gathered operand.
  EXPECT_EQ(Product(8, 8, 4096, {"cut", ""}, {"cut", ""}, {"", ""}).plan(fast_chips)['k'], kX);
}

// Cutting the short contracted dimension moves least before the product, and leaves sums of a large result.
TEST(Plan, sums_that_are_left_to_later_operations_are_charged_to_whoever_leaves_them) {
  Product product(4096, 4096, 64, {"cut", ""}, {"", "cut"}, {"", ""});
  product.graph.tensors[2].constrained = false;
  EXPECT_TRUE(product.plan(BoundedNetwork(1e18))['k'].empty());
  product.graph.tensors[2].role = TensorRole::kParameterGradient;  // reduced once at the end of the step
  EXPECT_EQ(product.plan(BoundedNetwork(1e18))['k'], kX);
}

TEST(Plan, replicated_work_is_cut_when_flops_cost_more_than_the_gather) {
  const Product product(4096, 4096, 4096, {"", ""}, {"", "cut"}, {"", ""});
  EXPECT_EQ(product.plan(SlowNetwork(1e9))['n'], kX);
}

TEST(Plan, an_axis_that_no_tensor_has_cuts_nothing) {
  EXPECT_TRUE(whole(Product(64, 64, 64, {"", ""}, {"", ""}, {"", ""}).plan()));
}

// At 64 Ki tokens a device an activation outweighs every weight of the layer, at 64 the other way round.
TEST(Plan, rules_decide_between_weights_and_activations_and_sizes_do_not) {
  const StepProgram tensor = partition(job_of(llama3_8b(), {{"tensor", 8}}, {"megatron_sp"}, 65536));
  EXPECT_TRUE(collectives(layer_of(tensor).forward, CollectiveKind::kAllGather, Purpose::kParameter).empty());
  EXPECT_TRUE(
      collectives(layer_of(tensor).backward, CollectiveKind::kReduceScatter, Purpose::kGradient).empty());
  const StepProgram fsdp = partition(job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"}, 64));
  for (const Block* block : {&layer_of(fsdp).forward, &layer_of(fsdp).backward}) {
    for (const CollectiveOp& op : collectives(*block))
      EXPECT_NE(op.purpose, Purpose::kActivation) << op.tensor;
  }
}

void expect_valid(const StepProgram& program) {
  for (const Part* part : {&embedding_of(program), &layer_of(program), &head_of(program)}) {
    for (const Block* block :
         {&part->forward, &part->backward, &part->gradient_reduce, &part->parameter_gather}) {
      for (const ProgramOp& op : *block) {
        if (const auto* collective = std::get_if<CollectiveOp>(&op)) {
          EXPECT_GT(collective->bytes.value, 0) << collective->tensor;
          EXPECT_NE(collective->axes, 0u) << collective->tensor;
          EXPECT_LT(collective->axes, AxisSet{1} << program.mesh.axes.size()) << collective->tensor;
        } else {
          const auto& compute = std::get<ComputeOp>(op);
          EXPECT_GT(compute.hbm.value, 0) << compute.name;
          EXPECT_GE(compute.flops.value, 0) << compute.name;
        }
      }
    }
    EXPECT_GE(part->parameters, part->local_parameters / 2);
    EXPECT_GE(part->local_parameters, part->local_state);
  }
}

TEST(Partition, senseless_rules_still_give_a_valid_program) {
  const std::vector<std::vector<ShardingRule>> rule_sets = {
      {{"param_embed", {"a"}}},
      {{"embed", {"a"}}, {"param_ffn", {"b"}}},
      {{"head_dim", {"a"}}, {"batch", {"b"}}},
      {{"heads", {"a"}}, {"param_embed", {"a"}}, {"ffn", {"b"}}},
      {{"sequence", {"a"}}, {"param_vocabulary", {"a", "b"}}},
      {{"vocabulary", {"b"}}, {"residual_sequence", {"a"}}, {"state_param_heads", {"b"}}},
      {{"batch", {"a"}}, {"embed", {"b"}}, {"param_embed", {"b"}}, {"param_ffn", {"a"}}},
  };
  for (const Model& model : {llama3_8b(), gpt3_175b(), palm_540b()}) {
    for (const auto& rules : rule_sets) {
      Job job = job_of(model, {{"a", 4}, {"b", 2}}, {});
      job.rules = rules;
      job.global_batch = batch_shards(job);
      ASSERT_TRUE(explain_invalid(job).empty());
      expect_valid(partition(job));
      expect_valid(partition(job, SlowNetwork(1e15)));
    }
  }
}

// A network on which the axis of the pipeline costs nothing, for a planner that would be tempted.
class FreePipeline : public SlowNetwork {
 public:
  FreePipeline() : SlowNetwork(1e15) {}
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    const bool free = std::any_of(axes.begin(), axes.end(), [](const AxisRef& ref) { return ref.axis == 0; });
    return free ? 0 : SlowNetwork::collective(kind, axes, bytes);
  }
};

TEST(Partition, nothing_moves_along_the_pipeline_within_a_stage) {
  for (const std::vector<std::string>& presets :
       {std::vector<std::string>{"fsdp", "megatron_sp"}, {"fsdp", "megatron", "zero1"}}) {
    Job job = job_of(llama3_8b(), {{"pipeline", 4}, {"fsdp", 4}, {"tensor", 2}}, presets);
    job.pipeline_axis = "pipeline";
    for (const Partitioner partitioner : {Partitioner::kDeclared, Partitioner::kSearch}) {
      job.partitioner = partitioner;
      const StepProgram program = partition(job, FreePipeline());
      for (const Part& part : program.parts)
        for (const Block* block :
             {&part.forward, &part.backward, &part.gradient_reduce, &part.parameter_gather})
          for (const CollectiveOp& op : collectives(*block)) EXPECT_EQ(op.axes & 1u, 0u) << op.tensor;
    }
  }
}

TEST(Partition, is_deterministic) {
  const Job job =
      job_of(llama31_405b(), {{"data", 2}, {"fsdp", 16}, {"tensor", 8}}, {"fsdp", "megatron_sp", "zero1"});
  const StepProgram one = partition(job), two = partition(job);
  const auto a = collectives(layer_of(one).backward), b = collectives(layer_of(two).backward);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].bytes, b[i].bytes);
}

}  // namespace
}  // namespace podsim::testing::plan_test
