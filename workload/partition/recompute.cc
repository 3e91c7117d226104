// What a layer keeps of its forward pass, on the chip or on the host, and what backward computes again.
#include "workload/partition/recompute.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/partition/kernels.h"
#include "workload/pipeline/stages.h"

namespace podsim {
namespace {

using Names = std::vector<std::string>;

struct NamedTensors {
  std::string name;
  Names tensors;
};

constexpr const char* kScores = "scores";

// Words of other software for our tensors. Gate and up projection are one tensor here, and so are keys and
// values: a word for one of the two means both. Sources: checkpoint names of AI-Hypercomputer/maxtext
// (decoder layers, attention after the rotary embedding) and --recompute-modules of NVIDIA/Megatron-LM, each
// module as the activations that it computes again.
const std::vector<NamedTensors>& words() {
  static const std::vector<NamedTensors> all = {
      {"decoder_layer_input", {"layer input"}},
      {"query_proj", {"q"}},
      {"key_proj", {"kv"}},
      {"value_proj", {"kv"}},
      {"qkv_proj", {"q", "kv"}},
      {"context", {"context"}},
      {"attention_out", {"attention out"}},
      {"out_proj", {"attention out"}},
      {"mlpwi", {"ffn up", "expert up", "shared expert up"}},
      {"mlpwi_0", {"ffn up", "expert up", "shared expert up"}},
      {"mlpwi_1", {"ffn up", "expert up", "shared expert up"}},
      {"mlpwo", {"ffn down", "expert down", "shared expert down"}},
      {"core_attn", {kScores}},
      {"layernorm", {"norm", "norm 1", "norm 2", "norm 3"}},
      {"mlp", {"ffn up", "ffn activation", "ffn down"}},
      {"moe_act", {"expert activation"}},
      {"moe",
       {"router scores", "router weights", "slots", "expert input", "expert up", "expert activation",
        "expert down", "expert results", "combined", "shared expert up", "shared expert activation",
        "shared expert down"}},
      {"shared_experts", {"shared expert up", "shared expert activation", "shared expert down"}},
      {"mla_up_proj", {"q up", "kv up", "q", "kv"}}};
  return all;
}

struct NamedPolicy {
  std::string name;
  RetentionNames names;
};

// Source: remat policies of AI-Hypercomputer/maxtext.
const std::vector<NamedPolicy>& policies() {
  static const std::vector<NamedPolicy> all = {
      {"full", {}},
      {"minimal", {{"qkv_proj", "out_proj", "mlpwi", "mlpwo"}, {}}},
      {"minimal_with_context", {{"qkv_proj", "context", "out_proj", "mlpwi", "mlpwo"}, {}}},
      {"save_dot_with_context_except_mlp", {{"qkv_proj", "context", "out_proj"}, {}}},
      {"save_dot_except_mlpwi", {{"qkv_proj", "out_proj", "mlpwo"}, {}}},
      {"save_dot_except_mlp", {{"qkv_proj", "out_proj"}, {}}},
      {"save_qkv_proj", {{"qkv_proj"}, {}}},
      {"save_out_proj", {{"out_proj"}, {}}},
      {"qkv_proj_offloaded", {{}, {"qkv_proj"}}},
      {"minimal_offloaded", {{}, {"qkv_proj", "out_proj", "mlpwi", "mlpwo"}}}};
  return all;
}

std::set<std::string> tensors_named(const Names& names) {
  std::set<std::string> tensors;
  for (const std::string& name : names) {
    tensors.insert(name);
    for (const NamedTensors& word : words())
      if (word.name == name) tensors.insert(word.tensors.begin(), word.tensors.end());
  }
  return tensors;
}

// [tensor] whether it is the end of a layer that has a head behind it, or made from that.
std::vector<bool> behind_layer(const Graph& graph) {
  std::vector<bool> behind(graph.tensors.size(), false);
  if (graph.layer_end >= 0) behind[at(graph.layer_end)] = true;
  for (const Operation& op : graph.operations) {
    const auto is_behind = [&](const Operand& input) { return behind[at(input.tensor)]; };
    if (std::ranges::none_of(op.inputs, is_behind)) continue;
    for (const Operand& output : op.outputs) behind[at(output.tensor)] = true;
  }
  return behind;
}

class Retainer {
 public:
  Retainer(const Job& job, const Graph& graph, const Backward& backward)
      : job_(job),
        graph_(graph),
        saved_(saved_activations(graph, backward)),
        behind_(behind_layer(graph)),
        named_(tensors_named(job.recompute_names)),
        offloaded_(tensors_named(job.offloaded)) {}

