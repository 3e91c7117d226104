// Which recipe each matmul of a graph runs in, and the bytes that its tensors have on the wire and in memory.
#include "workload/model/apply_precision.h"

#include <algorithm>

#include "engine/contains.h"
#include "workload/job/chip.h"
#include "workload/job/job.h"
#include "workload/job/precision.h"

namespace podsim {
namespace {

bool is_matmul(const Operation& op) {
  return op.kind == OperationKind::kEinsum || op.kind == OperationKind::kConvolution;
}

Tensor& tensor_of(Graph& graph, const Operand& operand) {
  return graph.tensors[static_cast<std::size_t>(operand.tensor)];
}

const PrecisionRecipe* recipe_of(const Job& job, const Operation& op) {
  if (!is_matmul(op)) return nullptr;
  for (const GemmPrecision& own : job.gemm_precision)
    if (own.gemm == op.name) return &own.recipe;
  const bool named = job.precision.gemms.empty() ? op.low_precision : contains(job.precision.gemms, op.name);
  return named ? &job.precision : nullptr;
}

// A weight with several readers is as wide as the widest of them needs it.
void set_weight_bytes(Graph& graph) {
  std::vector<bool> seen(graph.tensors.size(), false);
  const PrecisionRecipe sixteen_bits;
  for (const Operation& op : graph.operations) {
    const PrecisionRecipe& recipe = op.recipe ? *op.recipe : sixteen_bits;
    for (const Operand& input : op.inputs) {
      Tensor& weight = tensor_of(graph, input);
      if (weight.role != TensorRole::kParameter) continue;
      const bool first = !seen[static_cast<std::size_t>(input.tensor)];
      seen[static_cast<std::size_t>(input.tensor)] = true;
      weight.element_bytes = std::max(first ? 0 : weight.element_bytes, recipe.weight_wire_bytes);
      weight.memory_bytes = std::max(first ? 0 : weight.memory_bytes, recipe.weight_bytes);
      if (recipe.weights_cast_once) weight.cast_bytes = recipe.cast_bytes;
    }
  }
}

// What goes one way forward has a gradient that goes the other way backward.
void set_expert_bytes(const PrecisionRecipe& recipe, Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    if (tensor.journey == Journey::kNone) continue;
    const bool to_experts = tensor.journey == Journey::kToExperts;
    tensor.element_bytes = to_experts ? recipe.dispatch_wire_bytes : recipe.combine_wire_bytes;
    tensor.gradient_bytes = to_experts ? recipe.combine_wire_bytes : recipe.dispatch_wire_bytes;
  }
}

// What is frozen may be stored narrow, since no update is added to it.
void set_frozen_bytes(double bytes, Graph& graph) {
  for (Tensor& tensor : graph.tensors)
    if (tensor.frozen && !tensor.vector) tensor.element_bytes = tensor.memory_bytes = bytes;
}

}  // namespace

void apply_precision(const Job& job, Graph& graph) {
  for (Operation& op : graph.operations) op.recipe = recipe_of(job, op);
  set_weight_bytes(graph);
  if (job.adapters && job.adapters->frozen_bytes > 0) set_frozen_bytes(job.adapters->frozen_bytes, graph);
  set_expert_bytes(job.precision, graph);
}

const PrecisionRecipe* running_recipe(const Graph& graph, const Operation& op) {
  if (!op.recipe) return nullptr;
  const auto id = static_cast<std::size_t>(op.outputs.front().tensor);
  const bool of_weight = graph.tensors[id].role == TensorRole::kParameterGradient;
  const bool runs = !op.backward ? op.recipe->forward
                    : of_weight  ? op.recipe->weight_gradient
                                 : op.recipe->input_gradient;
  return runs ? op.recipe : nullptr;
}

double wire_bytes(const Graph& graph, const Operation& op, const Tensor& input) {
  const PrecisionRecipe* recipe = running_recipe(graph, op);
  const bool has_bytes_of_its_own = input.role != TensorRole::kActivation || input.journey != Journey::kNone;
  if (!recipe || has_bytes_of_its_own) return input.element_bytes;
  return std::min(input.element_bytes, recipe->activation_wire_bytes);
}

double kept_bytes(const Graph& graph, const std::vector<Operation>& backward,
                  const std::vector<Operation>& again, TensorId activation) {
  const double whole = graph.tensors[static_cast<std::size_t>(activation)].element_bytes;
  double widest = 0;
  for (const auto* operations : {&backward, &again}) {
    for (const Operation& op : *operations) {
      const auto reads = [&](const Operand& input) { return input.tensor == activation; };
      if (std::none_of(op.inputs.begin(), op.inputs.end(), reads)) continue;
      const PrecisionRecipe* recipe = running_recipe(graph, op);
      widest = std::max(widest, recipe ? std::min(whole, recipe->kept_bytes) : whole);
    }
  }
  return widest > 0 ? widest : whole;
}

std::vector<std::string> matmul_names(const ModelProgram& model) {
  std::vector<std::string> names;
  for (const ModelPart& part : model.parts) {
    for (const Operation& op : part.graph.operations)
      if (is_matmul(op) && !contains(names, op.name)) names.push_back(op.name);
  }
  return names;
}

FlopRate fastest_matmuls(const Job& job, const Chip& chip) {
  const auto sustained = [&](Dtype dtype) { return chip.matmul.at(dtype).reached(); };
  FlopRate fastest = sustained(job.precision.dtype);
  for (const GemmPrecision& own : job.gemm_precision)
    fastest = std::max(fastest, sustained(own.recipe.dtype));
  return fastest;
}

}  // namespace podsim
