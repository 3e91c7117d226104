// Factors of an operation of a graph: its letters, in order of first appearance.
#include <algorithm>
#include <optional>
#include <string>

#include "engine/check.h"
#include "workload/graph/op_rule.h"

namespace podsim {
namespace {

std::int64_t size_of(const TensorDim& dim) {
  std::int64_t size = 0;
  for (const DimBlock& block : dim.blocks) size += block.size;
  return size;
}

// A tensor of the operation, with the letters and the size of each dimension.
struct Lettered {
  std::vector<std::string> letters;
  std::vector<std::int64_t> sizes;
};

class GraphRule {
 public:
  GraphRule(const Graph& graph, const Operation& op) : op_(op) {
    for (const Operand& input : op.inputs) inputs_.push_back(lettered(graph, input));
    for (const Operand& output : op.outputs) outputs_.push_back(lettered(graph, output));
  }

  OpRule build() {
    for (const auto* side : {&inputs_, &outputs_}) {
      for (const Lettered& tensor : *side) {
        for (const std::string& dim : tensor.letters) {
          for (char letter : dim) add(letter);
        }
      }
    }
    for (const Lettered& tensor : inputs_) rule_.operands.push_back(map(tensor));
    for (const Lettered& tensor : outputs_) rule_.results.push_back(map(tensor));
    for (const LetterWindow& window : op_.windows) add(window);
    for (char letter : op_.statistics) {
      if (op_.reductions > 0 && has_letter(letters_, letter))
        rule_.statistics.push_back({factor(letter), op_.reductions});
    }
    classify();
    return std::move(rule_);
  }

 private:
  Lettered lettered(const Graph& graph, const Operand& operand) const {
    const Tensor& tensor = graph.tensors[static_cast<std::size_t>(operand.tensor)];
    Lettered result{.letters = dim_letters(operand), .sizes = {}};
    PODSIM_CHECK(result.letters.size() == tensor.dims.size(), op_.name + ": a letter for each dimension");
    for (const TensorDim& dim : tensor.dims) result.sizes.push_back(size_of(dim));
    return result;
  }

  int factor(char letter) const { return static_cast<int>(letters_.find(letter)); }

  void add(char letter) {
    if (has_letter(letters_, letter)) return;
    letters_ += letter;
    rule_.add({size(letter), kind(letter)});
  }

  FactorMap map(const Lettered& tensor) const {
    FactorMap result;
    for (const std::string& dim : tensor.letters) {
      result.emplace_back();
      for (char letter : dim) result.back().push_back(factor(letter));
    }
    return result;
  }

  bool windowed(char letter) const {
    return std::any_of(op_.windows.begin(), op_.windows.end(),
                       [&](const LetterWindow& window) { return window.letter == letter; });
  }

  static bool has(const std::vector<Lettered>& tensors, char letter) {
    for (const Lettered& tensor : tensors) {
      for (const std::string& dim : tensor.letters) {
        if (has_letter(dim, letter)) return true;
      }
    }
    return false;
  }

  // A window slides over input positions and makes output positions: work follows the output, or its
  // gradient, which is the last input where a filter's gradient is made.
  std::int64_t size(char letter) const {
    if (windowed(letter)) {
      if (const auto found = size(letter, outputs_)) return *found;
      if (const auto found = size(letter, {inputs_.back()})) return *found;
    }
    if (const auto found = size(letter, inputs_)) return *found;
    if (const auto found = size(letter, outputs_)) return *found;
    return size_in_product(letter);
  }

  static std::optional<std::int64_t> size(char letter, const std::vector<Lettered>& tensors) {
    for (const Lettered& tensor : tensors) {
      for (std::size_t i = 0; i < tensor.letters.size(); ++i) {
        if (tensor.letters[i].size() == 1 && tensor.letters[i][0] == letter) return tensor.sizes[i];
      }
    }
    return std::nullopt;
  }

  // Of a letter that occurs only in products: what the other letters of one leave.
  std::int64_t size_in_product(char letter) const {
    for (const auto* side : {&inputs_, &outputs_}) {
      for (const Lettered& tensor : *side) {
        for (std::size_t i = 0; i < tensor.letters.size(); ++i) {
          if (!has_letter(tensor.letters[i], letter)) continue;
          std::int64_t rest = tensor.sizes[i];
          bool known = true;
          for (char other : tensor.letters[i]) {
            if (other == letter) continue;
            const auto alone = size(other, inputs_) ? size(other, inputs_) : size(other, outputs_);
            known = known && alone.has_value();
            rest /= alone.value_or(1);
          }
          if (known) return rest;
        }
      }
    }
    PODSIM_CHECK(false, op_.name + ": the size of letter " + letter + " follows from a dimension");
    return 1;
  }

  FactorKind kind(char letter) const {
    if (ring_key(letter)) return FactorKind::kPermutation;
    if (has_letter(op_.whole, letter)) return FactorKind::kNeedReplication;
    if (windowed(letter) && has(outputs_, letter)) return FactorKind::kPermutation;
    if (has(outputs_, letter) || has_letter(op_.statistics, letter)) return FactorKind::kPassThrough;
    // A pointwise function of several inputs (a gate) is no sum; its gradient of a broadcast input is one.
    const bool pointwise = op_.kind == OperationKind::kElementwise && !op_.backward;
    return pointwise ? FactorKind::kNeedReplication : FactorKind::kReduction;
  }

  // Keys that go round in a ring lie as the queries do; each device sees all of them in turn.
  bool ring_key(char letter) const {
    return op_.kind == OperationKind::kAttention && op_.key_exchange == KeyExchange::kRing &&
           inputs_.size() > 1 && has({inputs_[1]}, letter) && !has({inputs_[0]}, letter);
  }

  void add(const LetterWindow& of) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& letters = inputs_[i].letters;
      const auto dim = std::find(letters.begin(), letters.end(), std::string(1, of.letter));
      if (dim == letters.end()) continue;
      const auto index = static_cast<std::size_t>(dim - letters.begin());
      rule_.windows.push_back({.factor = factor(of.letter),
                               .operand = static_cast<int>(i),
                               .dim = static_cast<int>(index),
                               .input = inputs_[i].sizes[index],
                               .size = of.size,
                               .stride = of.stride,
                               .dilation = of.dilation,
                               .base_dilation = of.base_dilation,
                               .pad_low = of.pad_low,
                               .pad_high = of.pad_high});
      return;
    }
  }

  void classify() {
    rule_.elementwise = op_.kind == OperationKind::kElementwise || op_.kind == OperationKind::kSum;
    const bool moves = op_.kind == OperationKind::kReshape || op_.kind == OperationKind::kTranspose;
    if (rule_.elementwise || moves) rule_.rule_class = RuleClass::kElementwise;
  }

  const Operation& op_;
  std::vector<Lettered> inputs_, outputs_;
  std::string letters_;  // [factor]
  OpRule rule_;
};

}  // namespace

OpRule rule_of(const Graph& graph, const Operation& op) { return GraphRule(graph, op).build(); }

}  // namespace podsim