  Retention run() {
    const bool fused = fused_attention(job_.stack);
    result_.scores = job_.recompute == Recompute::kNone ||
                     (job_.recompute == Recompute::kKeepNamed && named_.count(kScores)) ||
                     (job_.recompute == Recompute::kRemakeNamed && !named_.count(kScores));
    result_.again = again();
    for (TensorId id : saved_) {
      if (!available(id)) result_.remade.push_back(id);
    }
    for (TensorId id : needed()) {
      if (!available(id)) continue;
      (offloaded(id) ? result_.offloaded : result_.stored).push_back(id);
    }
    if (!fused && !result_.scores) repeat_attention();
    return std::move(result_);
  }

 private:
  const std::string& name(TensorId id) const { return graph_.tensors[static_cast<std::size_t>(id)].name; }
  bool offloaded(TensorId id) const { return offloaded_.count(name(id)) > 0; }

  // When backward begins, without computing it again. Every layer has its input, wherever that waited; what
  // stands behind a layer is made again only by name.
  bool available(TensorId id) const {
    if (id == graph_.input || id == graph_.context || offloaded(id)) return true;
    if (behind_[at(id)] && job_.recompute != Recompute::kRemakeNamed) return true;
    switch (job_.recompute) {
      case Recompute::kNone:
      case Recompute::kSelective:
        return true;
      case Recompute::kFull:
        return false;
      case Recompute::kKeepNamed:
        return named_.count(name(id)) > 0;
      case Recompute::kRemakeNamed:
        return named_.count(name(id)) == 0;
    }
    return true;
  }

  std::vector<Operation> again() const {
    if (job_.recompute == Recompute::kFull && !job_.stack.recompute_stops_early) return layer_operations();
    std::vector<TensorId> kept;
    for (std::size_t id = 0; id < graph_.tensors.size(); ++id) {
      if (available(static_cast<TensorId>(id))) kept.push_back(static_cast<TensorId>(id));
    }
    return operations_for(graph_, saved_, kept);
  }

  std::vector<Operation> layer_operations() const {
    std::vector<Operation> operations;
    for (const Operation& op : graph_.operations) {
      const TensorId made = op.outputs.front().tensor;
      if (made == graph_.layer_end || !behind_[at(made)]) operations.push_back(op);
    }
    return operations;
  }

  // Activations that backward or what is computed again reads.
  std::vector<TensorId> needed() const {
    std::set<TensorId> ids(saved_.begin(), saved_.end());
    for (const Operation& op : result_.again) {
      for (const Operand& input : op.inputs) {
        if (graph_.tensors[static_cast<std::size_t>(input.tensor)].role == TensorRole::kActivation)
          ids.insert(input.tensor);
      }
    }
    return {ids.begin(), ids.end()};
  }

  // Scores are no tensor of the graph: their attention runs again, whatever becomes of its result.
  void repeat_attention() {
    std::vector<Operation> again;
    std::size_t next = 0;
    for (const Operation& op : graph_.operations) {
      const bool listed = next < result_.again.size() && result_.again[next].name == op.name;
      next += listed;
      if (listed || op.kind == OperationKind::kAttention) again.push_back(op);
    }
    result_.again = std::move(again);
  }

