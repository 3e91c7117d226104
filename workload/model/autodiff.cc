// The backward program of a graph, as operations of the same kind.
#include "workload/model/autodiff.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/contains.h"
#include "engine/index.h"

namespace podsim {
namespace {

class Differentiator {
 public:
  Differentiator(Graph& graph, double gradient_bytes) : graph_(graph), gradient_bytes_(gradient_bytes) {
    const std::size_t tensors = graph.tensors.size();
    result_.gradient_of.assign(tensors, -1);
    contributions_.resize(tensors);
    uses_.assign(tensors, 0);
    for (const Operation& op : graph.operations) {
      for (const Operand& input : op.inputs) ++uses_[at(input.tensor)];
    }
  }

  Backward run() {
    if (graph_.output >= 0) contribute(graph_.output);
    if (graph_.context >= 0) contribute(graph_.context);
    for (auto op = graph_.operations.rbegin(); op != graph_.operations.rend(); ++op) differentiate(*op);
    if (graph_.input >= 0) gradient(graph_.input);
    if (graph_.context >= 0) gradient(graph_.context);
    return std::move(result_);
  }

 private:
  // A new gradient tensor of `of`. One of several contributions is unconstrained, for rules speak of the sum,
  // unless modules leave it summed.
  TensorId new_gradient(TensorId of, bool constrained) {
    Tensor tensor = graph_.tensors[at(of)];
    tensor.name = "d " + tensor.name;
    tensor.constrained = tensor.constrained && constrained;
    if (is_parameter(tensor)) {
      tensor.role = TensorRole::kParameterGradient;
      tensor.element_bytes = gradient_bytes_;
    } else if (tensor.gradient_bytes) {
      tensor.element_bytes = *tensor.gradient_bytes;
    }
    return graph_.add(std::move(tensor));
  }

  TensorId contribute(TensorId to) {
    contributions_[at(to)].push_back(
        new_gradient(to, uses_[at(to)] <= 1 || graph_.tensors[at(to)].read_by_modules));
    if (graph_.tensors[at(to)].role == TensorRole::kParameter)
      result_.gradient_of[at(to)] = contributions_[at(to)].back();
    return contributions_[at(to)].back();
  }

  // The whole gradient of a tensor whose consumers have all been differentiated; -1 where none contributed.
  TensorId gradient(TensorId of) {
    std::vector<TensorId>& terms = contributions_[at(of)];
    if (terms.empty()) return -1;
    if (terms.size() > 1) {
      std::string letters;
      for (std::size_t i = 0; i < graph_.tensors[at(of)].dims.size(); ++i)
        letters += static_cast<char>('a' + i);
      Operation sum{.name = graph_.tensors[at(of)].name + " gradient add",
                    .kind = OperationKind::kSum,
                    .backward = true};
      for (TensorId term : terms) sum.inputs.push_back({term, letters});
      const TensorId total = new_gradient(of, true);
      sum.outputs.push_back({total, letters});
      result_.operations.push_back(std::move(sum));
      terms = {total};
    }
    return result_.gradient_of[at(of)] = terms.front();
  }

  bool wants_gradient(TensorId id) const {
    const Tensor& tensor = graph_.tensors[at(id)];
    return tensor.role != TensorRole::kIndex && !tensor.frozen;
  }
  bool parameter(TensorId id) const { return is_parameter(graph_.tensors[at(id)]); }

  void differentiate(const Operation& op) {
    std::vector<Operand> seeds;
    for (const Operand& output : op.outputs) {
      const TensorId seed = gradient(output.tensor);
      if (seed >= 0) seeds.push_back({seed, output.letters});
    }
    // Only a loss starts a gradient; what leads to none has none.
    if (seeds.empty() && op.kind != OperationKind::kLoss) return;
    switch (op.kind) {
      case OperationKind::kEinsum:
        return einsum(op, seeds.at(0));
      case OperationKind::kSum:
        return sum(op, seeds.at(0));
      case OperationKind::kEmbedding:
        return embedding(op, seeds.at(0));
      case OperationKind::kDispatch:
        return dispatch(op, seeds.at(0));
      case OperationKind::kAttention:
      case OperationKind::kElementwise:
      case OperationKind::kLoss:
      case OperationKind::kRoute:
      case OperationKind::kCombine:
      case OperationKind::kReduce:
      case OperationKind::kReshape:
      case OperationKind::kTranspose:
      case OperationKind::kConcatenate:
        return one_backward(op, seeds);
      case OperationKind::kConvolution:
        return convolution(op, seeds.at(0));
      case OperationKind::kShift:
        return shift(op, seeds.at(0));
    }
  }

