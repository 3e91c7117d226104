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

// Of a forward pass, by the scores that count.
struct Forward {
  double without_scores = 0, causal = 0, full = 0;
  Forward& operator+=(const Forward& more) {
    without_scores += more.without_scores;
    causal += more.causal;
    full += more.full;
    return *this;
  }
};

Forward forward_per_token(const Job& job, const Graph& graph, const std::vector<Operation>& operations) {
  double matmuls = 0, causal = 0, full = 0;
  for (const Operation& op : operations) {
    if (op.kind == OperationKind::kEinsum) matmuls += matmul_flops(graph, op);
    if (op.kind == OperationKind::kConvolution) matmuls += convolution_flops(graph, op);
    if (op.kind == OperationKind::kAttention) {
      causal += score_flops(graph, op, job.model.causal);
      full += score_flops(graph, op, false);
    }
  }
  const double tokens = static_cast<double>(job.microbatch) * batch_shards(job) * job.sequence;
  return {matmuls / tokens, matmuls / tokens + causal / tokens, matmuls / tokens + full / tokens};
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
  return forward_per_token(job, graph, frozen).full;
}

Forward recomputed(const Job& job, const ModelPart& part) {
  if (!part.recomputes) return {};
  Graph graph = part.graph;
  const Backward backward = differentiate(graph, job.stack.gradient_bytes);
  return forward_per_token(job, graph, retain(job, graph, backward, true).again);
}

}  // namespace

FlopsPerToken flops_per_token(const Job& job, const ModelProgram& model) {
  struct OfPart {
    Forward once, again;
    double frozen;
  };
  std::vector<OfPart> of_part;
  for (const ModelPart& part : model.parts)
    of_part.push_back({forward_per_token(job, part.graph, part.graph.operations), recomputed(job, part),
                       frozen_flops_per_token(job, part.graph)});
  Forward forward, again;
  double frozen = 0;
  for (const int index : model.sequence) {
    const OfPart& part = of_part[static_cast<std::size_t>(index)];
    forward += part.once;
    again += part.again;
    frozen += part.frozen;
  }
  FlopsPerToken flops;
  flops.full = {3 * forward.full - frozen};
  flops.causal = {3 * forward.causal - frozen};
  flops.without_scores = {3 * forward.without_scores - frozen};
  flops.hardware = flops.full + Flops{again.full};
  flops.hardware_without_scores = flops.without_scores + Flops{again.without_scores};
  return flops;
}

Flops fewest_flops_per_token(const Job& job, const ModelProgram& model) {
  const FlopsPerToken flops = flops_per_token(job, model);
  return job.lengths.any() ? flops.without_scores : flops.causal;
}

FlopsPerToken of_documents(const FlopsPerToken& flops, double squares) {
  const auto fewer = [squares](Flops whole, Flops without) { return without + squares * (whole - without); };
  FlopsPerToken documents = flops;
  documents.full = fewer(flops.full, flops.without_scores);
  documents.causal = fewer(flops.causal, flops.without_scores);
  documents.hardware = fewer(flops.hardware, flops.hardware_without_scores);
  return documents;
}

}  // namespace podsim
