// What an operation costs one device: FLOPs executed and HBM bytes of its shards.
#include "workload/partition/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "workload/job/job.h"
#include "workload/job/model.h"
#include "workload/job/precision.h"
#include "workload/job/stack.h"
#include "workload/model/apply_precision.h"

namespace podsim {
namespace {

// HBM traffic of an unfused softmax: mask, softmax and dropout, read and written in 16 bits.
// Source: fitted on published runs, docs/theory/model.md (unfused attention).
constexpr double kSoftmaxBytesPerScore = 10.5;
constexpr double kSoftmaxBackward = 1.2;  // times the forward traffic; same source
// A flash backward computes the scores again: five matmuls against two. Source: arXiv 2307.08691.
constexpr double kFlashBackwardFlops = 2.5;
constexpr double kUnfusedBackwardFlops = 2;  // four matmuls against two
// Of the loss traffic: forward reads the logits, backward reads and writes them.
constexpr double kLossForwardShare = 1.0 / 3;
constexpr double kBf16Bytes = 2;
// HBM traffic of chains of kernels over that of one that reads and writes in 16 bits, counted from the
// PyTorch code of Hugging Face's Llama: an RMS norm converts to fp32, squares, averages, scales, converts
// back and multiplies (34 bytes of 4); a rotary embedding turns halves of queries and keys round, multiplies
// twice and adds (36 of 12, values counted); a gated activation writes the activated gate and reads it for
// the product (10 of 6); dropout writes what the sum reads (11 of 7).
constexpr double kUnfusedNorm = 8.5;
constexpr double kUnfusedRotary = 3;
constexpr double kUnfusedActivation = 10.0 / 6;
constexpr double kUnfusedDropout = 11.0 / 7;
// What the host takes to launch such chains, of what it takes for another operation of a layer, on average:
// chosen by hand between the host times of layers of seven models on an H100 and an H200,
// docs/evidence/one-gpu.md.
constexpr double kUnfusedNormLaunches = 3.5;
constexpr double kUnfusedRotaryLaunches = 5;
constexpr double kConvolutionLaunches = 2.5;  // with 64 images ResNet-50 is bound by the host there

bool concerns_experts(const PlanContext& context, const Operation& op) {
  if (op.kind == OperationKind::kRoute) return true;
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *operands)
      if (context.tensor(operand.tensor).of_experts) return true;
  }
  return false;
}

class Lowering {
 public:
  Lowering(const PlanContext& context, const Operation& op, const LetterAxes& plan, const std::string& suffix,
           Block& block)
      : context_(context),
        op_(op),
        plan_(plan),
        name_(op.name + suffix),
        of_experts_(concerns_experts(context, op)),
        recomputed_(!suffix.empty()),
        block_(block) {}

  void run() {
    switch (op_.kind) {
      case OperationKind::kEinsum:
        return matmul();
      case OperationKind::kAttention:
        return attention();
      case OperationKind::kElementwise:
      case OperationKind::kSum:
      case OperationKind::kRoute:
      case OperationKind::kDispatch:
      case OperationKind::kCombine:
      case OperationKind::kReduce:
      case OperationKind::kTranspose:
      case OperationKind::kConcatenate:
      case OperationKind::kShift:
        return elementwise();
      case OperationKind::kReshape:
        return;  // another name for the same memory
      case OperationKind::kConvolution:
        return convolution();
      case OperationKind::kEmbedding:
        return embedding();
      case OperationKind::kLoss:
        return loss();
    }
  }

 private:
  double local(const Operand& operand) const {
    double product = 1;
    for (char letter : operand.letters) product *= local_letter(context_, operand, letter, plan_);
    return product;
  }
  double local(const Operand& operand, char letter) const {
    return local_letter(context_, operand, letter, plan_);
  }
  const Tensor& tensor(const Operand& operand) const { return context_.tensor(operand.tensor); }
  bool activation(const Operand& operand) const { return tensor(operand).role == TensorRole::kActivation; }

