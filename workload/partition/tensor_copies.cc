// Layouts in which tensors are at hand while the operations of a part run one after another.
#include "workload/partition/tensor_copies.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"

namespace podsim {

TensorCopies::TensorCopies(const Job& job, const Graph& graph)
    : job_(&job), graph_(&graph), available_(graph.tensors.size()) {
  for (const Tensor& tensor : graph.tensors) ruled_.push_back(ruled_layout(job, tensor));
  for (std::size_t id = 0; id < available_.size(); ++id) available_[id] = {ruled_[id]};
}

void TensorCopies::note(const Operation& op, const OpPlan& moves, const Windowed& windowed) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (windowed.inputs[i]) continue;  // blocks pass by; nobody keeps the whole
    Available& copies = available_[at(op.inputs[i].tensor)];
    if (std::find(copies.begin(), copies.end(), moves.required[i]) == copies.end())
      copies.push_back(moves.required[i]);
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) available_[at(op.outputs[i].tensor)] = {moves.kept[i]};
}

// Copies that are no larger than the tensor itself are kept for backward, as a framework keeps what an
// operation has read; gathered ones are gathered again, unless the stack keeps them.
void TensorCopies::forget_activations() {
  if (job_->stack.keeps_gathered) return;
  for (std::size_t id = 0; id < available_.size(); ++id) {
    if (is_parameter(graph_->tensors[id])) continue;
    const TensorShape shape = shape_of(graph_->tensors[id]);
    Available& copies = available_[id];
    const double own = local_elements(shape, copies.front());
    const auto larger = [&](const Layout& copy) { return local_elements(shape, copy) > own; };
    copies.erase(std::remove_if(copies.begin() + 1, copies.end(), larger), copies.end());
  }
}

void TensorCopies::end_block() {
  forget_activations();
  for (std::size_t id = 0; id < available_.size(); ++id)
    if (is_parameter(graph_->tensors[id])) available_[id].resize(1);
}

double TensorCopies::largest(TensorId tensor) const {
  const TensorShape shape = shape_of(graph_->tensors[at(tensor)]);
  double most = 0;
  PODSIM_CHECK(!available_[at(tensor)].empty(), "a tensor lies somewhere");
  for (const Layout& copy : available_[at(tensor)]) most = std::max(most, local_elements(shape, copy));
  return most;
}

}  // namespace podsim
