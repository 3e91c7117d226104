// Propagation over a piece of the model: which layout every tensor of a graph gets, and why.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/graph.h"
#include "workload/sharding/propagate.h"

namespace podsim {

struct Job;

struct PropagatedGraph {
  std::vector<Annotation> annotations;            // [tensor]
  std::vector<std::vector<std::string>> origins;  // [tensor][dim] "rule batch", "annotation",
                                                  // "from x by ffn up"; empty = nothing cuts the dimension
  // op = index in the graph's operations, then in `backward`. Between an activation and a weight or its
  // gradient there is no conflict: a weight is gathered where it is used.
  std::vector<Conflict> conflicts;

  // Of all dimensions of the tensor, each said once: "rule batch, from x by ffn up".
  std::string origin(TensorId tensor) const;
};

// Starts from the user's annotations. A constrained tensor without one is closed on what the rules say of it,
// provided the job has rules at all; every other tensor is open and is completed from its neighbours.
// `backward` = operations on the same tensors that follow those of the graph.
PropagatedGraph propagate_graph(const Job& job, const Graph& graph,
                                const std::vector<Operation>& backward = {});

// Mistakes in annotations: conflicting_annotations of the graph's operations, where neither tensor is a
// weight (a weight may lie as it likes and is gathered where it is used) and the operation is no reshape,
// which may move data on purpose. `tensor` and `other` are ids.
std::vector<Conflict> conflicting_annotations(const Mesh& mesh, const Graph& graph);

}  // namespace podsim
