// FLOPs per token of a model, by definition: what MFU and HFU count.
#include "workload/partition/model_flops.h"

#include <algorithm>
#include <iterator>

#include "workload/job/job.h"
#include "workload/job/model.h"
#include "workload/job/stack.h"
#include "workload/partition/recompute.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

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

double flops_per_token(const Job& job, const Graph& graph, const std::vector<Operation>& operations,
                       bool causal) {
  double matmuls = 0, scores = 0;
  for (const Operation& op : operations) {
    if (op.kind == OperationKind::kEinsum) matmuls += matmul_flops(graph, op);
    if (op.kind == OperationKind::kConvolution) matmuls += convolution_flops(graph, op);
    if (op.kind == OperationKind::kAttention) scores += score_flops(graph, op, causal && job.model.causal);
  }
  const double tokens = static_cast<double>(job.microbatch) * batch_shards(job) * job.sequence;
  return matmuls / tokens + scores / tokens;
}

// Of matmuls by frozen weights, whose gradients nobody computes.
double frozen_flops_per_token(const Job& job, const Graph& graph) {
  if (!job.adapters) return 0;
  std::vector<Operation> frozen;
  std::ranges::copy_if(graph.operations, std::back_inserter(frozen), [&](const Operation& op) {
    return std::ranges::any_of(op.inputs, [&](const Operand& input) {
      return graph.tensors[static_cast<std::size_t>(input.tensor)].frozen;
    });
  });
  return flops_per_token(job, graph, frozen, false);
}

double recomputed_flops(const Job& job, const ModelPart& part) {
  if (!part.recomputes) return 0;
  Graph graph = part.graph;
  const Backward backward = differentiate(graph, job.stack.gradient_bytes);
  return flops_per_token(job, graph, retain(job, graph, backward, true).again, false);
}

}  // namespace

Flops model_flops_per_token(const Job& job, const ModelProgram& model, bool causal) {
  std::vector<double> of_part, frozen;
  for (const ModelPart& part : model.parts) {
    of_part.push_back(flops_per_token(job, part.graph, part.graph.operations, causal));
    frozen.push_back(frozen_flops_per_token(job, part.graph));
  }
  double sum = 0, without_gradient = 0;
  for (int part : model.sequence) {
    sum += of_part[static_cast<std::size_t>(part)];
    without_gradient += frozen[static_cast<std::size_t>(part)];
  }
  return Flops{3 * sum - without_gradient};
}

Flops hardware_flops_per_token(const Job& job, const ModelProgram& model) {
  std::vector<double> of_part(model.parts.size(), -1);
  double again = 0;
  for (int index : model.sequence) {
    const ModelPart& part = model.parts[static_cast<std::size_t>(index)];
    if (of_part[static_cast<std::size_t>(index)] < 0)
      of_part[static_cast<std::size_t>(index)] = recomputed_flops(job, part);
    again += of_part[static_cast<std::size_t>(index)];
  }
  return model_flops_per_token(job, model, false) + Flops{again};
}

}  // namespace podsim
