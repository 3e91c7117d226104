// Weights that are frozen, and low-rank adapters beside them that are trained instead.
#include "workload/model/adapters.h"

#include <algorithm>
#include <utility>

#include "engine/index.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

bool multiplies_weight(const Graph& graph, const Operation& op) {
  return op.kind == OperationKind::kEinsum && is_parameter(graph.tensors[at(op.inputs[1].tensor)]);
}

char unused_letter(const Operation& op) {
  char letter = 'a';
  const auto used = [&](const Operand& operand) { return has_letter(operand.letters, letter); };
  while (std::ranges::any_of(op.inputs, used) || std::ranges::any_of(op.outputs, used)) ++letter;
  return letter;
}

// The dimensions of an operand whose letters `wanted` takes, in order.
template <typename Wanted>
std::pair<std::string, std::vector<TensorDim>> dims_where(const Graph& graph, const Operand& operand,
                                                          Wanted&& wanted) {
  std::pair<std::string, std::vector<TensorDim>> taken;
  for (std::size_t i = 0; i < operand.letters.size(); ++i) {
    if (!wanted(operand.letters[i])) continue;
    taken.first += operand.letters[i];
    taken.second.push_back(graph.tensors[at(operand.tensor)].dims[i]);
  }
  return taken;
}

// y = x W becomes y = x W + (x A) B, with A into `rank` columns and B out of them.
class AdapterBuilder {
 public:
  AdapterBuilder(Graph& graph, std::int64_t rank) : graph_(graph), rank_{"", {{.size = rank}}} {}

  std::vector<Operation> beside(Operation op) {
    const char r = unused_letter(op);
    const Operand x = op.inputs[0], weight = op.inputs[1], y = op.outputs[0];
    const auto of_x = [&](char letter) { return has_letter(x.letters, letter); };
    const auto of_y = [&](char letter) { return has_letter(y.letters, letter); };
    auto [into, into_dims] = dims_where(graph_, weight, of_x);
    auto [out_of, out_of_dims] = dims_where(graph_, weight, of_y);
    auto [narrow, narrow_dims] = dims_where(graph_, x, of_y);
    into += r, narrow += r, out_of.insert(out_of.begin(), r);
    into_dims.push_back(rank_), narrow_dims.push_back(rank_), out_of_dims.insert(out_of_dims.begin(), rank_);

    const Operand down = add(op.name + " adapter down weight", TensorRole::kParameter, into_dims, into);
    const Operand up = add(op.name + " adapter up weight", TensorRole::kParameter, out_of_dims, out_of);
    const Operand rows = add(op.name + " adapter rows", TensorRole::kActivation, narrow_dims, narrow);
    const Operand plain = like(y, op.name + " frozen"), more = like(y, op.name + " adapter");
    op.outputs[0] = plain;
    const Operation into_rows = product(op.name + " adapter down", x, down, rows),
                    out_of_rows = product(op.name + " adapter up", rows, up, more);
    Operation sum{.name = op.name + " adapter add",
                  .kind = OperationKind::kSum,
                  .inputs = {plain, more},
                  .outputs = {y}};
    return {std::move(op), into_rows, out_of_rows, std::move(sum)};
  }

 private:
  Operand add(std::string name, TensorRole role, std::vector<TensorDim> dims, std::string letters) {
    Tensor tensor{.name = std::move(name), .role = role, .dims = std::move(dims)};
    tensor.constrained = role == TensorRole::kParameter;
    return {graph_.add(std::move(tensor)), std::move(letters)};
  }

  // A term of the sum that has the rules of the whole, which partial sums may wait for.
  Operand like(const Operand& y, std::string name) {
    Tensor term = graph_.tensors[at(y.tensor)];
    term.name = std::move(name);
    term.constrained = false;
    return {graph_.add(std::move(term)), y.letters};
  }

  static Operation product(std::string name, Operand a, Operand b, Operand out) {
    return {.name = std::move(name),
            .kind = OperationKind::kEinsum,
            .inputs = {std::move(a), std::move(b)},
            .outputs = {std::move(out)}};
  }

  Graph& graph_;
  const TensorDim rank_;
};

}  // namespace

void freeze_and_adapt(const Adapters& adapters, bool layer, Graph& graph) {
  for (Tensor& tensor : graph.tensors) tensor.frozen = is_parameter(tensor);
  std::vector<Operation> operations;
  for (Operation& op : graph.operations) {
    const bool named = adapters.matmuls.empty()
                           ? layer && op.low_precision
                           : std::ranges::find(adapters.matmuls, op.name) != adapters.matmuls.end();
    if (!named || !multiplies_weight(graph, op)) {
      operations.push_back(std::move(op));
      continue;
    }
    for (Operation& each : AdapterBuilder(graph, adapters.rank).beside(std::move(op)))
      operations.push_back(std::move(each));
  }
  graph.operations = std::move(operations);
}

std::vector<std::string> adaptable_matmuls(const Graph& graph) {
  std::vector<std::string> names;
  for (const Operation& op : graph.operations)
    if (multiplies_weight(graph, op)) names.push_back(op.name);
  return names;
}

}  // namespace podsim
