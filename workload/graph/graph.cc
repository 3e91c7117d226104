// A piece of the model as operations over tensors whose dimensions have names.
#include "workload/graph/graph.h"

#include <algorithm>
#include <utility>

namespace podsim {

TensorId Graph::add(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size()) - 1;
}

std::vector<std::string> dim_letters(const Operand& operand) {
  std::vector<std::string> dims;
  bool inside = false;
  for (char letter : operand.letters) {
    if (letter == '(' || letter == ')') {
      inside = letter == '(';
      if (inside) dims.emplace_back();
    } else if (inside) {
      dims.back() += letter;
    } else {
      dims.emplace_back(1, letter);
    }
  }
  return dims;
}

bool is_parameter(const Tensor& tensor) { return tensor.role == TensorRole::kParameter; }

double elements(const Tensor& tensor) {
  double product = 1;
  for (const TensorDim& dim : tensor.dims) {
    double size = 0;
    for (const DimBlock& block : dim.blocks) size += static_cast<double>(block.size);
    product *= size;
  }
  return product;
}

bool makes_weight_gradient(const Graph& graph, const Operation& op) {
  return !op.outputs.empty() && std::all_of(op.outputs.begin(), op.outputs.end(), [&](const Operand& output) {
    return graph.tensors[static_cast<std::size_t>(output.tensor)].role == TensorRole::kParameterGradient;
  });
}

}  // namespace podsim
