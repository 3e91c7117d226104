// FLOPs per token of a model, by definition: what MFU and HFU count.
#include "workload/partition/model_flops.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "engine/check.h"
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

// Keys that a query sees at most; 0: all.
double window_of(const Graph& graph, const Operation& op) {
  const auto window = static_cast<double>(op.attention_window);
  return window < extent(graph, op.inputs[1], 't') ? window : 0;
}

// Keys that a query sees, averaged over the sequence as in an integral: half of all, not half and one half.
double keys_seen(const Operation& op, double keys, double window, bool causal) {
  const double most = window > 0 ? window : keys;
  return causal && op.causal ? most * (1 - most / (2 * keys)) : most;
}

double score_flops(const Graph& graph, const Operation& op, bool causal) {
  const Operand &q = op.inputs[0], &kv = op.inputs[1], &context = op.outputs[0];
  const double rows = extent(graph, q, 'b') * extent(graph, q, 's') * extent(graph, q, 'n');
  const double widths =
      extent(graph, q, q.letters.size() - 1) + extent(graph, context, context.letters.size() - 1);
  return 2 * rows * keys_seen(op, extent(graph, kv, 't'), window_of(graph, op), causal) * widths;
}

// Of a forward pass.
struct Forward {
  double without_scores = 0;
  struct Scores {
    double causal = 0, full = 0;
  };
  std::map<double, Scores> scores;  // [window]

  double causal() const {
    double all = without_scores;
    for (const auto& [window, each] : scores) all += each.causal;
    return all;
  }
  double full() const {
    double all = without_scores;
    for (const auto& [window, each] : scores) all += each.full;
    return all;
  }
  Forward& operator+=(const Forward& more) {
    without_scores += more.without_scores;
    for (const auto& [window, each] : more.scores) {
      scores[window].causal += each.causal;
      scores[window].full += each.full;
    }
    return *this;
  }
};

Forward forward_per_token(const Job& job, const Graph& graph, const std::vector<Operation>& operations) {
  const double tokens = static_cast<double>(job.microbatch) * batch_shards(job) * job.sequence;
  Forward forward;
  for (const Operation& op : operations) {
    if (op.kind == OperationKind::kEinsum) forward.without_scores += matmul_flops(graph, op);
    if (op.kind == OperationKind::kConvolution) forward.without_scores += convolution_flops(graph, op);
    if (op.kind == OperationKind::kAttention) {
      Forward::Scores& scores = forward.scores[window_of(graph, op)];
      scores.causal += score_flops(graph, op, job.model.causal);
      scores.full += score_flops(graph, op, false);
    }
  }
  forward.without_scores /= tokens;
  for (auto& [window, scores] : forward.scores) scores = {scores.causal / tokens, scores.full / tokens};
  return forward;
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
  return forward_per_token(job, graph, frozen).full();
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
  flops.full = {3 * forward.full() - frozen};
  flops.causal = {3 * forward.causal() - frozen};
  flops.without_scores = {3 * forward.without_scores - frozen};
  flops.hardware = flops.full + Flops{again.full()};
  flops.hardware_without_scores = flops.without_scores + Flops{again.without_scores};
  for (const auto& [window, scores] : forward.scores)
    flops.scores.push_back(
        {window, {3 * scores.full}, {3 * scores.causal}, {3 * scores.full + again.scores[window].full}});
  return flops;
}

Flops forward_flops_without_scores(const Job& job, const ModelProgram& model) {
  std::vector<double> of_part;
  for (const ModelPart& part : model.parts)
    of_part.push_back(forward_per_token(job, part.graph, part.graph.operations).without_scores);
  double sum = 0;
  for (const int index : model.sequence) sum += of_part[static_cast<std::size_t>(index)];
  return {sum};
}

Flops fewest_flops_per_token(const Job& job, const ModelProgram& model) {
  const FlopsPerToken flops = flops_per_token(job, model);
  return job.lengths.any() ? flops.without_scores : flops.causal;
}

std::vector<KeyWindow> key_windows(const FlopsPerToken& flops) {
  std::vector<KeyWindow> windows = {{}};
  for (const ScoreFlops& each : flops.scores)
    if (each.window > 0) windows.insert(windows.end(), {{each.window, true}, {each.window, false}});
  return windows;
}

std::size_t place_of(const KeyWindow& window, std::span<const KeyWindow> windows) {
  const auto found = std::ranges::find_if(windows, [&](const KeyWindow& each) {
    return each.keys == window.keys && (each.keys == 0 || each.causal == window.causal);
  });
  PODSIM_CHECK(found != windows.end(), "the window is one of the model's");
  return static_cast<std::size_t>(found - windows.begin());
}

FlopsPerToken of_documents(const FlopsPerToken& flops, std::span<const double> attention) {
  const std::vector<KeyWindow> windows = key_windows(flops);
  FlopsPerToken documents = flops;
  documents.full = documents.causal = flops.without_scores;
  documents.hardware = flops.hardware_without_scores;
  for (ScoreFlops& each : documents.scores) {
    const double all = attention[place_of({each.window, false}, windows)];
    const bool causal = each.causal != each.full;
    each.causal = {each.causal.value * attention[place_of({each.window, causal}, windows)]};
    each.full = {each.full.value * all};
    each.hardware = {each.hardware.value * all};
    documents.full += each.full;
    documents.causal += each.causal;
    documents.hardware += each.hardware;
  }
  return documents;
}

}  // namespace podsim
