// Changes of a job that may need less memory: recompute, offload, sharding, microbatch, pipeline.
#include "prediction/memory_changes.h"

#include <algorithm>
#include <utility>

#include "workload/partition/job_validity.h"
#include "workload/partition/recompute.h"
#include "workload/pipeline/schedules.h"

namespace podsim {
namespace {

using OneChange = std::vector<JobChange>;

class Changes {
 public:
  Changes(const Job& job, bool host_link) : job_(job), host_link_(host_link) {}

  std::vector<OneChange> run() {
    recompute();
    if (host_link_) offload();
    microbatch();
    sharding();
    pipeline();
    return std::move(changes_);
  }

 private:
  void add(OneChange degrees) {
    std::erase_if(degrees, [](const JobChange& change) { return !explain_invalid(change.job).empty(); });
    if (!degrees.empty()) changes_.push_back(std::move(degrees));
  }

  JobChange named(const std::string& words, Recompute recompute, std::vector<std::string> names) const {
    JobChange change{words, job_};
    change.job.recompute = recompute;
    change.job.recompute_names = std::move(names);
    return change;
  }
  JobChange policy(const std::string& name) const {
    const RetentionNames names = retention_policy(name).value();
    JobChange change = named("recompute_policy: \"" + name + "\"", Recompute::kKeepNamed, names.keep);
    change.job.offloaded = names.offload;
    return change;
  }

  // A job that keeps all, or all but scores, may keep less. A job's own program has names of its own.
  bool keeps_all() const { return job_.recompute == Recompute::kNone || selective(); }
  bool selective() const { return job_.recompute == Recompute::kSelective; }

  void recompute() {
    if (job_.recompute == Recompute::kFull) {
      if (job_.recompute_layers == 0 && job_.recompute_every == 1) return;
      JobChange all{"recompute: full in all layers", job_};
      all.job.recompute_layers = 0;
      all.job.recompute_every = 1;
      return add({std::move(all)});
    }
    if (keeps_all() && !job_.program) {
      OneChange cheap;
      if (!selective()) cheap.push_back(named("recompute: selective", Recompute::kSelective, {}));
      cheap.push_back(
          named("recompute_modules: [\"core_attn\", \"layernorm\", \"ffn activation\", \"moe_act\"]",
                Recompute::kRemakeNamed, {"core_attn", "layernorm", "ffn activation", "moe_act"}));
      add(std::move(cheap));
      add({policy("minimal"), policy("save_dot_except_mlpwi"), policy("save_qkv_proj")});
    }
    const JobChange full = named("recompute: full", Recompute::kFull, {});
    if (keeps_all()) some_layers(full);
    add({full});
  }

  void some_layers(const JobChange& full) {
    OneChange degrees;
    const int pieces = std::max(1, stages()) * job_.chunks_per_stage;
    for (int n = 1; n * pieces < job_.model.layers; ++n) {
      degrees.push_back({full.words + " recompute_layers: " + std::to_string(n), full.job});
      degrees.back().job.recompute_layers = n;
    }
    add(std::move(degrees));
  }

  void offload() {
    if (!job_.offload_optimizer) {
      JobChange optimizer{"offload_optimizer: true", job_};
      optimizer.job.offload_optimizer = true;
      add({std::move(optimizer)});
    }
    if (!job_.offloaded.empty() || job_.program) return;
    if (keeps_all()) add({policy("minimal_offloaded")});
    JobChange input{"offload: \"decoder_layer_input\"", job_};
    if (keeps_all()) {
      input = named("recompute: full " + input.words, Recompute::kFull, {});
    }
    input.job.offloaded = {"decoder_layer_input"};
    add({std::move(input)});
  }

  void microbatch() {
    OneChange degrees;
    for (int smaller = job_.microbatch - 1; smaller > 0; --smaller) {
      if (job_.microbatch % smaller != 0) continue;
      degrees.push_back({"microbatch_sequences: " + std::to_string(smaller), job_});
      degrees.back().job.microbatch = smaller;
      degrees.back().job.all_at_once = false;
    }
    add(std::move(degrees));
  }

  // The axes that carry the batch: devices along them hold the same parameters unless a rule cuts those too.
  std::vector<std::string> batch_axes() const {
    for (const ShardingRule& rule : job_.rules) {
      if (rule.dimension == "batch") return rule.axes;
    }
    return {};
  }

  // Cuts dimensions over every batch axis that they do not lie on yet.
  void shard(const std::string& what, const std::vector<std::string>& dimensions) {
    JobChange change{"", job_};
    std::string added;
    for (const std::string& dimension : dimensions) {
      std::vector<ShardingRule>& rules = change.job.rules;
      const auto found = std::find_if(rules.begin(), rules.end(),
                                      [&](const ShardingRule& rule) { return rule.dimension == dimension; });
      ShardingRule& rule = found == rules.end() ? rules.emplace_back(ShardingRule{dimension, {}}) : *found;
      for (const std::string& axis : batch_axes()) {
        if (std::find(rule.axes.begin(), rule.axes.end(), axis) != rule.axes.end()) continue;
        rule.axes.push_back(axis);
        if (added.find(axis) == std::string::npos) added += (added.empty() ? "" : " and ") + axis;
      }
    }
    if (added.empty()) return;
    change.words = what + " sharded over " + added;
    add({std::move(change)});
  }

  void sharding() {
    shard("optimizer state", {"state_param_embed"});
    shard("gradients and optimizer state", {"state_param_embed", "gradient_param_embed"});
    shard("parameters, gradients and optimizer state", {"param_embed"});
  }

  int stages() const {
    const int axis = job_.pipeline_axis.empty() ? -1 : job_.mesh.find(job_.pipeline_axis);
    return axis < 0 ? 0 : job_.mesh.axes[static_cast<std::size_t>(axis)].size;
  }

  void pipeline() {
    if (stages() <= 1) return;
    const ScheduleTraits& traits = schedule_traits(job_.schedule);
    if (traits.holds_all || job_.chunks_per_stage > 1) {
      JobChange plain{"pipeline { schedule: one_f_one_b }", job_};
      plain.job.schedule = PipelineSchedule::k1F1B;
      plain.job.chunks_per_stage = 1;
      add({std::move(plain)});
    }
    if (!traits.of_one_chunk) return;
    OneChange degrees;
    for (int chunks = 2 * job_.chunks_per_stage; chunks * stages() <= job_.model.layers + 2; chunks *= 2) {
      degrees.push_back({"pipeline { chunks_per_stage: " + std::to_string(chunks) + " }", job_});
      degrees.back().job.chunks_per_stage = chunks;
    }
    add(std::move(degrees));
  }

  const Job& job_;
  const bool host_link_;
  std::vector<OneChange> changes_;
};

}  // namespace

std::vector<std::vector<JobChange>> memory_changes(const Job& job, bool host_link) {
  return Changes(job, host_link).run();
}

}  // namespace podsim