  void einsum(const Operation& op, const Operand& seed) {
    PODSIM_CHECK(op.inputs.size() == 2, op.name + ": einsum of two tensors");
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& of = op.inputs[i];
      const Operand& other = op.inputs[1 - i];
      if (!wants_gradient(of.tensor)) continue;
      Operation grad{.name = op.name + (parameter(of.tensor) ? " wgrad" : " dgrad"),
                     .kind = OperationKind::kEinsum,
                     .outputs = {{contribute(of.tensor), of.letters}},
                     .backward = true,
                     .recipe = op.recipe};
      grad.inputs =
          parameter(of.tensor) ? std::vector<Operand>{other, seed} : std::vector<Operand>{seed, other};
      result_.operations.push_back(std::move(grad));
    }
  }

  // The gradient of a sum is the gradient of each term; only what is broadcast or dropped needs an operation.
  void sum(const Operation& op, Operand seed) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const Operand& input = op.inputs[i];
      if (!wants_gradient(input.tensor)) continue;
      if (static_cast<int>(i) == op.drops_from) {
        result_.operations.push_back({.name = op.name + " dropout backward",
                                      .kind = OperationKind::kElementwise,
                                      .inputs = {seed, op.outputs.at(1)},
                                      .outputs = {{contribute(input.tensor), input.letters}},
                                      .backward = true});
        seed = result_.operations.back().outputs.front();
        continue;
      }
      if (!parameter(input.tensor) && input.letters == seed.letters) {
        contributions_[at(input.tensor)].push_back(seed.tensor);
        continue;
      }
      result_.operations.push_back({.name = graph_.tensors[at(input.tensor)].name + " gradient",
                                    .kind = OperationKind::kElementwise,
                                    .inputs = {seed},
                                    .outputs = {{contribute(input.tensor), input.letters}},
                                    .backward = true});
    }
  }

  void embedding(const Operation& op, const Operand& seed) {
    Operation grad{
        .name = op.name + " backward", .kind = OperationKind::kEmbedding, .inputs = {seed}, .backward = true};
    for (const Operand& input : op.inputs) {
      if (wants_gradient(input.tensor)) {
        grad.outputs.push_back({contribute(input.tensor), input.letters});
      } else {
        grad.inputs.push_back(input);
      }
    }
    if (!grad.outputs.empty()) result_.operations.push_back(std::move(grad));
  }

  // Gradients of the slots go back to the tokens that filled them; which those are is no function to derive.
  void dispatch(const Operation& op, const Operand& seed) {
    const Operand &tokens = op.inputs[0], &weights = op.inputs[1];
    result_.operations.push_back({.name = op.name + " backward",
                                  .kind = op.kind,
                                  .inputs = {weights, seed},
                                  .outputs = {{contribute(tokens.tensor), tokens.letters}},
                                  .whole = op.whole,
                                  .backward = true});
  }

  // The gradient of the image is a convolution of the output's with the filter, the windows turned round;
  // that of the filter multiplies image and output gradient at the same windows.
  void convolution(const Operation& op, const Operand& seed) {
    const Operand &image = op.inputs[0], &filter = op.inputs[1];
    Operation grad{.name = op.name + " dgrad",
                   .kind = OperationKind::kConvolution,
                   .whole = op.whole,
                   .backward = true,
                   .recipe = op.recipe};
    if (wants_gradient(image.tensor)) {
      grad.inputs = {seed, filter};
      grad.outputs = {{contribute(image.tensor), image.letters}};
      for (const LetterWindow& window : op.windows) grad.windows.push_back(transposed(window, image, seed));
      result_.operations.push_back(grad);
    }
    if (!wants_gradient(filter.tensor)) return;
    grad.name = op.name + " wgrad";
    grad.inputs = {image, seed};
    grad.outputs = {{contribute(filter.tensor), filter.letters}};
    grad.windows = op.windows;
    result_.operations.push_back(std::move(grad));
  }

  std::int64_t length(const Operand& operand, char letter) const {
    std::int64_t size = 0;
    for (const DimBlock& block : graph_.tensors[at(operand.tensor)].dims[operand.letters.find(letter)].blocks)
      size += block.size;
    return size;
  }

  // The window that takes gradients of the outputs back to the inputs: what was a stride spreads them out.
  LetterWindow transposed(const LetterWindow& window, const Operand& input, const Operand& output) const {
    const std::int64_t reach = window.dilation * (window.size - 1);
    const std::int64_t spread = window.stride * (length(output, window.letter) - 1) + 1;
    const std::int64_t low = reach - window.pad_low;
    return {.letter = window.letter,
            .size = window.size,
            .stride = window.base_dilation,
            .dilation = window.dilation,
            .base_dilation = window.stride,
            .pad_low = low,
            .pad_high = length(input, window.letter) - spread - low + reach};
  }

  // Back along the windows; pooling reads what it chose from.
  void shift(const Operation& op, const Operand& seed) {
    const Operand& input = op.inputs[0];
    if (!wants_gradient(input.tensor)) return;
    Operation grad = op;
    grad.name = op.name + " backward";
    grad.backward = true;
    grad.inputs = {seed};
    if (op.saves_inputs) grad.inputs.push_back(input);
    grad.outputs = {{contribute(input.tensor), input.letters}};
    grad.windows.clear();
    for (const LetterWindow& window : op.windows) grad.windows.push_back(transposed(window, input, seed));
    result_.operations.push_back(std::move(grad));
  }

  void one_backward(const Operation& op, const std::vector<Operand>& seeds) {
    Operation grad = op;
    grad.name = op.name + " backward";
    grad.backward = true;
    grad.inputs.clear();
    grad.outputs.clear();
    for (const Operand& input : op.inputs) {
      // A bias is added; nobody needs its value again. The weight of a norm scales the gradient.
      if (op.saves_inputs && (!parameter(input.tensor) || !op.statistics.empty()))
        grad.inputs.push_back(input);
    }
    if (op.kind == OperationKind::kAttention)
      grad.inputs.insert(grad.inputs.end(), op.outputs.begin(), op.outputs.end());
    grad.inputs.insert(grad.inputs.end(), seeds.begin(), seeds.end());
    for (const Operand& input : op.inputs) {
      if (wants_gradient(input.tensor)) grad.outputs.push_back({contribute(input.tensor), input.letters});
    }
    if (grad.outputs.empty()) return;
    // The softmax statistics of the loss are kept; those of a norm are summed again along the embedding.
    if (op.kind == OperationKind::kLoss) grad.reductions = 0;
    result_.operations.push_back(std::move(grad));
  }

  Graph& graph_;
  double gradient_bytes_;
  Backward result_;
  std::vector<std::vector<TensorId>> contributions_;  // [tensor]
  std::vector<int> uses_;                             // [tensor]
};

}  // namespace

