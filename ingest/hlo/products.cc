// Looks for the product in what is fused.
#include "ingest/hlo/products.h"

#include <algorithm>

namespace podsim::hlo {
namespace {

std::optional<Dtype> dtype_named(std::string_view type) {
  if (type == "f32") return Dtype::kFp32;
  if (type == "bf16" || type == "f16") return Dtype::kBf16;
  if (type.starts_with("f8")) return Dtype::kFp8;
  if (type.starts_with("f4")) return Dtype::kFp4;
  if (type == "s8" || type == "u8") return Dtype::kInt8;
  return std::nullopt;
}

const Shape& first_leaf(const Shape& shape) {
  return shape.is_tuple() && !shape.leaves.empty() ? shape.leaves.front() : shape;
}

}  // namespace

std::optional<Product> product_of(const Module& module, CostAnalysis& costs, const Computation& computation,
                                  const Instruction& instruction) {
  if (instruction.opcode != "fusion") {
    if (instruction.operands.empty()) return std::nullopt;
    const std::size_t second = instruction.operands.size() > 1 ? 1 : 0;
    return Product{computation.operand(instruction, 0).shape, computation.operand(instruction, second).shape,
                   first_leaf(instruction.shape)};
  }
  const int called = module.find(instruction.attribute("calls"));
  if (called < 0) return std::nullopt;
  const Computation& inside = module.computations[static_cast<std::size_t>(called)];
  const Instruction* largest = nullptr;
  std::int64_t most = 0;
  for (const Instruction& each : inside.instructions) {
    const std::int64_t flops = costs.of(inside, each).products();
    if (flops <= most) continue;
    most = flops;
    largest = &each;
  }
  return largest == nullptr ? std::nullopt : product_of(module, costs, inside, *largest);
}

ProductRate product_rate(const Chip& chip, const Product& product) {
  const Shape& wider = product.right.bits > product.left.bits ? product.right : product.left;
  const auto dtype = dtype_named(wider.type);
  if (dtype == Dtype::kBf16 || (dtype && chip.matmul.contains(*dtype))) return {*dtype, ""};
  return {Dtype::kBf16, std::string(wider.type)};
}

ComputeOp matmul_op(const Product& product, Dtype dtype, double flops, double hbm) {
  const auto elements = static_cast<double>(std::max<std::int64_t>(1, product.result.elements()));
  ComputeOp op;
  op.dtype = dtype;
  op.n = product.result.dimensions.empty() ? 1 : static_cast<double>(product.result.dimensions.back());
  op.n = std::max(1.0, op.n);
  op.m = std::max(1.0, elements / op.n);
  op.k = std::max(1.0, flops / (2 * elements));
  op.flops = {flops};
  op.hbm = {hbm};
  return op;
}

}  // namespace podsim::hlo
