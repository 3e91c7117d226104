// Bytes that one piece of the model needs on one device beside its weights.
#include "workload/partition/footprint.h"

#include <algorithm>
#include <set>

#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/model/apply_precision.h"
#include "workload/partition/kernels.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Of one score of unfused attention: the output of the softmax; with dropout its mask and its result too.
// Source: arXiv 2205.05198, section 4.1.
constexpr double kBytesPerScore = 2;
constexpr double kBytesPerDroppedScore = 5;
// What autograd keeps of a chain of kernels beside the output of an operation, per element of that: of a norm
// the input in fp32 and the scaled values in 16 bits, of a gated activation the activated gate. Counted as
// the traffic of these chains in kernels.cc.
constexpr double kUnfusedNormBytes = 6;
constexpr double kUnfusedActivationBytes = 2;

double chain_bytes(const Operation& op, const FusedKernels& fused) {
  if (!fused.norm) {
    if (op.chain == KernelChain::kNorm) return kUnfusedNormBytes;
    if (op.normed > 0) return op.normed * kUnfusedNormBytes;
  }
  return op.chain == KernelChain::kActivation && !fused.activation ? kUnfusedActivationBytes : 0;
}

bool makes(const Operation& op, TensorId id) {
  return std::any_of(op.outputs.begin(), op.outputs.end(),
                     [&](const Operand& out) { return out.tensor == id; });
}

class Measurer {
 public:
  explicit Measurer(const PlannedPart& part) : part_(part) {}

  PartFootprint run(const Block& forward) {
    const Graph& graph = part_.graph;
    if (graph.output >= 0) result_.output = bytes(graph.output);
    if (graph.context >= 0) {
      result_.output += bytes(graph.context);
      const auto& operations = graph.operations;
      if (std::any_of(operations.begin(), operations.end(),
                      [&](const Operation& op) { return makes(op, graph.context); }))
        result_.kept.push_back({tensor(graph.context).name, bytes(graph.context)});
    }
    for (TensorId id : part_.retention.stored) keep(id, false);
    for (TensorId id : part_.retention.offloaded) keep(id, true);
    for (TensorId id : part_.retention.remade) {
      if (id == graph.context) continue;
      result_.remade += is_logits(id) ? logits(id) : bytes(id);
    }
    for (const Operation& op : graph.operations) keep_chain(op);
    for (const ProgramOp& op : forward) measure(op);
    measure_weight_gradients();
    return std::move(result_);
  }

 private:
  const Tensor& tensor(TensorId id) const { return part_.graph.tensors[static_cast<std::size_t>(id)]; }
  double local(TensorId id) const { return local_elements(shape_of(tensor(id)), part_.blocks.layout(id)); }
  Bytes bytes(TensorId id) const { return Bytes{local(id) * tensor(id).element_bytes}; }

  bool is_logits(TensorId id) const { return tensor(id).dims.back().logical == "vocabulary"; }
  Bytes logits(TensorId id) const { return local(id) * Bytes{part_.job.stack.logit_bytes}; }

  // All pieces read the same context. Logits that wait on the chip are told apart.
  void keep(TensorId id, bool on_host) {
    if (id == part_.graph.context) return;
    if (is_logits(id)) {
      result_.logits += logits(id);
      return;
    }
    const double elements = on_host ? local(id) : held(id);
    result_.kept.push_back(
        {tensor(id).name,
         elements * Bytes{kept_bytes(part_.graph, part_.backward.operations, part_.retention.again, id)},
         on_host});
  }
  double held(TensorId id) const {
    return part_.job.stack.keeps_gathered ? part_.blocks.largest_copy(id) : local(id);
  }

  // What lies between the kernels of an unfused operation is kept or made again with its output.
  void keep_chain(const Operation& op) {
    const double per_element = chain_bytes(op, part_.job.stack.fused);
    if (per_element == 0) return;
    const TensorId out = op.outputs.front().tensor;
    double elements = 0;
    for (const Operand& made : op.outputs) elements += local(made.tensor);
    const Bytes between = per_element * Bytes{elements};
    const std::vector<TensorId>& remade = part_.retention.remade;
    if (std::find(remade.begin(), remade.end(), out) != remade.end())
      result_.remade += between;
    else
      result_.kept.push_back({tensor(out).name + ", between kernels", between});
  }

  // Once the input gradient is made only weight gradients read on, in the bytes of their matmuls.
  void measure_weight_gradients() {
    std::vector<Operation> makers;
    std::set<TensorId> read;
    for (const Operation& op : part_.backward.operations) {
      if (!makes_weight_gradient(part_.graph, op)) continue;
      makers.push_back(op);
      for (const Operand& input : op.inputs) {
        if (!is_parameter(tensor(input.tensor))) read.insert(input.tensor);
      }
    }
    for (TensorId id : read)
      result_.for_weights += local(id) * Bytes{kept_bytes(part_.graph, makers, {}, id)};
  }

  void measure(const ProgramOp& op) {
    const auto* compute = std::get_if<ComputeOp>(&op);
    if (compute && compute->op_class == OpClass::kAttention && !fused_attention(part_.job.stack)) {
      const double per_score = part_.job.model.dropout ? kBytesPerDroppedScore : kBytesPerScore;
      const Bytes scores{per_score * compute->sequences * compute->heads * compute->query_length *
                         compute->key_length};
      if (part_.retention.scores) {
        result_.kept.push_back({"scores", scores});
      } else {
        result_.remade += scores;
      }
    }
    const auto* collective = std::get_if<CollectiveOp>(&op);
    if (!collective || collective->purpose != Purpose::kParameter) return;
    result_.gathered += collective->bytes;
    result_.largest_gather = std::max(result_.largest_gather, collective->bytes);
  }

  const PlannedPart& part_;
  PartFootprint result_;
};

Bytes sum_of(const std::vector<KeptActivation>& kept, bool on_host) {
  Bytes sum;
  for (const KeptActivation& each : kept) {
    if (each.on_host == on_host) sum += each.bytes;
  }
  return sum;
}

}  // namespace

Bytes PartFootprint::stored() const { return sum_of(kept, false); }
Bytes PartFootprint::offloaded() const { return sum_of(kept, true); }

PartFootprint footprint_of(const PlannedPart& part, const Block& forward) {
  return Measurer(part).run(forward);
}

}  // namespace podsim
