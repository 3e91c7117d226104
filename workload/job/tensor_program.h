// A model that the user wrote: parts made of operations over tensors with named dimensions, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

// A name for a size. "batch" and "sequence" are there without a declaration: the samples of one microbatch
// over all batch shards, and the job's tokens per sample.
struct ProgramDimension {
  std::string name;
  std::int64_t size = 0;
  friend bool operator==(const ProgramDimension&, const ProgramDimension&) = default;
};

// Dimensions are text, one term each, separated by blanks (docs/guide/models.md):
//   embed                       a declared dimension; sharding rules know it by this name
//   height=56                   the rules know it as "height", here it has 56 indices
//   heads=heads+kv_heads        two blocks that are cut each on its own, the second where its own rule says
//   so (heads head_dim)            a product, major to minor; rules speak of the first 2 a size without a
//   name: no rule applies
struct ProgramTensor {
  std::string name;
  std::string dims;
  friend bool operator==(const ProgramTensor&, const ProgramTensor&) = default;
};

struct ProgramParameter {
  std::string name;
  std::string dims;     // rules know a parameter's dimension as "param_" + its name
  bool shared = false;  // owned by another part: counted and stored there
  friend bool operator==(const ProgramParameter&, const ProgramParameter&) = default;
};

enum class ProgramKind : std::uint8_t {
  kEinsum,
  kElementwise,
  kAdd,
  kBroadcast,
  kNorm,
  kSoftmax,
  kReduce,
  kReshape,
  kTranspose,
  kConcatenate,
  kSlice,
  kPad,
  kShift,
  kPool,
  kEmbedding,
  kScatter,
  kRoute,
  kDispatch,
  kCombine,
  kAttention,
  kConvolution,
  kLoss,
};
inline constexpr int kProgramKinds = 22;

// A window along one dimension of the first input. Padding below zero cuts off (slice).
struct ProgramWindow {
  std::string along;      // name of the dimension; empty in a convolution = the spatial dimensions in order
  std::int64_t size = 0;  // 0 = that of the filter, else 1
  std::int64_t stride = 1, dilation = 1, pad_low = 0, pad_high = 0;
  friend bool operator==(const ProgramWindow&, const ProgramWindow&) = default;
};

struct ProgramOperation {
  std::string name;
  ProgramKind kind = ProgramKind::kElementwise;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> dims;  // of each output; none = what the kind implies
  std::string equation;           // which dimensions are one; empty = those with the same name
  std::string along;  // norm, softmax, loss, reduce, concatenate, route: dimensions; empty = the last
  std::vector<ProgramWindow> windows;
  int groups = 1;                     // convolution
  double passes = 1;                  // memory-bound kinds: times that inputs and outputs cross HBM
  int statistics = 1;                 // norm: all-reduces where the dimension is cut; 2 = mean and variance
  bool linear = false;                // elementwise: backward needs no activation
  bool causal = true;                 // attention
  std::int64_t attention_window = 0;  // attention: keys that a query sees; 0 = all
  friend bool operator==(const ProgramOperation&, const ProgramOperation&) = default;
};

struct ProgramPart {
  std::string name;
  int repeat = 1;      // pieces in a row where the part stands
  bool layer = false;  // may be recomputed in backward; its multiplications run in the job's precision
  std::vector<ProgramTensor> inputs;  // none, or one: the activation from the piece before
  std::vector<ProgramTensor> data;    // from the input pipeline: no gradient
  std::vector<ProgramParameter> parameters;
  std::vector<ProgramOperation> operations;
  std::string output;  // handed to the piece after; empty = what the last operation makes, of a loss nothing
  friend bool operator==(const ProgramPart&, const ProgramPart&) = default;
};

// Parts in a row, several times.
struct ProgramRun {
  std::vector<std::string> parts;
  int repeat = 1;
  friend bool operator==(const ProgramRun&, const ProgramRun&) = default;
};

// The user's sharding of one tensor, such as "[{data},{?},{}]"; in every part that has it when `part` is
// empty.
struct TensorAnnotation {
  std::string part, tensor, sharding;
  friend bool operator==(const TensorAnnotation&, const TensorAnnotation&) = default;
};

struct TensorProgram {
  std::string name;
  std::vector<ProgramDimension> dimensions;
  std::vector<ProgramPart> parts;
  std::vector<ProgramRun> order;  // empty = each part once, as written
  std::vector<TensorAnnotation> annotations;
  friend bool operator==(const TensorProgram&, const TensorProgram&) = default;
};

// Whether the size of any tensor follows the job's tokens per sample: else a sample is an image or a log row.
bool has_tokens(const TensorProgram& program);

}  // namespace podsim
