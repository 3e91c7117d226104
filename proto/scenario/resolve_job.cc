// The job block: model, stack, mesh, sharding rules and batch.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "engine/spelling.h"
#include "engine/time_limits.h"
#include "engine/unit_factors.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/job_resolver.h"
#include "proto/scenario/resolve_program.h"
#include "proto/text/ranges.h"
#include "scheduler/placement/place.h"
#include "workload/model/model_program.h"
#include "workload/model/program_graph.h"
#include "workload/partition/job_validity.h"
#include "workload/partition/step_bound.h"
#include "workload/sharding/presets.h"
#include "workload/sharding/sharding.h"

namespace podsim {

void JobResolver::model() {
  schema::Model model;
  if (choice_.has_measured_layers()) return measured_layers();
  if (choice_.has_program()) {
    if (choice_.has_model() || choice_.has_model_override())
      document_.report(at("program"), "the job has both a model and a program", "remove one of them");
    program_path_ = at("program");
    job_.program = to_program(choice_.program(), "own program");
    job_.model.name = job_.program->name;
    return;
  }
  if (choice_.has_model()) {
    const schema::Model* entry = find_model(entries_, choice_.model());
    if (!entry)
      return report_unknown_name(entries_, Catalog::Section::kModels, choice_.model(), at("model"),
                                 document_);
    model = *entry;
  } else if (!choice_.has_model_override()) {
    return report_missing(at("model"), "\"llama3_70b\", or program { ... }", document_);
  }
  merge_override(choice_.model_override(), model);
  if (model.has_program()) return program(model);
  check_required(model, at("model_override"), document_);
  if (document_.clean_below(at("model_override"))) job_.model = to_model(model);
}

// A model of the catalogue that is written as operations.
void JobResolver::program(const schema::Model& model) {
  if (model.has_layers() || model.has_d_model() || model.has_heads() || model.has_ffn() ||
      model.has_vocabulary())
    return document_.report(at("model_override"),
                            model.name() + " is a program: its sizes are its dimensions",
                            "override program { dimension { ... } }, all of them");
  check_required(model, at("model_override"), document_);
  program_path_ = at("model.program");
  job_.program = to_program(model.program(), model.name());
  job_.model.name = model.name();
}

// Sizes of batch and sequence that have problems of their own count as 1 here.
void JobResolver::check_program() {
  if (!job_.program || !document_.clean_below(program_path_)) return;
  const ProgramGraphs graphs = program_graphs(job_);
  report_program_problems(graphs.problems, program_path_, document_);
  if (!graphs.problems.empty()) return;
  const std::set<std::string> dimensions = rule_dimensions(job_, graphs.model);
  for (int i = 0; i < choice_.rule_size(); ++i) {
    const std::string& name = choice_.rule(i).dimension();
    if (name.empty() || dimensions.count(name)) continue;
    document_.report(at("rule[" + std::to_string(i) + "].dimension"),
                     "no tensor of the program has a dimension \"" + name + "\"",
                     suggest(name, {dimensions.begin(), dimensions.end()}, "rules can use"));
  }
}

// REQUIRES: the model is good. What explain_invalid finds too is located here.
void JobResolver::check_annotations() {
  if (job_.annotations.empty() || (job_.program && !program_graphs(job_).problems.empty())) return;
  const std::vector<TensorAnnotation> annotations = std::move(job_.annotations);
  job_.annotations.clear();
  if (explain_invalid(job_).empty()) {
    ModelProgram model = model_program(job_);
    report_program_problems(annotate(job_.mesh, annotations, "annotation", model), path_, document_);
  }
  if (document_.clean_below(path_)) job_.annotations = annotations;
}

void JobResolver::stack() {
  schema::Stack stack;
  if (choice_.has_stack()) {
    const schema::Stack* entry = find_stack(entries_, choice_.stack());
    if (!entry)
      return report_unknown_name(entries_, Catalog::Section::kStacks, choice_.stack(), at("stack"),
                                 document_);
    stack = *entry;
  } else if (job_.measured) {
    stack.set_name("none");
  } else if (!choice_.has_stack_override()) {
    return report_missing(at("stack"), "\"torchtitan\"", document_);
  }
  merge_override(choice_.stack_override(), stack);
  if (!job_.measured) check_required(stack, at("stack_override"), document_);
  if (!document_.clean_below(at("stack_override"))) return;
  job_.stack = to_stack(stack);
  if (!cluster_.chip || job_.measured) return;
  std::vector<std::string> kernels;
  for (const AttentionRate& rate : cluster_.chip->attention) kernels.push_back(rate.kernel);
  if (std::find(kernels.begin(), kernels.end(), job_.stack.attention_kernel) != kernels.end()) return;
  document_.report(at("stack"),
                   job_.stack.name + " uses the attention kernel \"" + job_.stack.attention_kernel +
                       "\", which " + cluster_.chip->name + " does not have",
                   "it has: " + list_names(kernels) + "; set " + at("stack_override") + ".attention_kernel");
}

void JobResolver::mesh() {
  constexpr int kMostAxes = 16;
  if (choice_.mesh_size() > kMostAxes) {
    document_.report(at("mesh"), "a mesh has at most " + std::to_string(kMostAxes) + " axes, not " +
                                     std::to_string(choice_.mesh_size()));
    return;
  }
  int rest = -1;  // the axis that says so
  for (int i = 0; i < choice_.mesh_size(); ++i) {
    const auto& axis = choice_.mesh(i);
    if (job_.mesh.find(axis.name()) >= 0) {
      document_.report(at("mesh[" + std::to_string(i) + "].name"),
                       "mesh axis \"" + axis.name() + "\" is there twice");
    }
    job_.mesh.axes.push_back({axis.name(), std::max<int>(axis.size(), 1)});
    if (axis.size() != schema::MeshAxis::rest) continue;
    if (rest >= 0)
      document_.report(at("mesh[" + std::to_string(i) + "].size"),
                       "mesh axes \"" + job_.mesh.axes[rest].name + "\" and \"" + axis.name() +
                           "\" both take the rest of the chips",
                       "one of them needs a number");
    rest = i;
  }
  if (rest >= 0 && document_.clean_below(at("mesh"))) rest_of_mesh(rest);
  if (cluster_.fabric && document_.clean_below(at("mesh"))) mesh_fills_cluster();
}

// The axis takes what the others leave of the chips. REQUIRES: it counts as 1 so far.
void JobResolver::rest_of_mesh(int index) {
  const std::string field = at("mesh[" + std::to_string(index) + "].size");
  if (!cluster_.fabric) return document_.spoil(field);  // the chips have a problem of their own
  MeshAxis& axis = job_.mesh.axes[index];
  const int others = job_.mesh.devices(), chips = cluster_.fabric->chips;
  if (chips % others != 0) {
    document_.report(field,
                     field + ": mesh axis \"" + axis.name + "\" cannot take the rest of " +
                         std::to_string(chips) + " chips: the other axes make " + std::to_string(others) +
                         " devices",
                     "make their product a divisor of " + std::to_string(chips));
    return;
  }
  axis.size = chips / others;
  job_.rest_axis = axis.name;
}

// One device of the mesh per chip.
void JobResolver::mesh_fills_cluster() {
  std::int64_t devices = 1;
  std::string product;
  for (const MeshAxis& axis : job_.mesh.axes) {
    devices = std::min<std::int64_t>(devices * axis.size, INT32_MAX);
    product += (product.empty() ? "" : " x ") + axis.name + " " + std::to_string(axis.size);
  }
  const int chips = cluster_.fabric->chips;
  if (devices == chips) return;
  const std::string owner = cluster_.whole ? "the cluster" : "the job";
  std::string hint = "make the mesh as large as " + owner;
  for (const MeshAxis& axis : job_.mesh.axes) {
    const std::int64_t others = devices / axis.size;
    if (devices == INT32_MAX || chips % others != 0) continue;
    hint = axis.name + " " + std::to_string(chips / others) + " would make it " + std::to_string(chips);
    break;
  }
  document_.report(at("mesh"),
                   "the mesh " + product + " has " +
                       (devices == INT32_MAX ? "too many" : std::to_string(devices)) + " devices, but " +
                       owner + " has " + std::to_string(chips) + " chips",
                   hint);
}

void JobResolver::sharding() {
  for (int i = 0; i < choice_.sharding_size(); ++i) {
    const std::string field = at("sharding[" + std::to_string(i) + "]");
    const auto rules = preset_rules(choice_.sharding(i), job_.mesh);
    if (!rules) {
      document_.report(field, "there is no sharding preset \"" + choice_.sharding(i) + "\"",
                       suggest(choice_.sharding(i), preset_names(), "there are"));
      continue;
    }
    if (rules->empty())
      document_.warn(field, choice_.sharding(i) + " has no effect: the mesh has none of its axes");
    add_rules(*rules, job_.rules);
  }
  std::vector<std::string> axes;
  for (const MeshAxis& axis : job_.mesh.axes) axes.push_back(axis.name);
  for (int i = 0; i < choice_.rule_size(); ++i) {
    const auto& rule = choice_.rule(i);
    for (int k = 0; k < rule.axis_size(); ++k) {
      if (job_.mesh.find(rule.axis(k)) >= 0) continue;
      document_.report(at("rule[" + std::to_string(i) + "].axis[" + std::to_string(k) + "]"),
                       "the mesh has no axis \"" + rule.axis(k) + "\"",
                       suggest(rule.axis(k), axes, "it has"));
    }
    std::erase_if(job_.rules, [&](const ShardingRule& r) { return r.dimension == rule.dimension(); });
    job_.rules.push_back({rule.dimension(), {rule.axis().begin(), rule.axis().end()}});
  }
}

void JobResolver::unused_axes() {
  const ModelProgram model = model_program(job_);
  for (std::size_t i = 0; i < job_.mesh.axes.size(); ++i) {
    const MeshAxis& axis = job_.mesh.axes[i];
    if (axis.size == 1 || axis_used(job_, model, static_cast<int>(i))) continue;
    document_.warn(at("mesh[" + std::to_string(i) + "]"),
                   "nothing is sharded over mesh axis \"" + axis.name + "\"",
                   "its " + std::to_string(axis.size) + " devices all do the same work");
  }
}

// Matmuls that are cut over an axis exchange activations along it, layer by layer.
void JobResolver::axes_beyond_nvlink() {
  if (!cluster_.fabric || !cluster_.fabric->gpu) return;
  const GpuClusterSpec& gpus = *cluster_.fabric->gpu;
  const AxisSet cut = axes_on(job_, "heads") | axes_on(job_, "ffn");
  std::int64_t reach = 1;  // chips from the first to the last of a group along the axis
  for (std::size_t i = job_.mesh.axes.size(); i-- > 0;) {
    const MeshAxis& axis = job_.mesh.axes[i];
    reach *= axis.size;
    if (reach <= gpus.gpus_per_domain || !(cut & axis_bit(static_cast<int>(i)))) continue;
    const auto rate = [](const LinkSpec& link) { return link.bandwidth.value * link.efficiency; };
    char times[32];
    std::snprintf(times, sizeof times, "%.1f", rate(gpus.nvlink) / rate(gpus.nic));
    document_.warn(at("mesh[" + std::to_string(i) + "]"),
                   "matmuls are cut over mesh axis \"" + axis.name + "\", whose groups reach over " +
                       std::to_string(reach) + " GPUs, and an NVLink domain has " +
                       std::to_string(gpus.gpus_per_domain),
                   "between domains a byte of every layer's activations takes " + std::string(times) +
                       " times as long; make the axis smaller or list it last");
  }
}

// Divisors of the sequences of one batch shard, a dozen at most.
std::vector<std::int64_t> JobResolver::microbatch_choices() const {
  std::vector<std::int64_t> choices;
  const int per_shard = job_.global_batch / batch_shards(job_);
  for (int m = 1; m <= per_shard && m <= 1024 && choices.size() < 12; ++m) {
    if (per_shard % m == 0) choices.push_back(m);
  }
  return choices;
}

// Without a pipeline a batch shard may take all its sequences at once; with one, the microbatch sets the
// bubble, so the user has to say it.
void JobResolver::batch() {
  job_.global_batch = choice_.global_batch_sequences();
  job_.sequence = choice_.sequence_tokens();
  job_.microbatch = choice_.microbatch_sequences();
  if (choice_.has_microbatch_sequences() || !document_.clean_below(path_)) return;
  job_.all_at_once = job_.pipeline_axis.empty();
  if (job_.all_at_once) return follow_batch(job_);
  const int shards = batch_shards(job_);
  if (job_.global_batch % shards != 0) {
    job_.microbatch = 1;  // explain_invalid tells that the batch cannot be divided
    return;
  }
  std::vector<std::string> choices;
  for (const std::int64_t m : microbatch_choices()) choices.push_back(std::to_string(m));
  document_.report(at("microbatch_sequences"),
                   at("microbatch_sequences") + " is missing, and a pipeline needs it",
                   "each batch shard has " + std::to_string(job_.global_batch / shards) +
                       " sequences per step; possible: " + list_names(choices));
}

// What a step takes by its stack, slow parts and chance is held against the same limit before it is
// simulated.
void JobResolver::step_length() {
  const double seconds = shortest_step_s(job_, model_program(job_), *cluster_.chip);
  if (seconds <= kLongestStep_s) return;
  document_.report(
      at(job_.measured ? "measured_layers" : "global_batch_sequences"),
      "a step of this job takes at least " +
          std::to_string(std::int64_t(std::min(seconds / kSecondsPerDay, 1e15))) + " days on this cluster",
      "the longest step that is simulated is one of " + std::to_string(kLongestStepDays) + " days");
}

std::optional<Job> JobResolver::resolve() {
  model();
  stack();
  mesh();
  sharding();
  pipeline();
  precision();
  batch();
  check_program();
  check_measured();
  recompute();
  check_host_link();
  if (choice_.partitioner() == schema::JobChoice::search) job_.partitioner = Partitioner::kSearch;
  input();
  lengths();
  evaluation();
  if (choice_.has_adapters())
    job_.adapters = {choice_.adapters().rank(),
                     {choice_.adapters().matmul().begin(), choice_.adapters().matmul().end()},
                     choice_.adapters().frozen_weight_bytes(),
                     choice_.adapters().dropout()};
  for (const auto& annotation : choice_.annotation()) job_.annotations.push_back(to_annotation(annotation));
  if (!document_.clean_below(path_)) return std::nullopt;
  check_annotations();
  for (const JobProblem& problem : explain_invalid(job_)) {
    std::string field = problem.field.rfind("job.", 0) == 0 ? problem.field.substr(4) : problem.field;
    if (field == "model" && choice_.has_model_override()) field = "model_override";
    document_.report(at(field), problem.message);
  }
  if (document_.clean_below(path_)) check_gemms();
  if (document_.clean_below(path_)) check_adapters();
  if (document_.clean_below(path_)) check_retained_names();
  if (document_.clean_below(path_)) check_shapes();
  if (cluster_.chip && cluster_.fabric && document_.clean_below(path_)) step_length();
  if (!document_.clean_below(path_)) return std::nullopt;
  unused_axes();
  idle_rules();
  axes_beyond_nvlink();
  return job_;
}

std::optional<Job> resolve_job(const schema::JobChoice& choice, const Catalog::Entries& entries,
                               ClusterParts cluster, const std::string& path, Document& document) {
  return JobResolver(choice, entries, cluster, path, document).resolve();
}

std::vector<AxisPlacement> resolve_placement(const schema::JobChoice& choice, const Mesh& mesh,
                                             const FabricSpec& fabric, const std::string& path,
                                             Document& document) {
  std::vector<AxisPlacement> placement;
  std::string first;
  for (int i = 0; i < choice.mesh_size(); ++i) {
    const auto& dimensions = choice.mesh(i).torus_dimension();
    if (dimensions.empty()) continue;
    if (first.empty()) first = join_path(path, "mesh[" + std::to_string(i) + "].torus_dimension");
    placement.push_back({choice.mesh(i).name(), {dimensions.begin(), dimensions.end()}});
  }
  const std::string why = explain_invalid(fabric, mesh, placement);
  if (!why.empty()) document.report(first, why);
  return placement;
}

}  // namespace podsim