  const Job& job_;
  const Graph& graph_;
  const std::vector<TensorId> saved_;
  const std::vector<bool> behind_;
  const std::set<std::string> named_, offloaded_;
  Retention result_;
};

std::size_t size(const ChunkShape& chunk) {
  std::size_t parts = 0;
  for (const PartRun& run : chunk.runs) parts += static_cast<std::size_t>(run.count);
  return parts;
}

// [part of the model, in order] whether it recomputes.
std::vector<bool> recomputing(const Job& job, const ModelProgram& model) {
  const int count = piece_count(pipeline_shape(job));
  std::vector<bool> result;
  int layer = 0;  // of the model, from 1
  for (const ChunkShape& chunk : model_pieces(model, count, layers_of_pieces(job, model, count))) {
    int in_chunk = 0;
    for (std::size_t end = result.size() + size(chunk); result.size() < end;) {
      const bool is_layer = model.parts[static_cast<std::size_t>(model.sequence[result.size()])].layer;
      layer += is_layer;
      in_chunk += is_layer;
      result.push_back(!is_layer ||
                       layer_recomputes(job.recompute_layers, job.recompute_every, layer, in_chunk));
    }
  }
  return result;
}

}  // namespace

bool layer_recomputes(int layers, int every, int layer, int in_chunk) {
  return layer % every == 0 && (layers == 0 || in_chunk <= layers);
}

Retention retain(const Job& job, const Graph& graph, const Backward& backward, bool by_policy) {
  if (by_policy) return Retainer(job, graph, backward).run();
  Retention all;
  all.stored = saved_activations(graph, backward);
  return all;
}

std::optional<RetentionNames> retention_policy(const std::string& policy) {
  for (const NamedPolicy& known : policies())
    if (known.name == policy) return known.names;
  return std::nullopt;
}

std::vector<std::string> retention_policy_names() {
  Names names;
  for (const NamedPolicy& known : policies()) names.push_back(known.name);
  return names;
}

std::vector<std::string> retainable_names(const ModelProgram& model) {
  std::set<std::string> names = {kScores};
  for (const NamedTensors& word : words()) names.insert(word.name);
  for (const ModelPart& part : model.parts) {
    for (const Tensor& tensor : part.graph.tensors) {
      if (part.layer && tensor.role == TensorRole::kActivation) names.insert(tensor.name);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> kept_names(const Job& job, ModelProgram model) {
  split_recomputing_layers(job, model);
  std::set<std::string> names;
  for (const int index : std::set<int>(model.sequence.begin(), model.sequence.end())) {
    const ModelPart& part = model.parts[static_cast<std::size_t>(index)];
    if (!part.recomputes) continue;
    Graph graph = part.graph;
    const Backward backward = differentiate(graph, job.stack.gradient_bytes);
    const Retention retention = retain(job, graph, backward, true);
    for (const auto* ids : {&retention.stored, &retention.offloaded})
      for (const TensorId id : *ids) names.insert(graph.tensors[static_cast<std::size_t>(id)].name);
  }
  return {names.begin(), names.end()};
}

bool names_any(const std::string& name, const std::vector<std::string>& tensors) {
  return std::ranges::any_of(tensors_named({name}), [&](const std::string& tensor) {
    return std::ranges::find(tensors, tensor) != tensors.end();
  });
}

void split_recomputing_layers(const Job& job, ModelProgram& model) {
  if (job.recompute_layers == 0 && job.recompute_every == 1) return;
  const std::vector<bool> recomputes = recomputing(job, model);
  std::vector<int> keeping(model.parts.size(), -1);  // [part] its kind that keeps all
  for (std::size_t piece = 0; piece < model.sequence.size(); ++piece) {
    if (recomputes[piece]) continue;
    int& part = model.sequence[piece];
    int& twin = keeping[static_cast<std::size_t>(part)];
    if (twin < 0) {
      twin = static_cast<int>(model.parts.size());
      ModelPart copy = model.parts[static_cast<std::size_t>(part)];
      copy.name += ", all kept";
      copy.recomputes = false;
      model.parts.push_back(std::move(copy));
    }
    part = twin;
  }
}

}  // namespace podsim