  ComputeOp compute(std::string name, OpClass op_class) const {
    ComputeOp result;
    result.name = std::move(name);
    result.op_class = op_class;
    result.backward = op_.backward;
    result.of_experts = of_experts_;
    result.recomputed = recomputed_;
    return result;
  }
  void memory_bound(std::string name, double bytes, double launches = 1) {
    ComputeOp result = compute(std::move(name), OpClass::kMemoryBound);
    result.hbm = Bytes{bytes};
    result.launches = launches;
    block_.push_back(std::move(result));
  }

  void matmul() {
    const Operand &a = op_.inputs[0], &b = op_.inputs[1], &c = op_.outputs[0];
    ComputeOp result = compute(name_, OpClass::kMatmul);
    result.m = result.n = result.k = 1;
    for (char letter : a.letters) {
      const bool in_b = has_letter(b.letters, letter), in_c = has_letter(c.letters, letter);
      double& extent = in_b && in_c ? result.repeats : in_c ? result.m : result.k;
      extent *= local(a, letter);
    }
    for (char letter : b.letters) {
      if (!has_letter(a.letters, letter)) result.n *= local(b, letter);
    }
    result.row_alignment = row_alignment();
    const double input_bytes = quantise(result);
    result.flops = Flops{2 * result.m * result.n * result.k * result.repeats};
    result.hbm = Bytes{(local(a) + local(b)) * input_bytes + local(c) * tensor(c).element_bytes};
    block_.push_back(std::move(result));
  }

  // Rows of activations are features, those of a weight features of either side: what a weight has in common
  // with one of the others, and what it has in common with the other.
  int row_alignment() const {
    const auto of_weight = [&](const Operand& operand) { return !activation(operand); };
    std::vector<const Operand*> weights, others;
    for (const auto* operands : {&op_.inputs, &op_.outputs}) {
      for (const Operand& operand : *operands) (of_weight(operand) ? weights : others).push_back(&operand);
    }
    if (weights.size() != 1 || others.size() != 2) return ComputeOp().row_alignment;
    const auto repeated = [&](char letter) {
      return has_letter(others[0]->letters, letter) && has_letter(others[1]->letters, letter);
    };
    int alignment = ComputeOp().row_alignment;
    for (const Operand* other : others) {
      double features = 1;
      for (char letter : weights.front()->letters)
        if (has_letter(other->letters, letter) && !repeated(letter))
          features *= local(*weights.front(), letter);
      const auto row = static_cast<std::int64_t>(std::ceil(features));
      while (row % alignment != 0) alignment /= 2;
    }
    return alignment;
  }

  // An implicit matmul: m = pixels, n = channels made, k = window x channels read; the image is never
  // unfolded. Of a filter's gradient, m and k change places.
  void convolution() {
    const Operand &a = op_.inputs[0], &b = op_.inputs[1], &c = op_.outputs[0];
    const bool of_filter = op_.backward && !has_letter(c.letters, op_.windows.front().letter);
    // Windows stand at the pixels of the forward output: what a gradient of the image reads.
    const Operand& pixels = of_filter ? b : op_.backward ? a : c;
    const Operand& filter = of_filter ? c : b;
    ComputeOp result = compute(name_, OpClass::kMatmul);
    result.launches = kConvolutionLaunches;
    result.m = result.n = result.k = result.repeats = 1;
    for (char letter : c.letters) {
      const bool in_a = has_letter(a.letters, letter), in_b = has_letter(b.letters, letter);
      double& extent = in_a && in_b ? result.repeats : in_b ? result.n : result.m;
      extent *= local(c, letter);
    }
    double products = local(filter);
    for (char letter : pixels.letters) {
      if (!has_letter(filter.letters, letter)) products *= local(pixels, letter);
    }
    result.k = products / (result.m * result.n * result.repeats);
    const double input_bytes = quantise(result);
    result.flops = Flops{2 * products};
    result.hbm = Bytes{(local(a) + local(b)) * input_bytes + local(c) * tensor(c).element_bytes};
    block_.push_back(std::move(result));
  }

