// One question to the partitioner that stands alone: a few tensors on a mesh, an operation, no program around
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "workload/graph/op_rule.h"
#include "workload/mesh/annotation.h"
#include "workload/mesh/layout.h"

namespace podsim {

struct CaseTensor {
  std::vector<std::int64_t> dims;
  double element_bytes = 2;
  Layout layout;
};

TensorShape shape_of(const CaseTensor& tensor);

struct ReshardQuestion {
  CaseTensor from, to;
};

// Equal letters are one factor. `windowed`: a gather before, or a scatter after, may go round a ring while
// partial products are computed, from this size of the whole operand on.
struct EinsumQuestion {
  std::vector<std::string> operand_letters;  // of lhs and rhs
  std::string result_letters;
  CaseTensor lhs, rhs, output;
  bool windowed = false;
  double window_threshold_bytes = 0;
};

// Letters, or, where there are none, a reshape of the first tensor to the second.
struct PropagateQuestion {
  std::vector<std::string> operand_letters, result_letters;
  std::vector<std::vector<std::int64_t>> dims;  // [tensor] operands, then results
  std::vector<Annotation> annotations;          // [tensor]
};

struct ConvolutionQuestion {
  ConvolutionShape shape;
  std::vector<bool> reversed;  // [spatial dimension] taps run backwards
  CaseTensor lhs, rhs, output;
};

// One tensor out of another, whose elements stay, move, or are added up.
struct RearrangeQuestion {
  enum class How : std::uint8_t { kReshape, kTranspose, kReduce };
  How how = How::kReshape;
  std::vector<int> dims;  // of a transpose the permutation, of a reduction those that go
  CaseTensor input, output;
};

// Einsums one after the other, each between tensors that lie as stated.
struct SequenceQuestion {
  std::vector<std::pair<std::string, EinsumQuestion>> steps;  // with their names
};

// Pad, slice, or one after the other: output o along dimension d is input (o stride - low) / (interior + 1).
struct ShiftQuestion {
  CaseTensor input, output;
  std::vector<Window> windows;  // [dimension] with size 1
};

struct ConcatenateQuestion {
  std::vector<CaseTensor> inputs;
  CaseTensor output;
  int dim = 0;
};

struct EmbeddingQuestion {
  CaseTensor table, indices, output;
};

struct SoftmaxQuestion {
  CaseTensor input, output;
  int dim = 0;
};

// Data-parallel training over all axes of the mesh: stage 0 replicates, 1 cuts the optimizer state, 2 the
// gradients too, 3 the parameters too.
struct OptimizerStepQuestion {
  std::int64_t parameters = 0;
  double parameter_bytes = 2, gradient_bytes = 2;  // of one element
  int zero_stage = 0;
};

// Attention over a cut sequence: [batch, sequence, heads, head dimension].
struct RingAttentionQuestion {
  CaseTensor q, kv;
};
struct UlyssesQuestion {
  CaseTensor q, kv;
};
// Every device has its queries and all keys and values.
struct GatheredAttentionQuestion {
  CaseTensor q, kv;
};

// A buffer with one slot per stage, shifted by one stage in every iteration.
struct ShiftPipelineQuestion {
  CaseTensor state;  // dimension 0 = stages
  std::int64_t microbatches = 1;
};

struct Unplanned {
  std::string reason;
  bool asks_nothing = false;  // that sizes would have to be stated for
};

using Question =
    std::variant<Unplanned, ReshardQuestion, EinsumQuestion, PropagateQuestion, ConvolutionQuestion,
                 RearrangeQuestion, SequenceQuestion, GatheredAttentionQuestion, ShiftQuestion,
                 ConcatenateQuestion, EmbeddingQuestion, SoftmaxQuestion, OptimizerStepQuestion,
                 RingAttentionQuestion, UlyssesQuestion, ShiftPipelineQuestion>;

// What the file says a plan costs, where it says so.
struct ExpectedCost {
  double send_bytes = 0;
};

struct ShardCase {
  std::string id, category, op;
  Mesh mesh;
  Question question;
  std::optional<ExpectedCost> expected;
};

}  // namespace podsim
