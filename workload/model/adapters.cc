// Weights that are frozen, and low-rank adapters beside them that are trained instead.
#include "workload/model/adapters.h"

#include <algorithm>
#include <utility>

#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/model/dropout.h"

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
  AdapterBuilder(Graph& graph, const Adapters& adapters)
      : graph_(graph), rank_{"", {{.size = adapters.rank}}}, dropout_(adapters.dropout) {}

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
    graph_.tensors[at(x.tensor)].read_by_modules = true;
    const std::string name = op.name;
    const double useful = op.useful;
    std::vector<Operation> operations = {std::move(op)};
    const Operand enters = dropout_ ? dropped(x, name, operations) : x;
    operations.push_back(product(name + " adapter down", enters, down, rows, useful));
    operations.push_back(product(name + " adapter up", rows, up, more, useful));
    operations.push_back({.name = name + " adapter add",
                          .kind = OperationKind::kSum,
                          .inputs = {plain, more},
                          .outputs = {y}});
    return operations;
  }

 private:
  Operand add(std::string name, TensorRole role, std::vector<TensorDim> dims, std::string letters) {
    return {graph_.add({.name = std::move(name), .role = role, .dims = std::move(dims)}), std::move(letters)};
  }

  // A copy of x of which some is dropped, by a mask.
  Operand dropped(const Operand& x, const std::string& name, std::vector<Operation>& operations) {
    Operand kept = like(x, name + " adapter input");
    const Operand mask = like(x, name + " adapter mask");
    graph_.tensors[at(mask.tensor)].element_bytes = kMaskBytes;
    operations.push_back({.name = name + " adapter input",
                          .kind = OperationKind::kSum,
                          .inputs = {x},
                          .outputs = {kept, mask},
                          .drops_from = 0});
    return kept;
  }

  // A term of the sum lies as the whole does, and each is a module of its own that sums what devices have of
  // it.
  Operand like(const Operand& y, std::string name) {
    Tensor term = graph_.tensors[at(y.tensor)];
    term.name = std::move(name);
    return {graph_.add(std::move(term)), y.letters};
  }

  // Slots that no token fills count beside experts as they do in them.
  static Operation product(std::string name, Operand a, Operand b, Operand out, double useful) {
    return {.name = std::move(name),
            .kind = OperationKind::kEinsum,
            .inputs = {std::move(a), std::move(b)},
            .outputs = {std::move(out)},
            .useful = useful};
  }

  Graph& graph_;
  const TensorDim rank_;
  const bool dropout_;
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
    for (Operation& each : AdapterBuilder(graph, adapters).beside(std::move(op)))
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
