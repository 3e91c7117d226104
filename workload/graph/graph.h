// A piece of the model as operations over tensors whose dimensions have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/mesh/annotation.h"
#include "workload/mesh/layout.h"

namespace podsim {

struct PrecisionRecipe;

using TensorId = int;

enum class TensorRole : std::uint8_t {
  kActivation,
  kIndex,  // token ids: no gradient
  kParameter,
  kParameterGradient,  // sums over axes that the parameter does not lie on may wait for the end of the step
};

// Whether tokens travel, to the devices of their experts or back to their own.
enum class Journey : std::uint8_t { kNone, kToExperts, kFromExperts };

struct Tensor {
  std::string name = {};
  TensorRole role = TensorRole::kActivation;
  std::vector<TensorDim> dims = {};
  double element_bytes = 2;  // on the wire, and of an activation in memory
  double memory_bytes = 2;   // of a weight in memory
  double cast_bytes = 0;     // HBM traffic per element of a weight that is cast once per step
  std::optional<double> gradient_bytes = {};  // of its gradient on the wire; missing = as the tensor itself
  Journey journey = Journey::kNone;
  bool of_experts = false;  // slots of experts
  bool vector = false;      // weight of a norm or a bias: it travels with a matrix
  bool frozen = false;      // parameter that is not trained
  bool shared = false;      // parameter owned by another part (a tied output embedding)
  // The rules fix its sharding; otherwise it keeps what its producer yields, partial sums included.
  bool constrained = true;
  // Who reads it are modules of their own: each term of its gradient is summed over devices before they are
  // added.
  bool read_by_modules = false;
  // The user's own annotation, instead of the rules.
  std::optional<Annotation> annotation = {};
  std::string origin = {};  // where its sharding came from: "rule batch", "from x by ffn up"
};

// A tensor as an operation sees it: one letter per dimension. Equal letters of one operation are cut alike,
// also where sizes differ (a capacity of slots per expert follows the sequence it is filled from). In a
// reshape a dimension may be a product: "b(sn)d", major to minor.
struct Operand {
  TensorId tensor = -1;
  std::string letters;
};

inline bool has_letter(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Letters of each dimension, major to minor: "b(sn)d" -> "b", "sn", "d".
std::vector<std::string> dim_letters(const Operand& operand);

enum class OperationKind : std::uint8_t {
  kEinsum,       // inputs[0] x inputs[1]; letters missing in the output are contracted
  kAttention,    // forward (q, kv) -> context; backward (q, kv, context, d context) -> (d q, d kv)
  kElementwise,  // norms, activation functions, rotary embedding; bound by memory
  kSum,          // linear: partial sums pass through when every input is partial over the same axes and
                 // there is no dropout
  kEmbedding,    // table lookup; rows on several devices give partial sums
  kLoss,         // softmax over the vocabulary and cross entropy
  kRoute,        // top-k choice of experts: scores -> weights; the expert letter is whole
  kDispatch,     // tokens -> slots of experts: (x, weights) -> [experts, groups, slots, embed]; local
  kCombine,      // the way back: (expert outputs, weights) -> tokens; local
  kConvolution,  // inputs[0] = image, inputs[1] = filter; windows slide along spatial letters
  kReduce,       // letters missing in the output are summed or maximised
  kReshape,      // no work
  kTranspose,    // moves memory
  kConcatenate,  // along the letter in `whole`
  kShift,        // pad, slice, shift by whole shards: windows say how far data moves
};

// A window along one letter of inputs[0]; see Window in op_rule.h for the geometry.
struct LetterWindow {
  char letter = 0;
  std::int64_t size = 1, stride = 1, dilation = 1, base_dilation = 1, pad_low = 0, pad_high = 0;
};

// What kernels a memory-bound operation is made of, where nothing fuses them.
enum class KernelChain : std::uint8_t { kNone, kNorm, kRotary, kActivation, kDropout };

// How the keys of an attention over a cut sequence come to the queries.
enum class KeyExchange : std::uint8_t {
  kGather,  // all keys and values on every device
  kRing,    // blocks of keys and values go round while attention computes
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
  KernelChain chain = KernelChain::kNone;
  double normed = 0;  // share of the elements that pass a norm of their own, where norms are not fused
  std::vector<LetterWindow> windows = {};           // kConvolution, kShift
  KeyExchange key_exchange = KeyExchange::kGather;  // kAttention
  bool causal = true;                               // kAttention, in a causal model
  std::int64_t attention_window = 0;                // kAttention: keys that a query sees at most; 0 = all
  int drops_from = -1;  // kSum: dropout falls on this input and those after it, and outputs[1] is its mask,
                        // which backward reads; -1 = no dropout
  double passes = 1;    // memory-bound kinds: times that inputs and outputs cross HBM
  double useful = 1;    // share of the computation that model FLOPs count: slots of experts that hold a token
  bool backward = false;
  bool saves_inputs = true;                 // the backward operation reads the forward activations
  bool low_precision = false;               // a matmul of a layer: it runs in Job::precision
  const PrecisionRecipe* recipe = nullptr;  // apply_precision sets it; nullptr = 16 bits
};

// Operations in issue order.
struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  TensorId input = -1;   // activation from the piece before; -1 for the embedding
  TensorId output = -1;  // activation for the piece after; -1 for the head
  // Activation that this and the following pieces read and hand on (an encoder's output); -1 = none. The
  // piece that has an operation for it makes it; its gradient is summed on the way back.
  TensorId context = -1;
  // Activation behind which a head of its own follows the layer; -1 = none. Policies of recompute end there.
  TensorId layer_end = -1;

  TensorId add(Tensor tensor);
};

bool is_parameter(const Tensor& tensor);
double elements(const Tensor& tensor);  // unsharded

// Whether all that the operation makes are gradients of parameters, for which no earlier piece waits.
bool makes_weight_gradient(const Graph& graph, const Operation& op);

}  // namespace podsim
