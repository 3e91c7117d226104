// The matrix product of an instruction: its operands, wherever it stands, and the rate it has on a chip.
#pragma once

#include <optional>
#include <string>

#include "ingest/hlo/cost.h"
#include "ingest/hlo/module.h"
#include "workload/job/chip.h"
#include "workload/partition/op_cost.h"

namespace podsim::hlo {

struct Product {
  Shape left, right, result;
};

// Of a dot or convolution, and of the one of most FLOPs in a fusion; nothing where there is none.
std::optional<Product> product_of(const Module& module, CostAnalysis& costs, const Computation& computation,
                                  const Instruction& instruction);

// The rate of products of these types: that of the wider one. Where the chip has none of it, that of 16 bits,
// and the type's name.
struct ProductRate {
  Dtype dtype = Dtype::kBf16;
  std::string without_rate;
};
ProductRate product_rate(const Chip& chip, const Product& product);

// So many FLOPs in a product of these sizes, that moves so many bytes.
ComputeOp matmul_op(const Product& product, Dtype dtype, double flops, double hbm);

}  // namespace podsim::hlo
