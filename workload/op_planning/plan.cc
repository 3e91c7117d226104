// How one operation of a graph is cut: which of its letters each mesh axis shards, and what that moves.
#include "workload/op_planning/plan.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/contains.h"
#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/model/apply_precision.h"
#include "workload/op_planning/known_plans.h"
#include "workload/op_planning/operation_halos.h"

namespace podsim {
namespace {

// Axes over which every input of a sum is partial; they pass through.
AxisList carried_axes(const PlanContext& context, const Operation& op) {
  if (op.kind != OperationKind::kSum || op.drops_from >= 0) return {};
  AxisList carried = context.available[at(op.inputs.front().tensor)].front().unreduced;
  for (const Operand& input : op.inputs) {
    const AxisList& partial = context.available[at(input.tensor)].front().unreduced;
    std::erase_if(carried, [&](const AxisRef& axis) { return !contains(partial, axis); });
  }
  return carried;
}

// How an output is to be kept; nothing = as the operation leaves it.
std::optional<Layout> wanted_layout(const PlanContext& context, TensorId id) {
  if (!context.tensor(id).constrained) return std::nullopt;
  return context.ruled[at(id)];
}

// [factor] tensors of the operation that lie on the axis along that factor.
using Votes = std::array<int, 26>;

Votes votes(const OpProblem& problem, const AxisRef& axis) {
  Votes count{};
  const auto cast = [&](const FactorMap& map, const Layout& layout) {
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (contains(layout.dims[i], axis)) ++count[at(map[i].front())];
    }
  };
  for (std::size_t i = 0; i < problem.operands.size(); ++i)
    cast(problem.rule.operands[i], problem.operands[i].available.front());
  for (std::size_t i = 0; i < problem.results.size(); ++i) {
    if (problem.results[i].wanted) cast(problem.rule.results[i], *problem.results[i].wanted);
  }
  return count;
}

// The factor on which the tensors agree, or -1.
int agreed_factor(const Votes& count) {
  const auto most = std::max_element(count.begin(), count.end());
  if (*most < 2 || std::count(count.begin(), count.end(), *most) > 1) return -1;
  return static_cast<int>(most - count.begin());
}

// Axes that can cut an operation: those that its operands are partial over stay as they are.
AxisList free_axes(const PlanContext& context, const OpProblem& problem) {
  AxisList axes;
  for (std::size_t i = 0; i < context.job.mesh.axes.size(); ++i) {
    const AxisRef axis = whole_axis(context.job.mesh, static_cast<int>(i));
    if (axis.size > 1 && !contains(problem.carried, axis)) axes.push_back(axis);
  }
  return axes;
}

// Axes that the tensors' shardings settle. An axis on which no tensor lies cuts nothing.
void settle_axes(const PlanContext& context, const Operation& op, OpProblem& problem) {
  const std::string letters = letters_of(op);
  for (const AxisRef& axis : free_axes(context, problem)) {
    Votes count = votes(problem, axis);
    for (std::size_t factor = 0; factor < letters.size(); ++factor)
      if (has_letter(op.whole, letters[factor])) count[factor] = 0;
    const int factor = agreed_factor(count);
    if (*std::max_element(count.begin(), count.end()) == 0) {
      problem.settled.emplace_back(axis, -1);
    } else if (factor >= 0 && context.job.partitioner == Partitioner::kDeclared) {
      problem.settled.emplace_back(axis, factor);
    }
  }
}

// Of each combination of letters. Attention is two products, half of which a mask leaves; keys and values of
// latent attention have widths of their own, of which each product has one.
double flops_of_point(const PlanContext& context, const Operation& op) {
  if (!multiplies(op)) return 0;
  if (op.kind != OperationKind::kAttention) return 2;
  std::string widths;
  double points = 1;
  const auto width = [&](const Operand& operand) {
    const char letter = operand.letters.back();
    const auto size = static_cast<double>(local_size(context.tensor(operand.tensor).dims.back(), {}));
    if (!has_letter(widths, letter)) points *= size;
    widths += letter;
    return size;
  };
  const double keys = width(op.inputs[0]), values = width(op.backward ? op.inputs[2] : op.outputs[0]);
  for (const auto* operands : {&op.inputs, &op.outputs})
    for (const Operand& operand : *operands) width(operand);
  return (keys + values) / points;
}

OpProblem problem_of(const PlanContext& context, const Operation& op) {
  OpProblem problem;
  // A ring brings the same blocks as a gather: only the way they travel differs (windows.h).
  Operation gathered = op;
  gathered.key_exchange = KeyExchange::kGather;
  problem.rule = rule_of(context.graph, gathered);
  problem.carried = carried_axes(context, op);
  problem.split = AxisSplit::kAsLaidOut;
  problem.flops_per_point = flops_of_point(context, op);
  const bool prefetched = context.job.stack.prefetch_forward > 0 || context.job.stack.prefetch_backward > 0;
  for (const Operand& input : op.inputs) {
    const Tensor& tensor = context.tensor(input.tensor);
    problem.operands.push_back({.shape = {tensor.dims, wire_bytes(context.graph, op, tensor)},
                                .available = context.available[at(input.tensor)],
                                .hidden = is_parameter(tensor) && prefetched,
                                .shared_along = shared_axes(context, input.tensor)});
  }
  for (const Operand& output : op.outputs) {
    const Tensor& tensor = context.tensor(output.tensor);
    problem.results.push_back({.shape = shape_of(tensor),
                               .wanted = wanted_layout(context, output.tensor),
                               .partial_allowed = tensor.role == TensorRole::kParameterGradient,
                               .owes_sums = context.charges_sums &&
                                            tensor.role != TensorRole::kParameterGradient &&
                                            !tensor.constrained,
                               .shared_along = shared_axes(context, output.tensor)});
  }
  std::vector<TensorShape> shapes;
  for (const OpOperand& operand : problem.operands) shapes.push_back(operand.shape);
  problem.prepare = halo_exchanges(problem.rule, std::move(shapes));
  settle_axes(context, op, problem);
  return problem;
}

// Stages of a pipeline hold different tensors, so nothing moves along its axis within one: it counts as one
// device.
Mesh stage_mesh(const Job& job) {
  Mesh mesh = job.mesh;
  if (const int axis = mesh.find(job.pipeline_axis); axis >= 0)
    mesh.axes[static_cast<std::size_t>(axis)].size = 1;
  return mesh;
}

// The dimension that has this letter and no other; -1 where there is none.
int dim_of(const Operand& operand, char letter) {
  const std::string& letters = operand.letters;
  int dim = 0;
  for (std::size_t i = 0; i < letters.size(); ++i, ++dim) {
    const std::size_t first = i;
    if (letters[i] == '(') i = letters.find(')', i);
    if (i == first && letters[i] == letter) return dim;
    if (i == first + 2 && letters[first + 1] == letter) return dim;
  }
  return -1;
}

// The cheapest other plans, those included that the user's shardings rule out.
std::vector<Alternative> other_plans(const PlanContext& context, OpProblem problem, const OpPlan& chosen,
                                     int count) {
  std::erase_if(problem.settled, [](const auto& settled) { return settled.second >= 0; });
  problem.keep_alternatives = count;
  const OpPlan free = plan_op(stage_mesh(context.job), problem, context.cost);
  std::vector<Alternative> others = free.alternatives;
  others.insert(others.begin(), {free.factors, free.cost});
  std::erase_if(others, [&](const Alternative& other) { return other.factors == chosen.factors; });
  if (others.size() > static_cast<std::size_t>(count)) others.resize(static_cast<std::size_t>(count));
  return others;
}

OperationPlan plan_problem(const PlanContext& context, const Operation& op, const OpProblem& problem) {
  OperationPlan plan;
  plan.moves = plan_op(stage_mesh(context.job), problem, context.cost);
  plan.searched = problem.settled.size() < free_axes(context, problem).size();
  const std::string letters = letters_of(op);
  for (std::size_t i = 0; i < letters.size(); ++i) plan.letters[letters[i]] = plan.moves.factors[i];
  return plan;
}

// Alternatives are told to people and not remembered; windows come with a function, which has no key.
template <class Make>
std::shared_ptr<const OperationPlan> remembered(const PlanContext& context, const Operation& op,
                                                const Cut* cut, int alternatives, const Make& make) {
  KnownPlans* known = context.cost.known_plans();
  if (known && alternatives == 0 && op.windows.empty()) return known->plan(context, op, cut, make);
  return std::make_shared<const OperationPlan>(make());
}

}  // namespace

