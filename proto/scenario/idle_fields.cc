// Fields that stand in a scenario where nothing reads them: holds the tables of needs against what the text
// sets.
#include "proto/scenario/idle_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "proto/scenario.pb.h"
#include "proto/scenario/field_needs.h"
#include "proto/scenario/idle_program.h"
#include "proto/text/assign.h"
#include "proto/text/set_fields.h"
#include "scheduler/placement/subcluster.h"
#include "topology/fat_tree.h"
#include "workload/model/model_program.h"
#include "workload/partition/recompute.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// What of these blocks counts beside measured layers, which have no operations.
constexpr std::string_view kStackOfMeasuredLayers[] = {
    "name",          "gradients_overlapped", "interference",       "skew_per_doubling", "network_share",
    "fixed_step_ms", "send_exposed",         "gradient_bucket_mb", "tensor_hidden"};
constexpr std::string_view kChipOfMeasuredLayers[] = {
    "name",         "kind",         "matmul",           "hbm_capacity_gib",
    "power_idle_w", "power_busy_w", "power_overhead_w", "power_waiting_share",
    "power_range"};

template <class Setting>
void warn_by_table(std::span<const Need<Setting>> needs, const Message& block, const Setting& setting,
                   const std::string& path, Document& document) {
  for (const Need<Setting>& need : needs) {
    for (const std::string_view field : need.fields)
      if (!field.empty() && is_set(block, field) && !need.needs(setting))
        document.warn_idle(join_path(path, field), need.why, need.hint);
  }
}

// All set fields of an override but those that count beside measured layers.
template <std::size_t N>
void warn_beside_measured(const Message& block, const std::string_view (&counting)[N],
                          const std::string& path, Document& document) {
  std::vector<const FieldDescriptor*> fields;
  block.GetReflection()->ListFields(block, &fields);
  for (const FieldDescriptor* field : fields)
    if (std::find(std::begin(counting), std::end(counting), field->name()) == std::end(counting))
      document.warn_idle(join_path(path, field->name()),
                         "measured layers have no operations for which it could count");
}

void warn_of_recipes(const schema::JobChoice& choice, const Job& job, const std::string& path,
                     Document& document) {
  const auto used = [&](const std::string& name) {
    return job.precision.name == name ||
           std::any_of(job.gemm_precision.begin(), job.gemm_precision.end(),
                       [&](const GemmPrecision& own) { return own.recipe.name == name; });
  };
  for (int i = 0; i < choice.stack_override().precision_size(); ++i) {
    const std::string& name = schema::PrecisionRecipe::Name_Name(choice.stack_override().precision(i).name());
    if (!used(name))
      document.warn_idle(path + ".stack_override.precision[" + std::to_string(i) + "]",
                         "no matmul runs in " + name, "precision or gemm_precision chooses a recipe");
  }
}

// Of measured layers.
void warn_of_outputs(const schema::JobChoice& choice, const JobSetting& setting, const std::string& path,
                     Document& document) {
  if (setting.stages() > 1) return;
  for (int i = 0; i < choice.measured_layers().layer_size(); ++i)
    if (choice.measured_layers().layer(i).has_output_bytes())
      document.warn_idle(path + ".measured_layers.layer[" + std::to_string(i) + "].output_bytes",
                         "there is no pipeline stage that it could be handed to");
}

void warn_of_offloads(const schema::JobChoice& choice, const Job& job, const std::string& path,
                      Document& document) {
  if (choice.offload_size() == 0) return;
  const std::vector<std::string> kept = kept_names(job, model_program(job));
  for (int i = 0; i < choice.offload_size(); ++i)
    if (!names_any(choice.offload(i), kept))
      document.warn_idle(path + ".offload[" + std::to_string(i) + "]",
                         "no layer keeps \"" + choice.offload(i) + "\" for its backward pass",
                         kept.empty() ? "" : "they keep: " + list_names(kept));
}

// A model of one's own has to say it, whatever reads it.
void warn_of_dense_width(const schema::JobChoice& choice, const JobSetting& setting, const std::string& path,
                         Document& document) {
  const auto& experts = setting.job.model.experts;
  if (choice.has_model() && choice.model_override().has_ffn() && experts && experts->dense_layers == 0 &&
      experts->every == 1)
    document.warn_idle(join_path(path, "model_override.ffn"),
                       "every layer has experts, whose width is expert_ffn");
}

// What only a run of weeks reads; a step is charged by the hour.
void warn_of_weeks(const schema::ClusterChoice& choice, Document& document) {
  for (const char* field : {"contract", "fabric_override.failures"})
    if (is_set(choice, field))
      document.warn_idle(join_path("cluster", field), "only a run of weeks has bills and failures",
                         "podsim reliability, with a reliability block");
}

