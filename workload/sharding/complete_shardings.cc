// Gives every tensor of a graph a layout before it is planned, where the user has left some open.
#include "workload/sharding/complete_shardings.h"

#include <algorithm>

#include "workload/job/job.h"
#include "workload/sharding/propagate_graph.h"

namespace podsim {
namespace {

AxisList leading_whole_axes(const Mesh& mesh, const AxisList& axes) {
  const auto piece =
      std::find_if(axes.begin(), axes.end(), [&](const AxisRef& axis) { return !is_whole(mesh, axis); });
  return {axes.begin(), piece};
}

bool needs_propagation(const Job& job, const Graph& graph) {
  return job.program.has_value() ||
         std::any_of(graph.tensors.begin(), graph.tensors.end(),
                     [](const Tensor& tensor) { return tensor.annotation.has_value(); });
}

}  // namespace

void complete_shardings(const Job& job, Graph& graph, std::vector<std::string>* conflicts) {
  if (!needs_propagation(job, graph)) return;
  const PropagatedGraph propagated = propagate_graph(job, graph);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    Tensor& tensor = graph.tensors[i];
    // What no rule speaks of is open in the user's own program; a built-in one leaves it as computed on
    // purpose.
    if (!tensor.constrained && !job.program) continue;
    tensor.constrained = true;
    Layout layout = layout_of(propagated.annotations[i]);
    for (AxisList& dim : layout.dims) dim = leading_whole_axes(job.mesh, dim);
    tensor.annotation = closed(layout);
    tensor.origin = propagated.origin(static_cast<TensorId>(i));
    if (tensor.origin.empty()) tensor.origin = "nothing cuts it";
  }
  if (!conflicts) return;
  for (const Conflict& conflict : propagated.conflicts) {
    if (std::find(conflicts->begin(), conflicts->end(), conflict.text) == conflicts->end())
      conflicts->push_back(conflict.text);
  }
}

}  // namespace podsim