bool multiplies(const Operation& op) {
  return op.kind == OperationKind::kEinsum || op.kind == OperationKind::kAttention ||
         op.kind == OperationKind::kConvolution;
}

AxisList shared_axes(const PlanContext& context, TensorId id) {
  const Tensor& vector = context.tensor(id);
  if (!vector.vector || !context.cost.timed()) return {};
  const AxisList axes = context.ruled[at(id)].sharded();
  for (std::size_t other = 0; other < context.graph.tensors.size(); ++other) {
    const Tensor& tensor = context.graph.tensors[other];
    if (tensor.vector || tensor.role != vector.role) continue;
    if (without(axes, context.ruled[other].sharded()).empty()) return axes;
  }
  return {};
}

std::string letters_of(const Operation& op) {
  std::string all;
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *operands) {
      for (char letter : operand.letters) {
        if (letter >= 'a' && letter <= 'z' && !has_letter(all, letter)) all += letter;
      }
    }
  }
  return all;
}

double local_letter(const PlanContext& context, const Operand& operand, char letter,
                    const LetterAxes& letters) {
  const int dim = dim_of(operand, letter);
  PODSIM_CHECK(dim >= 0, "a letter is a dimension of its own here");
  return local_size(context.tensor(operand.tensor).dims[at(dim)], letters[letter]);
}

std::shared_ptr<const OperationPlan> plan_operation(const PlanContext& context, const Operation& op,
                                                    int alternatives) {
  return remembered(context, op, nullptr, alternatives, [&] {
    const OpProblem problem = problem_of(context, op);
    OperationPlan plan = plan_problem(context, op, problem);
    if (alternatives > 0) plan.moves.alternatives = other_plans(context, problem, plan.moves, alternatives);
    return plan;
  });
}

std::shared_ptr<const OperationPlan> plan_operation(const PlanContext& context, const Operation& op,
                                                    const Cut& cut, int alternatives) {
  return remembered(context, op, &cut, alternatives, [&] {
    const OpProblem asked = problem_of(context, op);
    OpProblem problem = asked;
    problem.settled.clear();
    for (const AxisRef& axis : free_axes(context, problem)) {
      const auto cuts = [&](const AxisList& axes) { return contains(axes, axis); };
      const auto factor = std::find_if(cut.begin(), cut.end(), cuts);
      problem.settled.emplace_back(axis, factor == cut.end() ? -1 : static_cast<int>(factor - cut.begin()));
    }
    OperationPlan plan = plan_problem(context, op, problem);
    plan.for_others = true;
    if (alternatives > 0) plan.moves.alternatives = other_plans(context, asked, plan.moves, alternatives);
    return plan;
  });
}

}  // namespace podsim
