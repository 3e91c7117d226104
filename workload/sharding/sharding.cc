// How tensors lie on the mesh: which axes cut each dimension, and what one device then holds.
#include "workload/sharding/sharding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "workload/job/job.h"

namespace podsim {
namespace {

// Dimensions that follow another's rule where they have none of their own.
std::string_view general_name(std::string_view dimension) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kGeneral = {{
      {"attention_heads", "heads"},
      {"attention_kv_heads", "kv_heads"},
      {"attention_sequence", "sequence"},
      {"expert_ffn", "ffn"},
      {"expert_groups", "batch"},
      {"param_expert_ffn", "param_ffn"},
  }};
  for (const auto& [name, general] : kGeneral) {
    if (name == dimension) return general;
  }
  return {};
}

// Appends what a rule names. An axis of size 1 cuts nothing and would only make empty collectives.
void add_axes(const Mesh& mesh, const ShardingRule& rule, AxisList& axes) {
  for (const std::string& name : rule.axes) {
    const int axis = mesh.find(name);
    if (axis < 0 || mesh.axes[static_cast<std::size_t>(axis)].size == 1) continue;
    const AxisRef whole = whole_axis(mesh, axis);
    if (std::find(axes.begin(), axes.end(), whole) == axes.end()) axes.push_back(whole);
  }
}

// Appends to `dim` those axes that the tensor does not use yet.
void claim(const AxisList& wanted, AxisList& dim, AxisList& used) {
  for (const AxisRef& axis : wanted) {
    if (overlap({axis}, used)) continue;
    dim.push_back(axis);
    used.push_back(axis);
  }
}

std::string prefixed(const char* prefix, const TensorDim& dim) {
  return dim.logical.empty() ? std::string() : prefix + dim.logical;
}

// The user's annotation, else what rules of the dimensions themselves say.
Layout own_layout(const Job& job, const Tensor& tensor) {
  if (tensor.annotation) return layout_of(*tensor.annotation);
  Layout layout = replicated(tensor.dims.size());
  AxisList used;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    claim(ruled_axes(job, tensor.dims[i].logical), layout.dims[i], used);
  return layout;
}

// Adds what rules of the dimensions' names with this prefix say: gradients and state follow them also where
// their weight is annotated, for an annotation says where the weight lies.
void claim_with(const char* prefix, const Job& job, const Tensor& tensor, Layout& layout) {
  AxisList used = layout.sharded();
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    claim(ruled_axes(job, prefixed(prefix, tensor.dims[i])), layout.dims[i], used);
}

}  // namespace

std::string ruling_dimension(const Job& job, const std::string& dimension) {
  for (std::string_view name = dimension; !name.empty(); name = general_name(name)) {
    for (const ShardingRule& rule : job.rules) {
      if (rule.dimension == name) return rule.dimension;
    }
  }
  return {};
}

AxisList ruled_axes(const Job& job, const std::string& dimension) {
  AxisList axes;
  const std::string name = ruling_dimension(job, dimension);
  if (name.empty()) return axes;
  for (const ShardingRule& rule : job.rules) {
    if (rule.dimension == name) add_axes(job.mesh, rule, axes);
  }
  return axes;
}

AxisSet axes_on(const Job& job, const std::string& dimension) { return axis_set(ruled_axes(job, dimension)); }

int batch_shards(const Job& job) { return shard_count(job.mesh, axes_on(job, "batch")); }

int microbatches(const Job& job) { return job.global_batch / (batch_shards(job) * job.microbatch); }

void follow_batch(Job& job) {
  if (!job.all_at_once) return;
  const int shards = batch_shards(job);
  job.microbatch = job.global_batch % shards == 0 ? job.global_batch / shards : 1;
}

TensorShape shape_of(const Tensor& tensor) { return {tensor.dims, tensor.element_bytes}; }

Layout ruled_layout(const Job& job, const Tensor& tensor) {
  Layout layout = own_layout(job, tensor);
  if (tensor.role == TensorRole::kParameterGradient) claim_with("gradient_", job, tensor, layout);
  return layout;
}

Layout state_layout(const Job& job, const Tensor& parameter) {
  Layout layout = ruled_layout(job, parameter);
  claim_with("state_", job, parameter, layout);
  AxisList used = layout.sharded();
  if (parameter.vector) claim(ruled_axes(job, "state_param_embed"), layout.dims.back(), used);
  return layout;
}

}  // namespace podsim
