// A piece of the model as operations over tensors whose dimensions have names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/job.h"

namespace podsim {

using TensorId = int;

// A run of indices that is cut into equal shards on its own. A fused projection concatenates query, key and
// value heads: three blocks. Axes outside `cut` replicate the block although they cut the dimension.
struct DimBlock {
  std::int64_t size = 0;
  AxisSet cut = ~AxisSet{0};
};

struct TensorDim {
  std::string logical;           // what sharding rules call it; empty = no rule applies
  std::vector<DimBlock> blocks;  // at least one
};

enum class TensorRole : std::uint8_t {
  kActivation,
  kIndex,  // token ids: no gradient
  kParameter,
  kParameterGradient,  // sums over axes that the parameter does not lie on may wait for the end of the step
};

struct Tensor {
  std::string name = {};
  TensorRole role = TensorRole::kActivation;
  std::vector<TensorDim> dims = {};
  double element_bytes = 2;  // in memory and on the wire
  bool vector = false;       // weight of a norm or a bias: it travels with a matrix
  bool shared = false;       // parameter owned by another part (a tied output embedding)
  // The rules fix its sharding; otherwise it keeps what its producer yields, partial sums included.
  bool constrained = true;
};

// A tensor as an operation sees it: one letter per dimension. Equal letters of one operation are cut alike.
struct Operand {
  TensorId tensor = -1;
  std::string letters;
};

enum class OperationKind : std::uint8_t {
  kEinsum,       // inputs[0] x inputs[1]; letters missing in the output are contracted
  kAttention,    // forward (q, kv) -> context; backward (q, kv, context, d context) -> (d q, d kv)
  kElementwise,  // norms, activation functions, rotary embedding; bound by memory
  kSum,          // linear: partial sums pass through when every input is partial over the same axes
  kEmbedding,    // table lookup; rows on several devices give partial sums
  kLoss,         // softmax over the vocabulary and cross entropy
};

// Letters of inputs that are missing in an output, and are no statistics, make the output a partial sum where
// they are cut.
struct Operation {
  std::string name;
  OperationKind kind = OperationKind::kEinsum;
  std::vector<Operand> inputs = {}, outputs = {};
  std::string whole = {};  // letters that must not be cut
  // Letters reduced on the way. Cutting one costs `reductions` all-reduces of one fp32 value per element of
  // the first input without its statistics letters.
  std::string statistics = {};
  int reductions = 0;
  bool backward = false;
  bool saves_inputs = true;    // the backward operation reads the forward activations
  bool low_precision = false;  // runs in Job::matmul_dtype
};

// Operations in issue order.
struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  TensorId input = -1;   // activation from the piece before; -1 for the embedding
  TensorId output = -1;  // activation for the piece after; -1 for the head

  TensorId add(Tensor tensor);
};

bool is_parameter(const Tensor& tensor);
double elements(const Tensor& tensor);  // unsharded

}  // namespace podsim
