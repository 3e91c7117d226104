// A piece of the model as operations over tensors whose dimensions have names.
#include "workload/graph.h"

#include <utility>

namespace podsim {

TensorId Graph::add(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size()) - 1;
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

}  // namespace podsim