Backward differentiate(Graph& graph, double gradient_bytes) {
  return Differentiator(graph, gradient_bytes).run();
}

std::vector<TensorId> saved_activations(const Graph& graph, const Backward& backward) {
  std::vector<TensorId> saved;
  const auto forward_tensors = static_cast<TensorId>(backward.gradient_of.size());
  for (const Operation& op : backward.operations) {
    for (const Operand& input : op.inputs) {
      const bool forward = input.tensor < forward_tensors;
      if (forward && graph.tensors[at(input.tensor)].role == TensorRole::kActivation &&
          !contains(saved, input.tensor)) {
        saved.push_back(input.tensor);
      }
    }
  }
  std::sort(saved.begin(), saved.end());
  return saved;
}

std::vector<Operation> operations_for(const Graph& graph, const std::vector<TensorId>& wanted,
                                      const std::vector<TensorId>& kept) {
  std::vector<bool> needed(graph.tensors.size(), false);
  for (TensorId id : wanted) needed[at(id)] = !contains(kept, id);
  std::vector<Operation> result;
  for (auto op = graph.operations.rbegin(); op != graph.operations.rend(); ++op) {
    const auto& outputs = op->outputs;
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&](const Operand& out) { return needed[at(out.tensor)]; }))
      continue;
    for (const Operand& input : op->inputs) needed[at(input.tensor)] = !contains(kept, input.tensor);
    result.push_back(*op);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace podsim
