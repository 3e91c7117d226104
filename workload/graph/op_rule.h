// Factors of an operation: which dimensions of its tensors must be cut alike, and what cutting them means.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/graph/graph.h"

namespace podsim {

enum class FactorKind : std::uint8_t {
  kPassThrough,
  kReduction,        // in operands only: cut, it leaves partial sums
  kPermutation,      // may be cut, but data moves between neighbours (halo)
  kNeedReplication,  // must be whole where the operation runs
};

struct Factor {
  std::int64_t size = 1;
  FactorKind kind = FactorKind::kPassThrough;
  bool blocked = false;  // no propagation along it
};

// [dimension] factors major to minor; several = the dimension is a product of them; none = never cut.
using FactorMap = std::vector<std::vector<int>>;

bool has_factor(const FactorMap& map, std::size_t factor);

// When propagation looks at an operation (docs/theory/propagation.md).
enum class RuleClass : std::uint8_t {
  kElementwise,   // and reshape, transpose, data flow: first, both directions
  kSliceForward,  // dynamic slice and update: with the first, but forward only
  kBroadcast,     // backward early, forward last
  kGeneral,
};

// A window that slides along a permutation factor of one operand (convolution, pad, slice).
struct Window {
  int factor = 0;
  int operand = 0, dim = 0;  // where the input extent lies
  std::int64_t input = 0;    // length of that dimension
  std::int64_t size = 1, stride = 1, dilation = 1, base_dilation = 1, pad_low = 0, pad_high = 0;
};

// Reducing along this factor on the way (norm, softmax) costs `count` all-reduces of one fp32 value per
// element of operand 0 without it, where it is cut.
struct Statistic {
  int factor = 0;
  int count = 1;
};

// A result is a partial sum over the axes of every pass-through or reduction factor that operands have and it
// lacks (in backward operations another result may have it), unless the factor has a statistic.
struct OpRule {
  std::vector<Factor> factors;
  std::vector<FactorMap> operands, results;
  RuleClass rule_class = RuleClass::kGeneral;
  bool elementwise = false;  // conflicts go to the more sharded factor first
  std::vector<Window> windows = {};
  std::vector<Statistic> statistics = {};

  int add(Factor factor);  // its index
};

// --- Rules by kind. Dimensions are global sizes. ---

// "ik,kj->ij": letters in no result are reductions. REQUIRES: one letter per dimension, sizes agree.
OpRule einsum_rule(const std::vector<std::string>& operands, const std::vector<std::string>& results,
                   const std::vector<std::vector<std::int64_t>>& operand_dims,
                   const std::vector<std::vector<std::int64_t>>& result_dims);
OpRule elementwise_rule(const std::vector<std::int64_t>& dims, int operands);
OpRule transpose_rule(const std::vector<std::int64_t>& dims, const std::vector<int>& permutation);
// Compound factors by common divisors, major to minor; dimensions that share none give factors of their own.
OpRule reshape_rule(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out);

// Of an array with dimensions of these sizes; 1 without any.
std::int64_t element_count(const std::vector<std::int64_t>& sizes);
// `dimension[i]` = dimension of the result that operand dimension i becomes.
OpRule broadcast_rule(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out,
                      const std::vector<int>& dimension);
OpRule reduce_rule(const std::vector<std::int64_t>& in, const std::vector<int>& reduced);
OpRule concatenate_rule(const std::vector<std::vector<std::int64_t>>& in, int dim);
// Pad, slice, reverse: changed dimensions are permutation factors.
OpRule shift_rule(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out,
                  const std::vector<bool>& changed);
OpRule dynamic_slice_rule(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out);
OpRule dynamic_update_slice_rule(const std::vector<std::int64_t>& in,
                                 const std::vector<std::int64_t>& update);
// Embedding: table [rows, ...width], indices [...batch] -> [...batch, ...width]; rows are a reduction.
OpRule gather_rule(const std::vector<std::int64_t>& table, const std::vector<std::int64_t>& indices);
OpRule scatter_rule(const std::vector<std::int64_t>& table, const std::vector<std::int64_t>& indices,
                    bool adds);
// Top-k, sort, fft: the dimension must be whole.
OpRule whole_dim_rule(const std::vector<std::int64_t>& dims, const std::vector<int>& whole, int results);

struct ConvolutionShape {
  // Position of each role in the dimension lists: batch, feature, then spatial dimensions.
  std::vector<std::int64_t> lhs, rhs, out;
  int lhs_batch = 0, lhs_feature = 0, rhs_in = 0, rhs_out = 0, out_batch = 0, out_feature = 0;
  std::vector<int> lhs_spatial, rhs_spatial, out_spatial;
  // One per spatial dimension; factor, operand, dim and input are filled by the rule.
  std::vector<Window> windows;
  int feature_groups = 1, batch_groups = 1;
};
OpRule convolution_rule(const ConvolutionShape& shape);

// The rule of an operation of a graph, by its kind, letters and windows.
OpRule rule_of(const Graph& graph, const Operation& op);

}  // namespace podsim
