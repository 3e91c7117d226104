// How one operation is cut: which of its letters each mesh axis shards.
#include "workload/plan.h"

#include <algorithm>
#include <limits>

namespace podsim {
namespace {

std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }
bool contains(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

std::string letters_of(const Operation& op) {
  std::string all;
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *operands) {
      for (char letter : operand.letters) {
        if (!contains(all, letter)) all += letter;
      }
    }
  }
  return all;
}

// [letter 'a'..'z'] tensors of the operation that lie on the axis along that letter.
std::array<int, 26> votes(const PlanContext& context, const Operation& op, AxisSet axis) {
  std::array<int, 26> count{};
  const auto cast = [&](const Operand& operand, const Sharding& sharding) {
    for (std::size_t i = 0; i < operand.letters.size(); ++i) {
      if (sharding.dims[i] & axis) ++count[static_cast<std::size_t>(operand.letters[i] - 'a')];
    }
  };
  for (const Operand& input : op.inputs) cast(input, context.available[at(input.tensor)].front());
  for (const Operand& output : op.outputs) {
    const Tensor& tensor = context.tensors[at(output.tensor)];
    if (tensor.constrained) cast(output, ruled_sharding(context.job, tensor));
  }
  for (char letter : op.whole) count[static_cast<std::size_t>(letter - 'a')] = 0;
  return count;
}

constexpr char kNone = 0;
// A weight gathered for forward is gathered again for backward, and its gradient is scattered.
constexpr double kWeightTransfers = 3;

// Letters among which an axis chooses; kNone = the axis cuts nothing.
std::vector<char> candidates(const PlanContext& context, const Operation& op, AxisSet axis) {
  const std::array<int, 26> count = votes(context, op, axis);
  const int most = *std::max_element(count.begin(), count.end());
  std::vector<char> letters, leading;
  for (char letter : letters_of(op)) {
    const int votes_here = count[static_cast<std::size_t>(letter - 'a')];
    if (votes_here > 0) letters.push_back(letter);
    if (votes_here == most) leading.push_back(letter);
  }
  if (most >= 2 && leading.size() == 1) return leading;
  letters.push_back(kNone);
  return letters;
}

double local_flops(const PlanContext& context, const Operation& op, const LetterAxes& plan) {
  double product = 1;
  std::string seen;
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *operands) {
      for (char letter : operand.letters) {
        if (contains(seen, letter)) continue;
        seen += letter;
        product *= local_letter(context, operand, letter, plan);
      }
    }
  }
  return 2 * product;
}

double plan_cost(const PlanContext& context, const Operation& op, const LetterAxes& plan) {
  const AxisSet carried = carried_axes(context, op);
  double cost = 0;
  for (const Operand& input : op.inputs) {
    const double weight = is_parameter(context.tensors[at(input.tensor)]) ? kWeightTransfers : 1;
    for (const ReshardStep& step :
         cheapest_reshard(context, input.tensor, required_sharding(input, plan, carried))) {
      cost += weight * reshard_cost(context.job.mesh, step, context.costs);
    }
  }
  for (const ReshardStep& step : statistics_steps(context, op, plan)) {
    cost += reshard_cost(context.job.mesh, step, context.costs);
  }
  for (const Operand& output : op.outputs) {
    const Sharding natural = natural_sharding(op, output, plan, carried);
    const Sharding kept = kept_sharding(context, output, natural);
    for (const ReshardStep& step :
         reshard(context.job.mesh, context.tensors[at(output.tensor)], natural, kept)) {
      cost += reshard_cost(context.job.mesh, step, context.costs);
    }
  }
  const bool multiplies = op.kind == OperationKind::kEinsum || op.kind == OperationKind::kAttention;
  if (multiplies && context.costs.flop_rate.value > 0) {
    cost += seconds_at(Flops{local_flops(context, op, plan)}, context.costs.flop_rate);
  }
  return cost;
}

}  // namespace

