// How a tensor lies on the mesh right now, and what one device then holds.
#include "workload/mesh/layout.h"

#include <cmath>

namespace podsim {

AxisList Layout::sharded() const {
  AxisList axes;
  for (const AxisList& dim : dims) axes.insert(axes.end(), dim.begin(), dim.end());
  return canonical(std::move(axes));
}

Layout replicated(std::size_t rank) { return {.dims = std::vector<AxisList>(rank), .unreduced = {}}; }

double local_size(const TensorDim& dim, const AxisList& axes) {
  double size = 0;
  for (const DimBlock& block : dim.blocks) {
    double shards = 1;
    for (const AxisRef& ref : axes) {
      if (block.cut & (AxisSet{1} << ref.axis)) shards *= ref.size;
    }
    size += std::ceil(static_cast<double>(block.size) / shards);
  }
  return size;
}

double local_elements(const TensorShape& shape, const Layout& layout) {
  double product = 1;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) product *= local_size(shape.dims[i], layout.dims[i]);
  return product;
}

Bytes local_bytes(const TensorShape& shape, const Layout& layout) {
  return Bytes{local_elements(shape, layout) * shape.element_bytes};
}

std::string to_string(const Mesh& mesh, const Layout& layout) {
  const auto list = [&](const AxisList& axes) {
    std::string text = "{";
    for (const AxisRef& ref : axes) text += (text.size() > 1 ? "," : "") + to_string(mesh, ref);
    return text + "}";
  };
  std::string text = "[";
  for (std::size_t i = 0; i < layout.dims.size(); ++i) text += (i == 0 ? "" : ",") + list(layout.dims[i]);
  text += "]";
  if (!layout.unreduced.empty()) text += " unreduced=" + list(layout.unreduced);
  return text;
}

}  // namespace podsim
