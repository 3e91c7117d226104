// Propagation over a piece of the model: which layout every tensor of a graph gets, and why.
#include "workload/sharding/propagate_graph.h"

#include <algorithm>
#include <utility>

#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// A rule that names axes of size 1 alone cuts nothing, and says nothing; one without axes replicates.
bool says_anything(const Job& job, const ShardingRule& rule) {
  return rule.axes.empty() || std::ranges::any_of(rule.axes, [&](const std::string& name) {
           const int axis = job.mesh.find(name);
           return axis >= 0 && job.mesh.axes[at(axis)].size > 1;
         });
}

bool ruled(const Job& job, const Tensor& tensor) {
  return !tensor.annotation && tensor.constrained &&
         std::ranges::any_of(job.rules, [&](const ShardingRule& rule) { return says_anything(job, rule); });
}

bool spoken_of(const Job& job, const TensorDim& dim) {
  const std::string ruling = ruling_dimension(job, dim.logical);
  return std::ranges::any_of(job.rules, [&](const ShardingRule& rule) {
    return rule.dimension == ruling && says_anything(job, rule);
  });
}

// What put the axis on a dimension of a tensor before anything was propagated.
std::string said_by(const Job& job, const Tensor& tensor, std::size_t dim, const AxisRef& axis) {
  if (!ruled(job, tensor)) return "annotation";
  const std::string own = tensor.dims[dim].logical, gradient = "gradient_" + own;
  const bool of_gradient = !overlap(ruled_axes(job, own), {axis});
  return "rule " + ruling_dimension(job, of_gradient ? gradient : own);
}

// Those by which rules cut activations otherwise than by the batch.
AxisList axes_within_samples(const Job& job) {
  AxisSet axes = 0;
  for (const ShardingRule& rule : job.rules)
    if (rule.dimension.find("param_") == std::string::npos) axes |= axes_on(job, rule.dimension);
  axes &= ~axes_on(job, "batch");
  AxisList list;
  for (int axis = 0; axis < static_cast<int>(job.mesh.axes.size()); ++axis)
    if (axes & axis_bit(axis)) list.push_back(whole_axis(job.mesh, axis));
  return list;
}

Annotation said_of(const Job& job, const Tensor& tensor) {
  if (tensor.annotation) return *tensor.annotation;
  // In the user's own program a tensor of which no rule speaks is open.
  const bool silent = job.program.has_value() && std::ranges::none_of(tensor.dims, [&](const TensorDim& dim) {
                        return spoken_of(job, dim);
                      });
  if (ruled(job, tensor) && !silent) return closed(ruled_layout(job, tensor));
  Annotation open = unset(tensor.dims.size());
  // Any device may read any of the input: where what is made from it is cut further says nothing of it.
  if (tensor.role == TensorRole::kIndex) open.replicated = axes_within_samples(job);
  return open;
}

ShardedTensor sharded(const Tensor& tensor, Annotation annotation) {
  ShardedTensor result{tensor.name, {}, std::move(annotation), {}};
  for (const TensorDim& dim : tensor.dims) {
    std::int64_t size = 0;
    for (const DimBlock& block : dim.blocks) size += block.size;
    result.dims.push_back(size);
    result.dim_names.push_back(dim.logical);
  }
  return result;
}

ShardedOp sharded(const Graph& graph, const Operation& op) {
  ShardedOp result{op.name, rule_of(graph, op), {}, {}};
  for (const Operand& input : op.inputs) result.operands.push_back(input.tensor);
  for (const Operand& output : op.outputs) result.results.push_back(output.tensor);
  return result;
}

bool weight(const Graph& graph, int tensor) {
  const TensorRole role = graph.tensors[at(tensor)].role;
  return role == TensorRole::kParameter || role == TensorRole::kParameterGradient;
}

std::vector<Conflict> between_activations(const Graph& graph, std::vector<Conflict> conflicts) {
  std::erase_if(conflicts, [&](const Conflict& conflict) {
    return weight(graph, conflict.tensor) || weight(graph, conflict.other);
  });
  return conflicts;
}

void append_new(std::string& list, const std::string& text) {
  const bool known = (", " + list + ", ").find(", " + text + ", ") != std::string::npos;
  if (!known) list += (list.empty() ? "" : ", ") + text;
}

}  // namespace

std::string PropagatedGraph::origin(TensorId tensor) const {
  std::string text;
  for (const std::string& dim : origins[at(tensor)]) {
    if (!dim.empty()) append_new(text, dim);
  }
  return text;
}

PropagatedGraph propagate_graph(const Job& job, const Graph& graph, const std::vector<Operation>& backward) {
  std::vector<ShardedTensor> tensors;
  for (const Tensor& tensor : graph.tensors) tensors.push_back(sharded(tensor, said_of(job, tensor)));
  std::vector<ShardedOp> ops;
  for (const auto* operations : {&graph.operations, &backward}) {
    for (const Operation& op : *operations) ops.push_back(sharded(graph, op));
  }
  Propagated propagated = propagate(job.mesh, tensors, ops);

  PropagatedGraph result{
      std::move(propagated.annotations), {}, between_activations(graph, std::move(propagated.conflicts))};
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    result.origins.emplace_back(tensor.dims.size());
    for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
      for (const Origin& origin : propagated.origins[t][d]) {
        append_new(result.origins[t][d], origin.op < 0 ? said_by(job, tensor, d, origin.axis)
                                                       : "from " + graph.tensors[at(origin.source)].name +
                                                             " by " + ops[at(origin.op)].name);
      }
    }
  }
  return result;
}

std::vector<Conflict> conflicting_annotations(const Mesh& mesh, const Graph& graph) {
  std::vector<ShardedTensor> tensors;
  for (const Tensor& tensor : graph.tensors)
    tensors.push_back(sharded(tensor, tensor.annotation.value_or(unset(tensor.dims.size()))));
  std::vector<ShardedOp> ops;
  for (const Operation& op : graph.operations) ops.push_back(sharded(graph, op));
  std::vector<Conflict> found = between_activations(graph, conflicting_annotations(mesh, tensors, ops));
  // A reshape is where a program moves data on purpose.
  std::erase_if(found, [&](const Conflict& conflict) {
    return graph.operations[at(conflict.op)].kind == OperationKind::kReshape;
  });
  return found;
}

}  // namespace podsim