// Tiers of switches are a list, which an override replaces as a whole. Those that the cluster needs are
// built, and the last of these has nothing above it.
void warn_of_tiers(const schema::ClusterChoice& choice, const FabricSpec& fabric, Document& document) {
  if (!fabric.gpu) return;
  const auto& tiers = choice.fabric_override().gpu_cluster().tier();
  const int used = tiers_in_use(fabric);
  const std::string path = "cluster.fabric_override.gpu_cluster.tier[";
  const std::string of_chips = "of this cluster of " + std::to_string(fabric.chips) + " GPUs";
  if (choice.has_oversubscription() && used == 1)
    document.warn_idle("cluster.oversubscription",
                       "it is of uplinks, and the one switch " + of_chips + " has none");
  if (choice.has_oversubscription() && tiers.size() > 0 && tiers[0].has_oversubscription())
    document.warn_idle(path + "0].oversubscription", "oversubscription of the cluster counts");
  for (int i = std::max(used - 1, choice.has_oversubscription() ? 1 : 0); i < tiers.size(); ++i)
    if (tiers[i].oversubscription() > 1)
      document.warn_idle(path + std::to_string(i) + "].oversubscription",
                         used == 0   ? "there are no switches between the GPUs of one NVLink domain"
                         : i >= used ? "switches of this tier are not needed to join the " +
                                           std::to_string(fabric.chips) + " GPUs"
                                     : "switches of the last tier " + of_chips + " have no uplinks");
}

void warn_of_channels(const schema::Fabric& override_block, const FabricSpec& fabric, Document& document) {
  for (int i = 0; i < override_block.channel_size(); ++i) {
    const schema::Channel& channel = override_block.channel(i);
    const std::string path = "cluster.fabric_override.channel[" + std::to_string(i) + "].";
    if (channel.has_chunk_mib() != channel.has_chunk_us())
      document.warn_idle(path + (channel.has_chunk_mib() ? "chunk_mib" : "chunk_us"),
                         "chunk_mib and chunk_us need each other");
    for (const char* field : {"nvlink_efficiency", "nic_efficiency"})
      if (fabric.torus && is_set(channel, field)) document.warn_idle(path + field, "it is of GPU clusters");
    if (fabric.gpu && channel.has_ici_efficiency())
      document.warn_idle(path + "ici_efficiency", "it is of tori");
  }
}

void warn_of_kernels(const schema::Chip& chip, const std::vector<JobSetting>& jobs, Document& document) {
  for (int i = 0; i < chip.attention_size(); ++i) {
    const auto uses = [&](const JobSetting& s) {
      return !s.job.measured && s.stack().attention_kernel == chip.attention(i).kernel();
    };
    if (std::none_of(jobs.begin(), jobs.end(), uses))
      document.warn_idle("cluster.chip_override.attention[" + std::to_string(i) + "]",
                         "no stack uses the kernel " + chip.attention(i).kernel());
  }
}

void warn_of_job(const schema::JobChoice& choice, const JobSetting& setting, const std::string& path,
                 Document& document) {
  if (setting.job.measured) {
    warn_beside_measured(choice.stack_override(), kStackOfMeasuredLayers, join_path(path, "stack_override"),
                         document);
    warn_of_outputs(choice, setting, path, document);
  } else {
    warn_of_recipes(choice, setting.job, path, document);
    warn_of_dense_width(choice, setting, path, document);
    warn_of_offloads(choice, setting.job, path, document);
  }
  warn_by_table(needs_of_job(), choice, setting, path, document);
  warn_of_idle_operations(choice.program(), join_path(path, "program"), document);
  warn_of_idle_operations(choice.model_override().program(), join_path(path, "model_override.program"),
                          document);
}

}  // namespace

void warn_of_idle_prices(const schema::ClusterChoice& choice, const Cluster& cluster, Document& document) {
  const std::vector<JobSetting> no_jobs;
  warn_by_table(needs_of_price(), choice, ClusterSetting{choice, cluster, no_jobs}, "cluster", document);
}

void warn_of_idle_fields(const schema::Scenario& scenario, const Spec& spec, Document& document) {
  std::vector<FabricSpec> subclusters;
  for (const PlacedJob& placed : spec.jobs)
    subclusters.push_back(subcluster(spec.cluster.fabric, placed.chips));
  std::vector<JobSetting> jobs;
  const auto add = [&](const Job& job, const FabricSpec& fabric) {
    jobs.push_back({job, spec.cluster.chip, fabric, spec.adversities});
  };
  if (scenario.has_job()) add(spec.job, spec.cluster.fabric);
  for (std::size_t i = 0; i < subclusters.size(); ++i) add(spec.jobs[i].job, subclusters[i]);

  if (scenario.has_job()) warn_of_job(scenario.job(), jobs[0], "job", document);
  for (int i = 0; i < scenario.jobs_size(); ++i)
    warn_of_job(scenario.jobs(i).job(), jobs[static_cast<std::size_t>(i)],
                "jobs[" + std::to_string(i) + "].job", document);
  warn_of_idle_prices(scenario.cluster(), spec.cluster, document);
  warn_by_table(needs_of_cluster(), scenario.cluster(), {scenario.cluster(), spec.cluster, jobs}, "cluster",
                document);
  warn_of_tiers(scenario.cluster(), spec.cluster.fabric, document);
  if (!scenario.has_reliability()) warn_of_weeks(scenario.cluster(), document);
  warn_of_kernels(scenario.cluster().chip_override(), jobs, document);
  warn_of_channels(scenario.cluster().fabric_override(), spec.cluster.fabric, document);
  if (std::all_of(jobs.begin(), jobs.end(), [](const JobSetting& s) { return s.job.measured.has_value(); }))
    warn_beside_measured(scenario.cluster().chip_override(), kChipOfMeasuredLayers, "cluster.chip_override",
                         document);
}

}  // namespace podsim
