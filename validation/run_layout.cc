// Turns degrees of parallelism, or lists of mesh axes, into mesh, presets and rules.
#include "validation/run_layout.h"

#include <algorithm>
#include <cstdint>

#include "validation/mesh_text.h"
#include "workload/sharding/expert_ranks.h"

namespace podsim {
namespace {

// Sizes of the axes, major to minor.
struct Degrees {
  int pipeline = 1, data = 1, optimizer = 1, fsdp = 1, context = 1, expert = 1, tensor = 1, expert_tensor = 1;

  std::vector<std::pair<std::string, int>> axes() const {
    std::vector<std::pair<std::string, int>> all = {
        {"pipeline", pipeline},   {"data", data},
        {"optimizer", optimizer}, {"fsdp", fsdp},
        {"context", context},     {"expert", expert},
        {"tensor", tensor},       {"expert_tensor", expert_tensor}};
    std::erase_if(all, [](const auto& axis) { return axis.second == 1; });
    if (all.empty()) all.emplace_back("data", 1);
    return all;
  }
  std::int64_t devices() const {
    int product = 1;
    for (const auto& [name, size] : axes()) product = bounded_product(product, size);
    return product;
  }
  int attention_tensor() const { return bounded_product(tensor, expert_tensor); }
  int batch_shards() const {
    return bounded_product(bounded_product(data, optimizer), bounded_product(fsdp, expert));
  }
};

int* axis_of(Degrees& degrees, const std::string& name) {
  if (name == "pipeline") return &degrees.pipeline;
  if (name == "data") return &degrees.data;
  if (name == "fsdp") return &degrees.fsdp;
  if (name == "context") return &degrees.context;
  if (name == "expert") return &degrees.expert;
  return name == "tensor" ? &degrees.tensor : nullptr;
}

std::string dimensions_text(unsigned subset) {
  std::string text;
  for (int d = 0; d < 3; ++d)
    if (subset >> d & 1) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return " torus_dimension: [" + text + "]";
}

std::string mesh_lines(const Degrees& degrees, const RunLayout& layout) {
  const auto axes = degrees.axes();
  std::vector<int> sizes;
  std::vector<std::string> placed(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const bool across = axes[i].first == "data" || axes[i].first == "pipeline";
    const int size = i == 0 && across && axes[i].second % layout.slices == 0 ? axes[i].second / layout.slices
                                                                             : axes[i].second;
    if (size > 1) sizes.push_back(size);
  }
  const std::vector<unsigned> dimensions = whole_dimensions(layout.slice, sizes);
  if (sizes.size() > 1)
    for (std::size_t k = 0; k < dimensions.size(); ++k)
      placed[axes.size() - 1 - k] = dimensions_text(dimensions[k]);
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += "  mesh { name: \"" + axes[i].first + "\" size: " + std::to_string(axes[i].second) + placed[i] +
            " }\n";
  return text;
}

std::string preset(const std::string& name) { return "  sharding: \"" + name + "\"\n"; }

std::string rule(const std::string& dimension, const std::vector<std::string>& axes) {
  std::string text = "  rule { dimension: \"" + dimension + "\"";
  for (const std::string& axis : axes) text += " axis: \"" + axis + "\"";
  return text + " }\n";
}

// How the data-parallel ranks cut weights, gradients and optimizer state, by the words of the source.
enum class State { kWhole, kZero1, kZero2, kFsdp, kHybrid, kUnknown };
State state_of(const std::string& words) {
  if (words.starts_with("ddp")) return State::kWhole;
  if (words.starts_with("zero1") || words.ends_with("adapters zero1")) return State::kZero1;
  if (words.starts_with("zero2")) return State::kZero2;
  if (words.starts_with("zero3") || words.starts_with("fsdp")) return State::kFsdp;
  return words.starts_with("hsdp") ? State::kHybrid : State::kUnknown;
}

SharedState shared(State state) {
  switch (state) {
    case State::kZero1:
      return SharedState::kZero1;
    case State::kZero2:
      return SharedState::kZero2;
    case State::kFsdp:
    case State::kHybrid:
      return SharedState::kZero3;
    default:
      return SharedState::kWhole;
  }
}

bool has_experts(const RunRow& row) { return row.whole("n_experts", 0) > 0 || row.whole("ep", 1) > 1; }

// Ranks that cut an expert: as many as cut attention, unless the row says otherwise.
int expert_tensor_ranks(const RunRow& row) {
  const int tensor = row.whole("tp", 1);
  return has_experts(row) && tensor > 1 ? row.whole("etp", tensor) : tensor;
}

// Presets and rules of every axis.
std::string sharding_lines(const Degrees& d, const ExpertAxes& experts, State state, bool sequence_parallel,
                           const RunRow& row) {
  using Lie = ExpertAxes::Lie;
  std::string text;
  if (d.data > 1 || (d.fsdp == 1 && d.expert == 1)) text += preset("data");
  if (d.optimizer > 1) text += preset("zero1_group");
  if (d.fsdp > 1) text += preset("fsdp");
  if (d.context > 1) text += preset(row.has("sharding_ici") ? "context" : "ring_context");
  const int tokens = row.whole("seq_len", 0) / d.context, tensor = d.attention_tensor();
  const bool divides = tokens % tensor == 0;
  if (experts.lie == Lie::kOverTensor) {
    text += preset("megatron_experts");
  } else {
    const bool sequences = (sequence_parallel && divides) || experts.lie == Lie::kCopied;
    if (d.expert > 1) text += preset("expert");
    if (tensor > 1) text += preset(sequences ? "megatron_sp" : "megatron");
  }
  std::vector<std::string> axes;
  for (const auto& [axis, size] : d.axes()) axes.push_back(axis);
  if (tensor > 1 && sequence_parallel && !divides) text += rule("embed", {"tensor"});
  std::vector<ShardingRule> rules;
  if (has_experts(row)) rules = expert_rules(experts, axes);
  if (state == State::kZero1 && d.data > 1 && d.optimizer == 1) text += preset("zero1");
  if (state == State::kZero2 && d.data > 1) text += preset("zero2");
  // Of data ranks alone the presets say it.
  if (d.context > 1 || d.expert > 1 || experts.lie == Lie::kCopied)
    for (const ShardingRule& one : shared_state_rules(shared(state), axes, experts)) rules.push_back(one);
  for (const ShardingRule& one : rules) text += "  " + rule_text(one) + "\n";
  return text;
}

// Without a stated interleave a chunk has `chunk_layers` layers, or one where those do not divide a stage.
int assumed_chunks(const RunRow& row, int microbatches, RunLayout& layout) {
  const int per_chunk = row.whole("chunk_layers", 0);
  const int per_stage = (row.whole("layers", 1) + layout.pipeline - 1) / layout.pipeline;
  const bool can = per_chunk > 0 && microbatches % layout.pipeline == 0;
  const int chunks = can ? per_stage / (per_stage % per_chunk == 0 ? per_chunk : 1) : 1;
  layout.assumptions.push_back("interleaving is not stated, " +
                               (chunks > 1 ? std::to_string(chunks) + " chunks per stage" : "none") +
                               " assumed");
  return chunks;
}

void schedule(const RunRow& row, const Degrees& degrees, RunLayout& layout) {
  const int batch = row.whole("global_batch_seqs", 0);
  int microbatch = row.whole("micro_batch", 0);
  const bool needed = degrees.pipeline > 1 || !row.has("sharding_ici");
  if (microbatch == 0 && needed) {
    microbatch = 1;
    layout.assumptions.push_back("microbatch is not stated, 1 sequence assumed");
  }
  if (degrees.pipeline > 1) {
    const int microbatches =
        std::max(1, batch / std::max(1, bounded_product(degrees.batch_shards(), microbatch)));
    const int chunks = row.has("vp") ? row.whole("vp", 1) : assumed_chunks(row, microbatches, layout);
    layout.lines +=
        chunks > 1 ? "  pipeline { schedule: interleaved chunks_per_stage: " + std::to_string(chunks) + " }\n"
                   : "  pipeline { schedule: one_f_one_b }\n";
  }
  layout.lines += "  global_batch_sequences: " + std::to_string(batch) + "\n";
  if (microbatch > 0) layout.lines += "  microbatch_sequences: " + std::to_string(microbatch) + "\n";
  layout.lines += "  sequence_tokens: " + std::to_string(row.whole("seq_len", 0)) + "\n";
}

// Groups of rows by how the work is cut: degrees of one are left out.
std::string parallelism_of(const Degrees& d) {
  std::string text;
  const auto add = [&](bool there, const char* name) {
    if (there) text += (text.empty() ? "" : "+") + std::string(name);
  };
  add(d.attention_tensor() > 1, "TP");
  add(d.pipeline > 1, "PP");
  add(d.context > 1, "CP");
  add(d.expert > 1, "EP");
  add(d.fsdp > 1, "FSDP");
  return text.empty() ? "DP" : text;
}

// Those ranks of a server that hold the same part of a layer, and so can share its weights.
std::string split_within_servers(const RunRow& row, int ranks, Degrees& degrees) {
  const int server = row.whole("gpus_per_node", 8);
  const int inside =
      bounded_product(bounded_product(degrees.context, degrees.expert), degrees.attention_tensor());
  if (server % inside != 0 && inside % server != 0) return "hsdp: the servers are not whole";
  degrees.fsdp = std::min(ranks, std::max(1, server / inside));
  if (ranks % degrees.fsdp != 0) return "hsdp: the nodes are not whole";
  degrees.data = ranks / degrees.fsdp;
  return "";
}

// The data-parallel ranks of a row with degrees, shared out over axes.
std::string split_ranks(const RunRow& row, int ranks, State state, Degrees& degrees) {
  if (ranks % degrees.expert != 0)
    return "ep " + std::to_string(degrees.expert) + " does not divide dp " + std::to_string(ranks);
  const int others = ranks / degrees.expert;
  if (state == State::kHybrid) return split_within_servers(row, others, degrees);
  if (state == State::kFsdp) {
    degrees.fsdp = others;
  } else {
    const int group = state == State::kZero1 ? row.whole("optimizer_group", 0) : 0;
    if (group > 0 && (others % group != 0 || degrees.expert > 1))
      return "optimizer_group " + std::to_string(group) + " does not divide dp " + std::to_string(others) +
             " without experts";
    degrees.optimizer = group > 0 && group < others ? group : 1;
    degrees.data = others / degrees.optimizer;
  }
  return "";
}

Degrees& take_axes(const ExpertAxes& experts, Degrees& degrees) {
  degrees.expert = static_cast<int>(experts.expert);
  degrees.tensor = static_cast<int>(experts.tensor);
  degrees.expert_tensor = static_cast<int>(experts.expert_tensor);
  return degrees;
}

// Of a column that counts ranks and has none, or empty.
std::string no_ranks(const RunRow& row) {
  for (const char* column : {"tp", "cp", "pp", "dp", "ep", "etp", "gpus_per_node"})
    if (row.whole(column, 1) < 1) return std::string(column) + " is below 1";
  return "";
}

RunLayout layout_by_degrees(const RunRow& row) {
  RunLayout layout;
  layout.missing = no_ranks(row);
  if (!row.has("tp") && !row.has("dp") && !row.has("dp_sharding")) layout.missing = "no layout";
  if (!layout.missing.empty()) return layout;
  Degrees degrees;
  degrees.tensor = row.whole("tp", 1);
  degrees.context = row.whole("cp", 1);
  degrees.pipeline = row.whole("pp", 1);
  const int chips = row.whole("chips", 0);
  const int replica = bounded_product(bounded_product(degrees.tensor, degrees.context), degrees.pipeline);
  const int ranks = row.whole("dp", std::max(1, chips / std::max(1, replica)));
  const bool stated = row.has("dp_sharding");
  if (!stated && ranks > 1)
    layout.assumptions.push_back("how data-parallel ranks share state is not stated, none is shared");
  const State state = stated ? state_of(row.text("dp_sharding")) : State::kWhole;
  const int expert = row.whole("ep", 1), expert_tensor = expert_tensor_ranks(row);
  const auto experts = expert_axes(expert, degrees.tensor, expert_tensor);
  if (state == State::kUnknown)
    layout.missing = "data parallelism \"" + row.text("dp_sharding") + "\" is not simulated";
  else if (!experts)
    layout.missing = no_expert_axes(expert, degrees.tensor, expert_tensor);
  else
    layout.missing = split_ranks(row, ranks, state, take_axes(*experts, degrees));
  if (layout.missing.empty() && degrees.devices() != chips)
    layout.missing =
        "the degrees make " + std::to_string(degrees.devices()) + " GPUs, not " + std::to_string(chips);
  const bool mixture = row.whole("n_experts", 0) > 0 || row.has("catalog_model");
  if (layout.missing.empty() && row.whole("ep", 1) > 1 && !mixture)
    layout.missing = "ep is " + row.text("ep") + ", and the row has no experts (n_experts)";
  if (!layout.missing.empty()) return layout;
  layout.tensor = degrees.attention_tensor();
  layout.pipeline = degrees.pipeline;
  layout.parallelism = parallelism_of(degrees);
  const bool sequences = row.whole("sp", 0) == 1;
  if (!sequences && experts->lie != ExpertAxes::Lie::kBesideTensor)
    layout.assumptions.push_back("tensor-parallel ranks that do not cut experts cut sequences (sp)");
  layout.lines = mesh_lines(degrees, layout) + sharding_lines(degrees, *experts, state, sequences, row);
  schedule(row, degrees, layout);
  return layout;
}

// Some frameworks see several devices in a chip, which share its links: the fsdp axis then counts chips.
bool count_chips(std::int64_t chips, Degrees& degrees, RunLayout& layout) {
  if (degrees.devices() == chips) return true;
  const std::int64_t more = degrees.devices() / std::max<std::int64_t>(1, chips);
  if (more * chips != degrees.devices() || more < 2 || degrees.fsdp % more != 0) return false;
  degrees.fsdp /= static_cast<int>(more);
  layout.assumptions.push_back("mesh sizes count " + std::to_string(more) +
                               " devices per chip; fsdp counts chips");
  return true;
}

RunLayout layout_by_axes(const RunRow& row) {
  RunLayout layout;
  const int chips = row.whole("chips", 0);
  layout.slices = row.whole("slices", 1);
  const int per_slice = chips / std::max(1, layout.slices);
  Degrees degrees;
  for (const char* column : {"sharding_ici", "sharding_dcn"})
    for (const auto& [name, size] : axis_sizes(row.text(column)))
      *axis_of(degrees, name) = bounded_product(*axis_of(degrees, name), std::max(1, size));
  if (axis_sizes(row.text("sharding_ici")).empty()) {
    degrees.fsdp = per_slice;
    degrees.data = layout.slices;
    layout.assumptions.push_back("the mesh is not stated: fsdp over the slice assumed, data over slices");
  }
  if (!count_chips(chips, degrees, layout)) {
    layout.missing = "the mesh has " + std::to_string(degrees.devices()) + " devices, the run " +
                     std::to_string(chips) + " chips";
    return layout;
  }
  layout.slice = torus_shape(row.text("slice_topology"));
  int shaped = 1;
  for (const int length : layout.slice) shaped = bounded_product(shaped, length);
  if (layout.slice.empty() || shaped != per_slice) {
    layout.slice.clear();
    layout.assumptions.push_back("the shape of the slice is not stated, the most cubic assumed");
  }
  layout.tensor = degrees.tensor;
  layout.pipeline = degrees.pipeline;
  layout.parallelism = parallelism_of(degrees);
  const ExpertAxes experts{degrees.expert, degrees.tensor, 1, ExpertAxes::Lie::kBesideTensor};
  layout.lines = mesh_lines(degrees, layout) + sharding_lines(degrees, experts, State::kFsdp, true, row);
  schedule(row, degrees, layout);
  return layout;
}

}  // namespace

RunLayout run_layout(const RunRow& row, bool torus) {
  return torus ? layout_by_axes(row) : layout_by_degrees(row);
}

}  // namespace podsim
