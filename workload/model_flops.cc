// FLOPs per token of a model, by definition: what MFU and HFU count.
#include "workload/model_flops.h"

#include <algorithm>

#include "workload/kernels.h"

namespace podsim {
namespace {

struct ForwardFlops {
  double matmuls = 0, scores = 0;
};

double extent(const Graph& graph, const Operand& operand, std::size_t dim) {
  const Tensor& tensor = graph.tensors[static_cast<std::size_t>(operand.tensor)];
  double size = 0;
  for (const DimBlock& block : tensor.dims[dim].blocks) size += static_cast<double>(block.size);
  return size;
}
double extent(const Graph& graph, const Operand& operand, char letter) {
  return extent(graph, operand, operand.letters.find(letter));
}

double matmul_flops(const Graph& graph, const Operation& op) {
  double product = 2 * op.useful;
  std::string seen;
  for (const Operand& input : op.inputs) {
    for (std::size_t i = 0; i < input.letters.size(); ++i) {
      if (seen.find(input.letters[i]) != std::string::npos) continue;
      seen += input.letters[i];
      product *= extent(graph, input, i);
    }
  }
  return product;
}

// Every output pixel sees the whole filter of its channel.
double convolution_flops(const Graph& graph, const Operation& op) {
  const Operand &filter = op.inputs[1], &out = op.outputs[0];
  double product = 2;
  for (std::size_t i = 0; i < filter.letters.size(); ++i) product *= extent(graph, filter, i);
  for (std::size_t i = 0; i < out.letters.size(); ++i) {
    if (filter.letters.find(out.letters[i]) == std::string::npos) product *= extent(graph, out, i);
  }
  return product;
}

// Keys that a query sees, averaged over the sequence as in an integral: half of all, not half and one half.
double keys_seen(const Operation& op, double keys, bool causal) {
  const double window = op.attention_window > 0 ? std::min<double>(op.attention_window, keys) : keys;
  return causal && op.causal ? window * (1 - window / (2 * keys)) : window;
}

double score_flops(const Graph& graph, const Operation& op, bool causal) {
  const Operand &q = op.inputs[0], &kv = op.inputs[1], &context = op.outputs[0];
  const double rows = extent(graph, q, 'b') * extent(graph, q, 's') * extent(graph, q, 'n');
  const double widths =
      extent(graph, q, q.letters.size() - 1) + extent(graph, context, context.letters.size() - 1);
  return 2 * rows * keys_seen(op, extent(graph, kv, 't'), causal) * widths;
}

ForwardFlops forward(const Job& job, const ModelPart& part, bool causal) {
  ForwardFlops flops;
  for (const Operation& op : part.graph.operations) {
    if (op.kind == OperationKind::kEinsum) flops.matmuls += matmul_flops(part.graph, op);
    if (op.kind == OperationKind::kConvolution) flops.matmuls += convolution_flops(part.graph, op);
    if (op.kind == OperationKind::kAttention)
      flops.scores += score_flops(part.graph, op, causal && job.model.causal);
  }
  const double tokens = static_cast<double>(job.microbatch) * job.batch_shards() * job.sequence;
  return {flops.matmuls / tokens, flops.scores / tokens};
}

}  // namespace

Flops model_flops_per_token(const Job& job, const ModelProgram& model, bool causal) {
  std::vector<double> of_part;
  for (const ModelPart& part : model.parts) {
    const ForwardFlops flops = forward(job, part, causal);
    of_part.push_back(flops.matmuls + flops.scores);
  }
  double sum = 0;
  for (int part : model.sequence) sum += of_part[static_cast<std::size_t>(part)];
  return Flops{3 * sum};
}

Flops hardware_flops_per_token(const Job& job, const ModelProgram& model) {
  double again = 0;
  for (int index : model.sequence) {
    const ModelPart& part = model.parts[static_cast<std::size_t>(index)];
    if (!part.layer) continue;
    const ForwardFlops flops = forward(job, part, false);
    if (job.recompute == Recompute::kFull) again += flops.matmuls + flops.scores;
    if (job.recompute == Recompute::kSelective && !fused_attention(job.stack)) again += flops.scores;
  }
  return model_flops_per_token(job, model, false) + Flops{again};
}

}  // namespace podsim