  // The format of a matmul, with the casts of inputs that no earlier pass has made in it: both operands in
  // forward, the output gradient at its first use. Returns the bytes of an input element.
  double quantise(ComputeOp& matmul) {
    const PrecisionRecipe* recipe = running_recipe(context_.graph, op_);
    if (!recipe) return kBf16Bytes;
    matmul.dtype = recipe->dtype;
    const double bytes = bytes_per_element(recipe->dtype);
    if (bytes >= kBf16Bytes || recipe->cast_bytes == 0) return bytes;
    const bool of_weight = tensor(op_.outputs[0]).role == TensorRole::kParameterGradient;
    // A weight gradient has the forward input first, then the output gradient; an input gradient has the
    // output gradient first, then the weight.
    const auto to_cast = [&](const Operand& input) {
      return tensor(input).cast_bytes > 0 ? 0 : local(input);
    };
    const double first = to_cast(op_.inputs[0]), second = to_cast(op_.inputs[1]);
    double count = first + second;
    if (op_.backward && of_weight) {
      count = (recipe->forward ? 0 : first) + (recipe->input_gradient ? 0 : second);
    } else if (op_.backward) {
      count = first + (recipe->forward ? 0 : second);
    }
    if (count > 0) memory_bound(name_ + " cast", count * recipe->cast_bytes, 0);
    return bytes;
  }

  // Share of all pairs that a kernel computes: a query of position i sees i + 1 keys, a window at most.
  static double seen_pairs(double keys, double window, bool causal) {
    return causal ? (2 * keys - window + 1) * window / (2 * keys * keys) : window / keys;
  }

  // Blocks that the edge of the mask cuts are computed whole: half a block of keys too many at every edge.
  static double computed_pairs(double keys, double window, bool causal, double block) {
    const double half_block = std::min(block, keys) / 2 / keys;
    const double whole = std::min(1.0, seen_pairs(keys, keys, causal) + (causal ? half_block : 0));
    if (window == keys) return whole;
    return std::min(whole, seen_pairs(keys, window, causal) + 2 * half_block);
  }

  void attention() {
    const Operand &q = op_.inputs[0], &kv = op_.inputs[1];
    const Operand& values = op_.backward ? op_.inputs[2] : op_.outputs[0];
    const bool fused = fused_attention(context_.job.stack);
    ComputeOp result = compute(name_, OpClass::kAttention);
    result.sequences = local(q, 'b');
    result.query_length = local(q, 's');
    const double keys = result.key_length = local(kv, 't');
    result.heads = local(q, 'n');
    result.head_dim = (local(q, q.letters.back()) + local(values, values.letters.back())) / 2;
    result.sinks = context_.job.model.attention_sinks;
    result.causal = context_.job.model.causal && op_.causal && fused;
    const double window =
        fused && op_.attention_window > 0 ? std::min<double>(op_.attention_window, keys) : keys;
    if (window < keys) result.window = window;
    const double scores = result.sequences * result.heads * result.query_length * result.key_length;
    const double block = fused ? context_.job.stack.attention_block : 0;
    const double computed = computed_pairs(keys, window, result.causal, block);
    const double backward = fused ? kFlashBackwardFlops : kUnfusedBackwardFlops;
    result.flops = Flops{4 * scores * computed * result.head_dim * (op_.backward ? backward : 1)};
    double moved = 0;
    for (const auto* operands : {&op_.inputs, &op_.outputs}) {
      for (const Operand& operand : *operands) moved += local(operand);
    }
    result.hbm = Bytes{moved * kBf16Bytes};
    block_.push_back(std::move(result));
    if (!fused) {
      memory_bound(name_ + " softmax", scores * kSoftmaxBytesPerScore * (op_.backward ? kSoftmaxBackward : 1),
                   0);
    }
  }

  void elementwise() {
    double moved = 0;
    for (const auto* operands : {&op_.inputs, &op_.outputs}) {
      for (const Operand& operand : *operands)
        moved += activation(operand) ? local(operand) * tensor(operand).element_bytes : 0;
    }
    memory_bound(name_, moved * op_.passes * traffic(), launches());
  }

  // Bytes over those of perfect fusion.
  double traffic() const {
    const Stack& stack = context_.job.stack;
    const double chains = unfused() * stack.elementwise_traffic;
    if (!of_experts_) return chains;
    const double experts = stack.experts.traffic.value_or(chains);
    const bool permutes = op_.kind == OperationKind::kDispatch || op_.kind == OperationKind::kCombine;
    return permutes ? stack.experts.permutation_traffic.value_or(experts) : experts;
  }

