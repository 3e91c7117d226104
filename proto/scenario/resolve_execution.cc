// How a job runs: pipeline schedule, precision, recompute and input.
#include <algorithm>

#include "engine/spelling.h"
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/job_resolver.h"
#include "workload/model/adapters.h"
#include "workload/model/apply_precision.h"
#include "workload/partition/recompute.h"
#include "workload/pipeline/schedules.h"

namespace podsim {

namespace {

// Schedules have the same names in scenarios and in the table.
PipelineSchedule schedule_of(schema::Pipeline::Schedule schedule, int chunks) {
  return schedule_named(schema::Pipeline::Schedule_Name(schedule))
      .value_or(chunks > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B);
}

}  // namespace

void JobResolver::pipeline() {
  const auto& pipeline = choice_.pipeline();
  const std::string axis = pipeline.has_axis() ? pipeline.axis() : "pipeline";
  const bool in_mesh = job_.mesh.find(axis) >= 0;
  if (!choice_.has_pipeline() && !in_mesh) return;
  if (!in_mesh && document_.clean_below(at("mesh"))) {
    std::vector<std::string> axes;
    for (const MeshAxis& each : job_.mesh.axes) axes.push_back(each.name);
    document_.report(at("pipeline.axis"), "the mesh has no axis \"" + axis + "\" for the pipeline",
                     suggest(axis, axes, "it has"));
  }
  job_.pipeline_axis = axis;
  job_.schedule = schedule_of(pipeline.schedule(), pipeline.chunks_per_stage());
  job_.chunks_per_stage = pipeline.has_chunks_per_stage() ? pipeline.chunks_per_stage()
                                                          : schedule_traits(job_.schedule).chunks.value_or(1);
  job_.layers_per_chunk = {pipeline.layers_per_chunk().begin(), pipeline.layers_per_chunk().end()};
}

// The stack's recipe of this name, or the format as it is; nothing when the stack has neither.
std::optional<PrecisionRecipe> JobResolver::recipe(int schema_name, const std::string& field) {
  const std::string& name = schema::PrecisionRecipe::Name_Name(schema::PrecisionRecipe::Name(schema_name));
  for (const PrecisionRecipe& known : job_.stack.recipes)
    if (known.name == name) return known;
  if (schema::DtypeName_IsValid(schema_name)) {
    PrecisionRecipe plain;
    plain.name = name;
    plain.dtype = to_dtype(schema_name);
    plain.cast_bytes = job_.stack.cast_bytes;
    return plain;
  }
  std::vector<std::string> names;
  for (int i = 1; schema::DtypeName_IsValid(i); ++i)
    names.push_back(schema::DtypeName_Name(schema::DtypeName(i)));
  for (const PrecisionRecipe& known : job_.stack.recipes)
    if (std::find(names.begin(), names.end(), known.name) == names.end()) names.push_back(known.name);
  document_.report(field, "the stack " + job_.stack.name + " has no recipe \"" + name + "\"",
                   suggest(name, names, "it has"));
  return std::nullopt;
}

void JobResolver::check_format(Dtype dtype, const std::string& field) {
  if (!cluster_.chip || cluster_.chip->matmul.count(dtype)) return;
  std::vector<std::string> dtypes;
  for (const auto& [each, rate] : cluster_.chip->matmul) dtypes.emplace_back(to_string(each));
  document_.report(field, cluster_.chip->name + " has no matrix unit for " + std::string(to_string(dtype)),
                   "it has: " + list_names(dtypes));
}

void JobResolver::precision() {
  if (!document_.clean_below(at("stack")) || !document_.clean_below(at("stack_override"))) return;
  // Of measured layers nobody can choose: their peak is that of 16 bits, whichever the chip has.
  const bool has_bf16 = !cluster_.chip || cluster_.chip->matmul.count(Dtype::kBf16) > 0;
  const int missing =
      job_.measured && !has_bf16 ? schema::PrecisionRecipe::fp16 : schema::PrecisionRecipe::bf16;
  const int name = choice_.has_precision() ? choice_.precision() : missing;
  if (const auto chosen = recipe(name, at("precision"))) {
    job_.precision = *chosen;
    check_format(chosen->dtype, at("precision"));
  }
  for (int i = 0; i < choice_.gemm_precision_size(); ++i) {
    const auto& own = choice_.gemm_precision(i);
    const std::string field = at("gemm_precision[" + std::to_string(i) + "]");
    const auto chosen = recipe(own.precision(), field + ".precision");
    if (!chosen) continue;
    job_.gemm_precision.push_back({own.gemm(), *chosen});
    check_format(chosen->dtype, field + ".precision");
  }
  Stack& stack = job_.stack;
  if (stack.kernels_per_layer == 0) return;
  const double more = 1 + job_.precision.extra_kernels / stack.kernels_per_layer;
  stack.kernels_per_layer *= more;
  stack.backward_kernels *= more;
}

// REQUIRES: the model is good.
void JobResolver::check_gemms() {
  const std::vector<std::string> names = matmul_names(model_program(job_));
  const auto known = [&](const std::string& gemm) {
    return std::find(names.begin(), names.end(), gemm) != names.end();
  };
  for (std::size_t i = 0; i < job_.gemm_precision.size(); ++i) {
    const std::string& gemm = job_.gemm_precision[i].gemm;
    if (!known(gemm))
      document_.report(at("gemm_precision[" + std::to_string(i) + "].gemm"),
                       "the model has no matmul \"" + gemm + "\"", suggest(gemm, names, "it has"));
  }
  const std::vector<std::string>& gemms = job_.precision.gemms;
  if (!gemms.empty() && std::none_of(gemms.begin(), gemms.end(), known))
    document_.warn(at("precision"), job_.precision.name + " has no effect: the model has none of its matmuls",
                   "it has: " + list_names(names));
}

// REQUIRES: the model is good.
void JobResolver::check_adapters() {
  if (!job_.adapters) return;
  Job whole = job_;
  whole.adapters.reset();
  std::vector<std::string> names;
  for (const ModelPart& part : model_program(whole).parts)
    for (const std::string& name : adaptable_matmuls(part.graph))
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (std::size_t i = 0; i < job_.adapters->matmuls.size(); ++i) {
    const std::string& matmul = job_.adapters->matmuls[i];
    if (std::ranges::find(names, matmul) == names.end())
      document_.report(at("adapters.matmul[" + std::to_string(i) + "]"),
                       "the model has no matmul \"" + matmul + "\" with a weight",
                       suggest(matmul, names, "it has"));
  }
}

void JobResolver::recompute() {
  const bool by_mode = choice_.has_recompute() && choice_.recompute() != schema::JobChoice::none;
  if (by_mode + choice_.has_recompute_policy() + (choice_.keep_size() > 0) +
          (choice_.recompute_modules_size() > 0) >
      1)
    document_.report(at("recompute"), "the job says in several ways what its layers recompute",
                     "leave one of recompute, recompute_policy, keep and recompute_modules");
  job_.offloaded.assign(choice_.offload().begin(), choice_.offload().end());
  job_.offload_optimizer = choice_.offload_optimizer();
  job_.recompute_layers = choice_.recompute_layers();
  if (choice_.has_recompute_every()) job_.recompute_every = choice_.recompute_every();
  if (choice_.has_recompute_policy()) return recompute_policy();
  if (choice_.keep_size() > 0) {
    job_.recompute = Recompute::kKeepNamed;
    job_.recompute_names.assign(choice_.keep().begin(), choice_.keep().end());
    return;
  }
  if (choice_.recompute_modules_size() > 0) {
    job_.recompute = Recompute::kRemakeNamed;
    job_.recompute_names.assign(choice_.recompute_modules().begin(), choice_.recompute_modules().end());
    return;
  }
  switch (choice_.recompute()) {
    case schema::JobChoice::selective:
      job_.recompute = Recompute::kSelective;
      break;
    case schema::JobChoice::full:
      job_.recompute = Recompute::kFull;
      break;
    default:
      job_.recompute = Recompute::kNone;
  }
}

void JobResolver::recompute_policy() {
  const std::string& policy = choice_.recompute_policy();
  const auto names = retention_policy(policy);
  if (!names)
    return document_.report(at("recompute_policy"), "there is no recompute policy \"" + policy + "\"",
                            suggest(policy, retention_policy_names(), "there are"));
  job_.recompute = Recompute::kKeepNamed;
  job_.recompute_names = names->keep;
  job_.offloaded.insert(job_.offloaded.end(), names->offload.begin(), names->offload.end());
}

void JobResolver::check_host_link() {
  if (!cluster_.chip || cluster_.chip->host_link.value > 0) return;
  if (job_.offloaded.empty() && !job_.offload_optimizer) return;
  const std::string field = job_.offload_optimizer       ? "offload_optimizer"
                            : choice_.offload_size() > 0 ? "offload"
                                                         : "recompute_policy";
  document_.report(at(field), cluster_.chip->name + " has no link to its host, which an offload needs",
                   "set cluster.chip_override.host_link_gb_per_s");
}

// REQUIRES: the model is good.
void JobResolver::check_retained_names() {
  const std::vector<std::string> known = retainable_names(model_program(job_));
  const auto check = [&](const std::string& field, const auto& names) {
    for (int i = 0; i < names.size(); ++i) {
      if (std::find(known.begin(), known.end(), names.Get(i)) != known.end()) continue;
      document_.report(at(field + "[" + std::to_string(i) + "]"),
                       "no layer has an activation \"" + names.Get(i) + "\"",
                       suggest(names.Get(i), known, "layers have"));
    }
  };
  check("keep", choice_.keep());
  check("recompute_modules", choice_.recompute_modules());
  check("offload", choice_.offload());
}

void JobResolver::input() {
  if (choice_.has_input_bytes_per_token()) job_.input_bytes_per_token = choice_.input_bytes_per_token();
  const auto limit = [&](bool stated, double mb_per_s) {
    if (!stated || (job_.input_rate.value > 0 && job_.input_rate.value <= mb_per_s * 1e6)) return;
    job_.input_rate = {mb_per_s * 1e6};
  };
  limit(choice_.has_input_rate_mb_per_s(), choice_.input_rate_mb_per_s());
  limit(choice_.has_input_disk_mb_per_s(), choice_.input_disk_mb_per_s());
  const int cores = choice_.has_input_cores() ? choice_.input_cores() : 1;
  limit(choice_.has_input_core_mb_per_s(), cores * choice_.input_core_mb_per_s());
  if (choice_.has_input_cores() && !choice_.has_input_core_mb_per_s())
    document_.report(at("input_cores"), "nobody says how much a core prepares",
                     "write input_core_mb_per_s beside it");
  job_.storage_rate = {choice_.storage_rate_gb_per_s() * 1e9};
  if (choice_.has_input_batches_ahead()) job_.batches_ahead = choice_.input_batches_ahead();
}

void JobResolver::evaluation() {
  if (!choice_.has_evaluation()) return;
  const auto& evaluation = choice_.evaluation();
  if (evaluation.has_every_sequences() == evaluation.has_every_steps())
    return document_.report(at("evaluation"), "how often the job is evaluated must be said in one way",
                            "give every_sequences or every_steps");
  job_.evaluation.sequences = evaluation.sequences();
  if (evaluation.has_every_steps())
    job_.evaluation.every_steps = evaluation.every_steps();
  else
    job_.evaluation.every_sequences = evaluation.every_sequences();
}

}  // namespace podsim
