// Each question to its planner; contractions, resharding and propagation are asked here.
#include "workload/cases/plan_case.h"

#include <algorithm>

#include "workload/cases/parallel_patterns.h"
#include "workload/cases/shape_plan.h"
#include "workload/sharding/propagate.h"

namespace podsim {
namespace {

// The collective beside the computation that moves most goes round a ring, one on either side at most: a loop
// of partial products passes on one tensor.
void make_window(CasePlan& plan, double threshold_bytes) {
  const auto compute = std::find_if(plan.steps.begin(), plan.steps.end(),
                                    [](const CaseStep& s) { return s.step.kind == StepKind::kCompute; });
  CaseStep* best = nullptr;
  const auto consider = [&](CaseStep& s, Bytes whole) {
    if (whole.value < threshold_bytes || s.step.from_dims.size() + s.step.to_dims.size() != 1) return;
    if (best == nullptr || best->step.sent.value < s.step.sent.value) best = &s;
  };
  for (auto s = plan.steps.begin(); s < compute; ++s) {
    const bool last_of_tensor = s + 1 == compute || (s + 1)->tensor != s->tensor;
    if (last_of_tensor && s->step.kind == StepKind::kAllGather) consider(*s, s->step.result);
  }
  const auto after = compute + 1;
  if (after < plan.steps.end() && after->step.kind == StepKind::kReduceScatter)
    consider(*after, after->step.operand);
  if (best != nullptr) best->step = as_ring(best->step);
}

CasePlan plan_einsum(const Mesh& mesh, const EinsumQuestion& question, const CostModel& cost) {
  const CaseTensor &lhs = question.lhs, &rhs = question.rhs, &output = question.output;
  OpProblem problem{.rule = einsum_rule(question.operand_letters, {question.result_letters},
                                        {lhs.dims, rhs.dims}, {output.dims}),
                    .operands = {},
                    .results = {}};
  for (const CaseTensor* operand : {&lhs, &rhs})
    problem.operands.push_back({.shape = shape_of(*operand), .available = {operand->layout}});
  problem.results.push_back({.shape = shape_of(output), .wanted = output.layout});
  CasePlan plan = named_plan(plan_op(mesh, problem, cost), {"lhs", "rhs"});
  if (question.windowed) make_window(plan, question.window_threshold_bytes);
  return plan;
}

CasePlan plan_sequence(const Mesh& mesh, const SequenceQuestion& question, const CostModel& cost) {
  CasePlan all;
  for (const auto& [name, step] : question.steps) {
    CasePlan plan = plan_einsum(mesh, step, cost);
    for (CaseStep& each : plan.steps) each.tensor = name + "." + each.tensor;
    all.steps.insert(all.steps.end(), plan.steps.begin(), plan.steps.end());
    all.flops += plan.flops;
  }
  return all;
}

CasePlan plan_propagate(const Mesh& mesh, const PropagateQuestion& question) {
  const std::vector<std::string>& operands = question.operand_letters;
  const auto split = question.dims.begin() + static_cast<std::ptrdiff_t>(operands.size());
  ShardedOp op;
  if (operands.empty()) {
    op.rule = reshape_rule(question.dims[0], question.dims[1]);
  } else {
    std::vector<std::string> all = operands;
    all.insert(all.end(), question.result_letters.begin(), question.result_letters.end());
    const bool elementwise =
        question.result_letters.size() == 1 &&
        std::all_of(all.begin(), all.end(), [&](const std::string& term) { return term == all.front(); });
    op.rule = elementwise ? elementwise_rule(question.dims[0], static_cast<int>(operands.size()))
                          : einsum_rule(operands, question.result_letters, {question.dims.begin(), split},
                                        {split, question.dims.end()});
  }
  const std::size_t inputs = operands.empty() ? 1 : operands.size();
  std::vector<ShardedTensor> tensors;
  for (std::size_t t = 0; t < question.dims.size(); ++t) {
    tensors.push_back({"tensor" + std::to_string(t), question.dims[t], question.annotations[t]});
    (t < inputs ? op.operands : op.results).push_back(static_cast<int>(t));
  }
  CasePlan plan;
  plan.propagated = propagate(mesh, tensors, {op}).annotations;
  return plan;
}

struct Planner {
  const Mesh& mesh;
  const CostModel& cost;

  CasePlan operator()(const Unplanned& question) const { return {.error = question.reason}; }
  CasePlan operator()(const ReshardQuestion& question) const {
    CasePlan plan;
    plan.add("x",
             plan_reshard(mesh, shape_of(question.from), question.from.layout, question.to.layout, cost));
    return plan;
  }
  CasePlan operator()(const EinsumQuestion& question) const { return plan_einsum(mesh, question, cost); }
  CasePlan operator()(const PropagateQuestion& question) const { return plan_propagate(mesh, question); }
  CasePlan operator()(const ConvolutionQuestion& question) const {
    return plan_convolution(mesh, question, cost);
  }
  CasePlan operator()(const ShiftQuestion& question) const { return plan_shift(mesh, question, cost); }
  CasePlan operator()(const RearrangeQuestion& question) const {
    return plan_rearranged(mesh, question, cost);
  }
  CasePlan operator()(const SequenceQuestion& question) const { return plan_sequence(mesh, question, cost); }
  CasePlan operator()(const GatheredAttentionQuestion& question) const {
    return plan_gathered_attention(mesh, question, cost);
  }
  CasePlan operator()(const ConcatenateQuestion& question) const {
    return plan_concatenate(mesh, question, cost);
  }
  CasePlan operator()(const EmbeddingQuestion& question) const {
    return plan_embedding(mesh, question, cost);
  }
  CasePlan operator()(const SoftmaxQuestion& question) const { return plan_softmax(mesh, question, cost); }
  CasePlan operator()(const OptimizerStepQuestion& question) const {
    return plan_optimizer_step(mesh, question, cost);
  }
  CasePlan operator()(const RingAttentionQuestion& question) const {
    return plan_ring_attention(mesh, question, cost);
  }
  CasePlan operator()(const UlyssesQuestion& question) const {
    return plan_ulysses_attention(mesh, question, cost);
  }
  CasePlan operator()(const ShiftPipelineQuestion& question) const {
    return plan_shift_pipeline(mesh, question, cost);
  }
};

}  // namespace

CasePlan plan_case(const ShardCase& question, const CostModel& cost) {
  return std::visit(Planner{question.mesh, cost}, question.question);
}

}  // namespace podsim