  double unfused() const {
    const FusedKernels& fused = context_.job.stack.fused;
    return of_chain() + (fused.norm ? 0 : op_.normed * kUnfusedNorm);
  }

  double of_chain() const {
    const FusedKernels& fused = context_.job.stack.fused;
    switch (op_.chain) {
      case KernelChain::kNorm:
        return fused.norm ? 1 : kUnfusedNorm;
      case KernelChain::kRotary:
        return fused.rotary ? 1 : kUnfusedRotary;
      case KernelChain::kActivation:
        return fused.activation ? 1 : kUnfusedActivation;
      case KernelChain::kDropout:
        return fused.dropout ? 1 : kUnfusedDropout;
      case KernelChain::kNone:
        return 1;
    }
    return 1;
  }

  double launches() const {
    constexpr int kNormsOfHeads = 2;  // of queries and of keys
    const FusedKernels& fused = context_.job.stack.fused;
    const double norms = op_.normed > 0 ? kNormsOfHeads : 0;
    if (op_.chain == KernelChain::kNorm) return fused.norm ? 1 : kUnfusedNormLaunches;
    const double turned = op_.chain == KernelChain::kRotary && !fused.rotary ? kUnfusedRotaryLaunches : 1;
    return turned + (fused.norm ? 0 : norms * kUnfusedNormLaunches);
  }

  // One row is read for each id; those of one bag are added and written out once. The way back reads a
  // gradient and adds it to a row: what has rows that no input has is written to.
  void embedding() {
    const auto in_inputs = [&](char letter) {
      return std::any_of(op_.inputs.begin(), op_.inputs.end(),
                         [&](const Operand& input) { return has_letter(input.letters, letter); });
    };
    const std::string& made = op_.outputs.front().letters;
    const bool adds = !std::all_of(made.begin(), made.end(), in_inputs);
    const Operand& rows = adds ? op_.inputs.front() : op_.outputs.front();
    double bags = 1;
    for (const Operand& input : op_.inputs) {
      if (tensor(input).role != TensorRole::kIndex) continue;
      for (char letter : input.letters) bags *= has_letter(rows.letters, letter) ? 1 : local(input, letter);
    }
    memory_bound(name_, (1 + bags) * local(rows) * kBf16Bytes);
  }

  void loss() {
    const double share = op_.backward ? 1 - kLossForwardShare : kLossForwardShare;
    memory_bound(name_, local(op_.inputs[0]) * context_.job.stack.loss_bytes_per_logit * share);
  }

  const PlanContext& context_;
  const Operation& op_;
  const LetterAxes& plan_;
  std::string name_;
  const bool of_experts_;
  bool recomputed_;
  Block& block_;
};

}  // namespace

bool fused_attention(const Stack& stack) { return stack.attention_kernel != "unfused"; }

void lower_operation(const PlanContext& context, const Operation& op, const LetterAxes& plan,
                     const std::string& suffix, Block& block) {
  Lowering(context, op, plan, suffix, block).run();
}

ComputeOp weight_casts(const std::string& part, Bytes traffic) {
  ComputeOp result;
  result.name = part + " weight casts";
  result.op_class = OpClass::kMemoryBound;
  result.hbm = traffic;
  return result;
}

ComputeOp optimizer_update(const std::string& part, double local_state, double local_gradients,
                           const Stack& stack) {
  ComputeOp result;
  result.name = part + " optimizer";
  result.op_class = OpClass::kOptimizer;
  result.dtype = Dtype::kFp32;
  result.hbm = Bytes{2 * stack.optimizer_traffic * stack.optimizer_state_bytes * local_state +
                     stack.gradient_pass_bytes * local_gradients};
  return result;
}

ComputeOp gradient_addition(const std::string& part, double local_gradients, const Stack& stack) {
  ComputeOp result;
  result.name = part + " gradient sum";
  result.op_class = OpClass::kMemoryBound;
  result.backward = result.weight_gradient = true;
  result.hbm = Bytes{stack.gradient_add_bytes * local_gradients};
  return result;
}

}  // namespace podsim
