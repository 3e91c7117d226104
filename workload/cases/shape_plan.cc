// Shape operations by the general planners: rules say which cuts are possible, halos are added per cut.
#include "workload/cases/shape_plan.h"

#include <algorithm>

#include "workload/op_planning/halo_steps.h"

namespace podsim {
namespace {

OpProblem case_problem(OpRule rule, const std::vector<const CaseTensor*>& operands,
                       const CaseTensor& output) {
  OpProblem problem{.rule = std::move(rule), .operands = {}, .results = {}};
  for (const CaseTensor* operand : operands)
    problem.operands.push_back({.shape = shape_of(*operand), .available = {operand->layout}});
  problem.results.push_back({.shape = shape_of(output), .wanted = output.layout});
  return problem;
}

// Every axis that `to` has on a dimension was there before, or on none: nothing moves between dimensions.
bool stays_in_place(const Layout& from, const Layout& to) {
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    for (std::size_t other = 0; other < from.dims.size(); ++other) {
      if (d != other && overlap(from.dims[other], to.dims[d])) return false;
    }
  }
  return true;
}

PlanStep all_reduce(const TensorShape& shape, const Layout& partial) {
  Layout whole = partial;
  whole.unreduced.clear();
  const Bytes bytes = local_bytes(shape, partial);
  return {.kind = StepKind::kAllReduce,
          .axes = partial.unreduced,
          .after = whole,
          .operand = bytes,
          .result = bytes,
          .sent = sent_bytes(CollectiveKind::kAllReduce, shard_count(partial.unreduced), bytes)};
}

}  // namespace

PlanStep compute_step(const Layout& natural) {
  return {.kind = StepKind::kCompute, .after = natural, .operand = {}, .result = {}, .sent = {}};
}

CasePlan named_plan(const OpPlan& plan, const std::vector<std::string>& operands) {
  CasePlan named;
  named.flops = plan.flops;
  for (std::size_t i = 0; i < operands.size(); ++i) named.add(operands[i], plan.operand_steps[i]);
  named.add("output", {compute_step(plan.natural[0])});
  named.add("output", plan.result_steps[0]);
  return named;
}

CasePlan plan_shift(const Mesh& mesh, const ShiftQuestion& question, const CostModel& cost) {
  const CaseTensor &input = question.input, &output = question.output;
  std::vector<bool> changed;
  for (const Window& w : question.windows)
    changed.push_back(w.stride != 1 || w.base_dilation != 1 || w.pad_low != 0 ||
                      w.input != output.dims[static_cast<std::size_t>(w.dim)]);
  OpProblem problem = case_problem(shift_rule(input.dims, output.dims, changed), {&input}, output);
  problem.flops_per_point = 0;
  for (std::size_t d = 0; d < changed.size(); ++d) {
    Factor& factor = problem.rule.factors[static_cast<std::size_t>(problem.rule.operands[0][d][0])];
    factor.size = std::max(input.dims[d], output.dims[d]);
  }
  problem.prepare = [&, shape = shape_of(input)](
                        std::size_t, const std::vector<AxisList>&,
                        const Layout& layout) -> std::optional<std::vector<PlanStep>> {
    HaloSteps halos(shape, layout);
    for (std::size_t d = 0; d < changed.size(); ++d) {
      if (changed[d] && !halos.add(question.windows[d], output.dims[d], static_cast<int>(d), layout.dims[d]))
        return std::nullopt;
    }
    return halos.steps();
  };
  return named_plan(plan_op(mesh, problem, cost), {"input"});
}

CasePlan plan_rearranged(const Mesh& mesh, const RearrangeQuestion& question, const CostModel& cost) {
  const CaseTensor &input = question.input, &output = question.output;
  OpRule rule = question.how == RearrangeQuestion::How::kReshape ? reshape_rule(input.dims, output.dims)
                : question.how == RearrangeQuestion::How::kTranspose
                    ? transpose_rule(input.dims, question.dims)
                    : reduce_rule(input.dims, question.dims);
  OpProblem problem = case_problem(std::move(rule), {&input}, output);
  problem.flops_per_point = 0;
  return named_plan(plan_op(mesh, problem, cost), {"input"});
}

CasePlan plan_concatenate(const Mesh& mesh, const ConcatenateQuestion& question, const CostModel& cost) {
  std::vector<std::vector<std::int64_t>> dims;
  std::vector<const CaseTensor*> inputs;
  std::vector<std::string> names;
  for (const CaseTensor& input : question.inputs) {
    names.push_back("input" + std::to_string(dims.size()));
    dims.push_back(input.dims);
    inputs.push_back(&input);
  }
  OpProblem problem = case_problem(concatenate_rule(dims, question.dim), inputs, question.output);
  problem.flops_per_point = 0;
  return named_plan(plan_op(mesh, problem, cost), names);
}

CasePlan plan_embedding(const Mesh& mesh, const EmbeddingQuestion& question, const CostModel& cost) {
  const CaseTensor& table = question.table;
  OpProblem problem = case_problem(gather_rule(table.dims, question.indices.dims),
                                   {&table, &question.indices}, question.output);
  problem.flops_per_point = 0;
  problem.prepare = [&](std::size_t operand, const std::vector<AxisList>&,
                        const Layout& layout) -> std::optional<std::vector<PlanStep>> {
    if (operand == 0 && !stays_in_place(table.layout, layout)) return std::nullopt;
    return std::vector<PlanStep>{};
  };
  return named_plan(plan_op(mesh, problem, cost), {"table", "indices"});
}

CasePlan plan_softmax(const Mesh& mesh, const SoftmaxQuestion& question, const CostModel& cost) {
  const CaseTensor &input = question.input, &output = question.output;
  const TensorShape shape = shape_of(input);
  const auto along = static_cast<std::ptrdiff_t>(question.dim);
  // One value per row; where the dimension is cut, each device has its share of every row's.
  const auto statistic = [&](const Layout& rows) {
    Layout layout = rows;
    layout.unreduced = canonical(layout.dims[static_cast<std::size_t>(along)]);
    layout.dims.erase(layout.dims.begin() + along);
    return layout;
  };
  const auto plan_at = [&](const Layout& rows) {
    CasePlan plan;
    plan.add("input", plan_reshard(mesh, shape, input.layout, rows, cost));
    TensorShape reduced = shape;
    reduced.dims.erase(reduced.dims.begin() + along);
    const Layout partial = statistic(rows);
    for (const char* name : {"max", "sum"}) {
      plan.add(name, {compute_step(partial)});
      if (!partial.unreduced.empty()) plan.add(name, {all_reduce(reduced, partial)});
    }
    plan.add("output", {compute_step(rows)});
    plan.add("output", plan_reshard(mesh, shape, rows, output.layout, cost));
    return plan;
  };
  const auto cost_of = [&](const CasePlan& plan) {
    std::vector<PlanStep> steps;
    for (const CaseStep& s : plan.steps) steps.push_back(s.step);
    return total_cost(steps, cost);
  };
  // Where the input lies, where the output is wanted, or wherever whole rows are cheapest.
  OpProblem problem = case_problem(whole_dim_rule(input.dims, {question.dim}, 1), {&input}, output);
  problem.flops_per_point = 0;
  Layout as_input = input.layout, as_output = output.layout;
  as_input.unreduced.clear();
  as_output.unreduced.clear();
  CasePlan best = plan_at(as_input);
  for (const Layout& rows : {as_output, plan_op(mesh, problem, cost).required[0]}) {
    CasePlan plan = plan_at(rows);
    if (cost_of(plan) < cost_of(best)) best = std::move(plan);
  }
  return best;
}

}  // namespace podsim
