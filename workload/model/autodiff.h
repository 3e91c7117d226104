// The backward program of a graph, as operations of the same kind.
#pragma once

#include <vector>

#include "workload/graph/graph.h"

namespace podsim {

struct Backward {
  std::vector<Operation> operations;  // in issue order
  std::vector<TensorId> gradient_of;  // [tensor of the graph before]; -1 = nobody needs it
};

// Appends gradient tensors to `graph`; its operations stay as they are. An einsum gives two einsums, of twice
// its FLOPs together, and so does a convolution; a sum passes its gradient on; every other operation gives
// one backward operation of its kind. Data and frozen weights have no gradient. Contributions to one tensor
// are added before a partial sum is reduced. `gradient_bytes` = bytes per element of a parameter's gradient.
Backward differentiate(Graph& graph, double gradient_bytes);

// Forward activations that backward operations read: what must be stored, or computed again.
std::vector<TensorId> saved_activations(const Graph& graph, const Backward& backward);

// Forward operations needed to compute `wanted` again from `kept`, in forward order; operations whose results
// nobody needs are left out, such as the last projection of a layer.
std::vector<Operation> operations_for(const Graph& graph, const std::vector<TensorId>& wanted,
                                      const std::vector<TensorId>& kept);

}  // namespace podsim
