// What was decided about one operation, told for people.
#include "workload/partition/record_operation.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/index.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

const char* kind_name(OperationKind kind) {
  constexpr std::array kNames = {"einsum", "attention", "elementwise", "sum",         "embedding",
                                 "loss",   "route",     "dispatch",    "combine",     "convolution",
                                 "reduce", "reshape",   "transpose",   "concatenate", "shift"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* purpose_name(const Tensor& tensor) {
  if (tensor.role == TensorRole::kParameter) return "parameter";
  return tensor.role == TensorRole::kParameterGradient ? "gradient" : "activation";
}

// The logical name of the first dimension that has the letter, or the letter.
std::string letter_name(const PlanContext& context, const Operation& op, char letter) {
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *operands) {
      const std::vector<std::string> dims = dim_letters(operand);
      const auto dim = std::find(dims.begin(), dims.end(), std::string(1, letter));
      if (dim == dims.end()) continue;
      const std::string& logical =
          context.tensor(operand.tensor).dims[std::size_t(dim - dims.begin())].logical;
      if (!logical.empty()) return logical;
    }
  }
  return std::string(1, letter);
}

// "b: data+fsdp, d: tensor", with the logical name of a letter where a tensor has one.
std::string cut_text(const PlanContext& context, const Operation& op, const std::vector<AxisList>& factors) {
  const std::string letters = letters_of(op);
  std::string text;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (factors[i].empty()) continue;
    text += (text.empty() ? "" : ", ") + letter_name(context, op, letters[i]) + ": " +
            to_string(context.job.mesh, factors[i]);
  }
  return text.empty() ? "whole on every device" : text;
}

TensorRecord tensor_record(const PlanContext& context, const Operand& operand, const Layout& layout,
                           const std::string& origin) {
  const Tensor& tensor = context.tensor(operand.tensor);
  TensorRecord record{.name = tensor.name, .sharding = to_string(context.job.mesh, layout), .origin = origin};
  const std::vector<std::string> letters = dim_letters(operand);
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    const TensorDim& dim = tensor.dims[i];
    record.dims.push_back(dim.logical.empty() ? letters[i] : dim.logical);
    record.global.push_back(local_size(dim, {}));
    record.local.push_back(local_size(dim, layout.dims[i]));
  }
  return record;
}

// Where the layout of a tensor came from: its annotation, a rule for one of its dimensions, propagation, or
// the operation that made it.
std::string origin_of(const PlanContext& context, const Tensor& tensor) {
  if (!tensor.constrained) return "as computed";
  if (!tensor.origin.empty()) return tensor.origin;
  if (tensor.annotation) return "annotation";
  std::string rules;
  for (const TensorDim& dim : tensor.dims) {
    if (ruled_axes(context.job, dim.logical).empty()) continue;
    rules += (rules.empty() ? "rule " : ", ") + ruling_dimension(context.job, dim.logical);
  }
  return rules.empty() ? "no rule" : rules;
}

void add_collectives(const PlanContext& context, const SharedMessages& cost, const std::string& tensor,
                     const char* purpose, const std::vector<PlanStep>& steps,
                     std::vector<CollectiveRecord>& out) {
  for (const PlanStep& step : steps) {
    const auto kind = collective_of(step.kind);
    if (!kind) continue;
    out.push_back({.tensor = tensor,
                   .kind = *kind,
                   .axes = to_string(context.job.mesh, step.axes),
                   .group_size = shard_count(step.axes),
                   .count = step.count,
                   .bytes = collective_bytes(step),
                   .sent = step.sent,
                   .seconds = cost.collective(*kind, step.axes, collective_bytes(step)),
                   .purpose = purpose,
                   .shared = cost.shares(*kind, step.axes)});
  }
}

// Costs are seconds on a fabric, else bytes sent.
std::string why_lost(const PlanContext& context, const PlanCost& lost, const OperationPlan& chosen) {
  const PlanCost& best = chosen.moves.cost;
  char text[96];
  const char* unit = context.cost.timed() ? "time" : "bytes sent";
  if (lost.value < best.value) {
    std::snprintf(
        text, sizeof text, "%.3g x the %s, but %s", lost.value / best.value, unit,
        chosen.for_others ? "operations after it would lose more" : "the tensors' shardings say otherwise");
    return text;
  }
  if (lost.value > best.value) {
    if (best.value > 0) {
      std::snprintf(text, sizeof text, "%.3g x the %s", lost.value / best.value, unit);
      return text;
    }
    return std::string("costs ") + unit + ", the chosen plan none";
  }
  if (lost.bytes > best.bytes) return "the same " + std::string(unit) + ", more bytes sent";
  if (lost.flops > best.flops) return "the same " + std::string(unit) + ", more computation";
  return "the same cost, later in order";
}

}  // namespace

OperationRecord record_operation(const PlanContext& context, const std::string& part, const Operation& op,
                                 const std::string& suffix, const OperationPlan& plan) {
  const OpPlan& moves = plan.moves;
  OperationRecord record{.part = part,
                         .name = op.name + suffix,
                         .kind = kind_name(op.kind),
                         .backward = op.backward,
                         .cut = cut_text(context, op, moves.factors),
                         .flops = multiplies(op) ? moves.flops : 0,
                         .seconds = context.cost.timed() ? moves.cost.value - moves.owed : 0};
  const auto add = [&](TensorId id, const std::vector<PlanStep>& steps) {
    const Tensor& tensor = context.tensor(id);
    const SharedMessages shared(context.cost, shared_axes(context, id));
    add_collectives(context, shared, tensor.name, purpose_name(tensor), steps, record.collectives);
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const Tensor& tensor = context.tensor(op.inputs[i].tensor);
    const Layout& left = context.available[at(op.inputs[i].tensor)].front();
    record.operands.push_back(tensor_record(context, op.inputs[i], left, origin_of(context, tensor)));
    add(op.inputs[i].tensor, moves.operand_steps[i]);
  }
  add_collectives(context, SharedMessages(context.cost, {}), op.name + " statistics", "activation",
                  moves.statistics, record.collectives);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const Tensor& tensor = context.tensor(op.outputs[i].tensor);
    record.results.push_back(
        tensor_record(context, op.outputs[i], moves.kept[i], origin_of(context, tensor)));
    add(op.outputs[i].tensor, moves.result_steps[i]);
  }
  for (const Alternative& lost : moves.alternatives) {
    record.alternatives.push_back({.cut = cut_text(context, op, lost.factors),
                                   .seconds = context.cost.timed() ? lost.cost.value : 0,
                                   .sent = Bytes{lost.cost.bytes},
                                   .why = why_lost(context, lost.cost, plan)});
  }
  return record;
}

}  // namespace podsim
