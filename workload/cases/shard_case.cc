// Shapes of the tensors of sharding cases.
#include "workload/cases/shard_case.h"

namespace podsim {

TensorShape shape_of(const CaseTensor& tensor) {
  TensorShape shape{.dims = {}, .element_bytes = tensor.element_bytes};
  for (const std::int64_t size : tensor.dims)
    shape.dims.push_back({.logical = {}, .blocks = {{.size = size}}});
  return shape;
}

}  // namespace podsim
