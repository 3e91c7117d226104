// What fields of a job and of its cluster need beside them to change a figure, as tables.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"
#include "workload/sharding/sharding.h"

namespace podsim {

namespace schema {
class ClusterChoice;
}

// A job and where it runs: the fabric is that of its own chips.
struct JobSetting {
  const Job& job;
  const Chip& chip;
  const FabricSpec& fabric;
  const Adversities& adversities;

  const Stack& stack() const { return job.stack; }
  bool transformer() const { return !job.program && !job.measured; }
  bool experts() const { return transformer() && job.model.experts; }
  int stages() const { return job.pipeline_axis.empty() ? 1 : job.mesh.axes[stage_axis()].size; }
  bool reads_input() const { return job.input_rate.value > 0 || job.storage_rate.value > 0; }
  bool offloads() const { return !job.offloaded.empty() || job.offload_optimizer; }
  bool launches_kernels() const {
    return stack().kernels_per_layer > 0 || stack().loss_kernels > 0 ||
           (experts() && stack().experts.kernels + stack().experts.kernels_per_expert > 0);
  }
  bool fused_attention() const { return stack().attention_kernel != "unfused"; }
  // Into how many a dimension is cut.
  int shards(const std::string& dimension) const {
    int shards = 1;
    for (std::size_t i = 0; i < job.mesh.axes.size(); ++i)
      if (axes_on(job, dimension) & axis_bit(static_cast<int>(i))) shards *= job.mesh.axes[i].size;
    return shards;
  }
  // Each device has one expert: its matmuls are plain ones, unless the grouped kernel has tiles of its own.
  bool lone_experts() const { return experts() && job.model.experts->experts == shards("param_experts"); }
  // Devices of a batch shard have the same activations between layers.
  bool copies_residual() const {
    return !job.annotations.empty() || (inner_axes() & ~axes_on(job, "residual_sequence")) != 0;
  }
  // Widths of matrices as a device has them: of none of a transformer's rows begins any but at multiples of
  // 16 bytes where all are multiples of 8.
  bool has_odd_widths() const {
    if (!transformer()) return true;
    const Model& model = job.model;
    const auto odd = [&](int width, const char* dimension) { return width % (8 * shards(dimension)) != 0; };
    return odd(model.d_model, "embed") || odd(model.vocabulary, "vocab") || odd(model.ffn, "ffn") ||
           odd(model.heads * model.head_dim, "heads") || odd(model.kv_heads * model.head_dim, "kv_heads") ||
           model.vision ||
           (model.latent && (model.latent->query_rank % 8 != 0 || model.latent->kv_rank % 8 != 0 ||
                             model.latent->plain_dim % 8 != 0 || model.latent->rotary_dim % 8 != 0 ||
                             model.latent->value_dim % 8 != 0)) ||
           (model.experts &&
            (odd(model.experts->expert_ffn, "expert_ffn") || odd(model.experts->shared_ffn, "ffn")));
  }
  bool knows_misaligned_rows() const {
    return chip.kernels && has_odd_widths() &&
           std::any_of(chip.kernels->matmul.begin(), chip.kernels->matmul.end(),
                       [](const auto& of_format) { return !of_format.second.misaligned.empty(); });
  }
  bool between_servers() const { return fabric.chips > kind_of(fabric).joined_chips(fabric); }
  int hosts_in_step() const {
    const int together = kind_of(fabric).chips_in_step(fabric);
    return (fabric.chips + together - 1) / together;
  }
  AxisSet batch_axes() const { return axes_on(job, "batch"); }
  // Axes along which devices of one batch shard work together.
  AxisSet inner_axes() const {
    AxisSet axes = 0;
    for (std::size_t i = 0; i < job.mesh.axes.size(); ++i)
      if (job.mesh.axes[i].size > 1 && static_cast<int>(i) != stage_axis_or_none())
        axes |= axis_bit(static_cast<int>(i));
    return axes & ~batch_axes();
  }
  // Weights are stored in shards of what a matmul uses, so that they are gathered before.
  bool gathers_weights() const {
    const auto gathered = [&](const ShardingRule& rule) {
      constexpr std::string_view kParameter = "param_";
      return rule.dimension.starts_with(kParameter) &&
             (axes_on(job, rule.dimension) & ~axes_on(job, rule.dimension.substr(kParameter.size())));
    };
    return !job.annotations.empty() || std::any_of(job.rules.begin(), job.rules.end(), gathered);
  }
  bool shards_state() const {
    constexpr std::string_view kState = "state_";
    return !job.annotations.empty() ||
           std::any_of(job.rules.begin(), job.rules.end(), [&](const ShardingRule& rule) {
             return rule.dimension.starts_with(kState) && axes_on(job, rule.dimension) != 0;
           });
  }
  bool low_precision() const {
    const auto low = [](const PrecisionRecipe& recipe) { return bytes_per_element(recipe.dtype) < 2; };
    return low(job.precision) || std::any_of(job.gemm_precision.begin(), job.gemm_precision.end(),
                                             [&](const GemmPrecision& own) { return low(own.recipe); });
  }

 private:
  int stage_axis_or_none() const { return job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis); }
  std::size_t stage_axis() const { return static_cast<std::size_t>(job.mesh.find(job.pipeline_axis)); }
};

struct ClusterSetting {
  const schema::ClusterChoice& choice;
  const Cluster& cluster;
  const std::vector<JobSetting>& jobs;

  const FabricSpec& fabric() const { return cluster.fabric; }
  bool any(bool (*test)(const JobSetting&)) const { return std::any_of(jobs.begin(), jobs.end(), test); }
  bool has(LinkKind kind) const {
    const std::vector<CableClass> cables = kind_of(fabric()).cables(fabric());
    return std::ranges::find(cables, kind, &CableClass::kind) != cables.end();
  }
  bool made_of_cubes() const { return kind_of(fabric()).block(fabric()).side > 0; }
  bool beyond_domain() const {
    return std::ranges::any_of(kind_of(fabric()).cables(fabric()), [](const CableClass& cables) {
      return cables.used && cables.kind != LinkKind::kNvlink;
    });
  }
};

// Fields, by their paths in a block, that change nothing unless `needs` holds.
template <class Setting>
struct Need {
  std::array<std::string_view, 5> fields;  // the last of them may be empty
  bool (*needs)(const Setting&);
  const char* why;  // behind "... has no effect: "
  const char* hint = "";
};

using JobNeed = Need<JobSetting>;
using ClusterNeed = Need<ClusterSetting>;

std::span<const JobNeed> needs_of_job();
std::span<const ClusterNeed> needs_of_price();    // of its price and carbon, with or without jobs
std::span<const ClusterNeed> needs_of_cluster();  // the others

}  // namespace podsim