AxisSet carried_axes(const PlanContext& context, const Operation& op) {
  if (op.kind != OperationKind::kSum) return 0;
  AxisSet carried = ~AxisSet{0};
  for (const Operand& input : op.inputs) carried &= context.available[at(input.tensor)].front().unreduced;
  return carried;
}

Sharding required_sharding(const Operand& input, const LetterAxes& plan, AxisSet carried) {
  Sharding sharding{.dims = {}, .unreduced = carried};
  for (char letter : input.letters) sharding.dims.push_back(plan[letter]);
  return sharding;
}

Sharding natural_sharding(const Operation& op, const Operand& output, const LetterAxes& plan,
                          AxisSet carried) {
  Sharding sharding = required_sharding(output, plan, carried);
  for (const Operand& input : op.inputs) {
    for (char letter : input.letters) {
      if (!contains(output.letters, letter) && !contains(op.statistics, letter))
        sharding.unreduced |= plan[letter];
    }
  }
  return sharding;
}

Sharding kept_sharding(const PlanContext& context, const Operand& output, const Sharding& natural) {
  const Tensor& tensor = context.tensors[at(output.tensor)];
  if (!tensor.constrained) return natural;
  Sharding kept = ruled_sharding(context.job, tensor);
  if (tensor.role == TensorRole::kParameterGradient) kept.unreduced = natural.unreduced & ~kept.sharded();
  return kept;
}

std::vector<ReshardStep> cheapest_reshard(const PlanContext& context, TensorId tensor, const Sharding& to) {
  std::vector<ReshardStep> best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const Sharding& from : context.available[at(tensor)]) {
    std::vector<ReshardStep> steps = reshard(context.job.mesh, context.tensors[at(tensor)], from, to);
    double cost = 0;
    for (const ReshardStep& step : steps) cost += reshard_cost(context.job.mesh, step, context.costs);
    if (cost < best_cost) {
      best_cost = cost;
      best = std::move(steps);
    }
  }
  return best;
}

std::vector<ReshardStep> statistics_steps(const PlanContext& context, const Operation& op,
                                          const LetterAxes& plan) {
  AxisSet axes = 0;
  for (char letter : op.statistics) axes |= plan[letter];
  if (axes == 0) return {};
  double values = 1;
  for (char letter : op.inputs.front().letters) {
    if (!contains(op.statistics, letter)) values *= local_letter(context, op.inputs.front(), letter, plan);
  }
  constexpr double kFp32Bytes = 4;
  return std::vector<ReshardStep>(static_cast<std::size_t>(op.reductions),
                                  {CollectiveKind::kAllReduce, axes, Bytes{values * kFp32Bytes}});
}

double local_letter(const PlanContext& context, const Operand& operand, char letter, const LetterAxes& plan) {
  const std::size_t index = operand.letters.find(letter);
  return local_size(context.job.mesh, context.tensors[at(operand.tensor)].dims[index], plan[letter]);
}

LetterAxes plan_operation(const PlanContext& context, const Operation& op) {
  const AxisSet carried = carried_axes(context, op);
  std::vector<AxisSet> axes;
  std::vector<std::vector<char>> choices;
  for (std::size_t i = 0; i < context.job.mesh.axes.size(); ++i) {
    const AxisSet axis = axis_bit(static_cast<int>(i));
    if (axis & carried) continue;
    axes.push_back(axis);
    choices.push_back(candidates(context, op, axis));
  }
  LetterAxes best;
  double best_cost = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> choice(axes.size(), 0);
  while (true) {
    LetterAxes plan;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (const char letter = choices[i][choice[i]]; letter != kNone) plan[letter] |= axes[i];
    }
    const double cost = plan_cost(context, op, plan);
    if (cost < best_cost) {
      best_cost = cost;
      best = plan;
    }
    std::size_t i = 0;
    while (i < axes.size() && ++choice[i] == choices[i].size()) choice[i++] = 0;
    if (i == axes.size()) return best;
  }
}

}  // namespace podsim
