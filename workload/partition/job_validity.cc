// Everything that can be wrong with a job's arithmetic, said with the numbers.
#include "workload/partition/job_validity.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/contains.h"
#include "engine/spelling.h"
#include "workload/job/job.h"
#include "workload/job/measured_layers.h"
#include "workload/job/model.h"
#include "workload/model/model_program.h"
#include "workload/model/program_graph.h"
#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"
#include "workload/pipeline/stages.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Sizes of activations, of parameters ("param_"), and of those what gradients and optimizer state add
// ("gradient_param_", "state_param_").
constexpr std::array kPrefixes = {"gradient_param_", "state_param_", "param_"};
constexpr std::array kActivationDimensions = {"batch",
                                              "sequence",
                                              "residual_sequence",
                                              "embed",
                                              "heads",
                                              "kv_heads",
                                              "head_dim",
                                              "ffn",
                                              "vocabulary",
                                              "key_sequence",
                                              "attention_sequence",
                                              "attention_heads",
                                              "attention_kv_heads",
                                              "experts",
                                              "expert_groups",
                                              "expert_ffn"};
constexpr std::array kParameterDimensions = {"embed",      "heads",   "kv_heads",  "ffn",
                                             "vocabulary", "experts", "expert_ffn"};

bool is_dimension(std::string_view name) {
  for (const std::string_view prefix : kPrefixes)
    if (name.substr(0, prefix.size()) == prefix)
      return contains(kParameterDimensions, name.substr(prefix.size()));
  return contains(kActivationDimensions, name);
}

// All that is_dimension takes.
std::vector<std::string> dimension_names() {
  std::vector<std::string> names(kActivationDimensions.begin(), kActivationDimensions.end());
  for (const char* prefix : kPrefixes)
    for (const char* name : kParameterDimensions) names.push_back(std::string(prefix) + name);
  return names;
}

std::string number(std::int64_t value) { return std::to_string(value); }

class Validator {
 public:
  explicit Validator(const Job& job) : job_(job) {}

  std::vector<JobProblem> run() {
    check_mesh();
    if (job_.measured) {
      check_measured();
    } else if (!job_.program) {
      check_model();
      check_structure();
    }
    check_numbers();
    if (!problems_.empty()) return std::move(problems_);  // the checks below divide by these
    if (job_.program && !job_.measured) check_program();
    if (!problems_.empty()) return std::move(problems_);
    check_rules();
    if (!job_.program && !job_.measured) check_divisible();
    check_batch();
    check_pipeline();
    return std::move(problems_);
  }

 private:
  void report(const std::string& field, const std::string& message) {
    const auto same = [&](const JobProblem& p) { return p.field == field && p.message == message; };
    if (std::none_of(problems_.begin(), problems_.end(), same)) problems_.push_back({field, message});
  }

  void check_mesh() {
    constexpr std::size_t kMostAxes = std::numeric_limits<AxisSet>::digits;
    if (job_.mesh.axes.size() > kMostAxes) {
      report("job.mesh", number(static_cast<std::int64_t>(job_.mesh.axes.size())) + " axes; at most " +
                             number(kMostAxes));
      return;
    }
    double devices = 1;
    for (std::size_t i = 0; i < job_.mesh.axes.size(); ++i) {
      const MeshAxis& axis = job_.mesh.axes[i];
      if (axis.name.empty()) report("job.mesh", "an axis has no name");
      if (axis.size < 1)
        report("job.mesh",
               "axis " + axis.name + " has size " + number(axis.size) + "; it must be at least 1");
      if (job_.mesh.find(axis.name) != static_cast<int>(i))
        report("job.mesh", "axis " + axis.name + " occurs twice");
      devices *= axis.size;
    }
    if (devices > std::numeric_limits<int>::max())
      report("job.mesh", "the mesh has more devices than 2^31 - 1");
  }

  void positive(const std::string& field, const std::string& what, std::int64_t value) {
    if (value < 1) report(field, what + " is " + number(value) + "; it must be at least 1");
  }

  void check_model() {
    const Model& model = job_.model;
    positive("job.model", "layers", model.layers);
    positive("job.model", "d_model", model.d_model);
    positive("job.model", "heads", model.heads);
    positive("job.model", "kv_heads", model.kv_heads);
    positive("job.model", "head_dim", model.head_dim);
    positive("job.model", "ffn", model.ffn);
    positive("job.model", "vocabulary", model.vocabulary);
    if (model.kv_heads > 0 && model.heads % model.kv_heads != 0) {
      report("job.model",
             "heads " + number(model.heads) + " are not divisible by kv_heads " + number(model.kv_heads));
    }
    if (model.learned_positions > 0 && job_.sequence > model.learned_positions) {
      report("job.sequence_tokens", "sequence of " + number(job_.sequence) + " tokens is longer than the " +
                                        number(model.learned_positions) + " learned positions of " +
                                        model.name);
    }
  }

  void check_structure() {
    const Model& model = job_.model;
    if (model.experts) check_experts(*model.experts);
    if (model.latent) {
      positive("job.model", "latent kv_rank", model.latent->kv_rank);
      positive("job.model", "latent plain_dim", model.latent->plain_dim);
      positive("job.model", "latent rotary_dim", model.latent->rotary_dim);
      positive("job.model", "latent value_dim", model.latent->value_dim);
    }
    if (model.decoder) {
      positive("job.model", "decoder layers", model.decoder->layers);
      positive("job.model", "decoder tokens", model.decoder->tokens);
      if (model.experts || model.latent || model.attention_window > 0 || model.parallel_block ||
          model.prediction_layers > 0) {
        report("job.model",
               "a model with a decoder beside its encoder has plain layers only; " + model.name +
                   " asks for experts, latent attention, a window, parallel blocks or prediction");
      }
    }
    if (model.parallel_block && (model.experts || model.latent))
      report("job.model", "parallel blocks go with neither experts nor latent attention");
    if (model.parallel_block && model.post_norms)
      report("job.model", "parallel blocks have no norms behind them: post_norms needs blocks in sequence");
    if (model.vision) check_vision(*model.vision);
  }

  void check_experts(const MixtureOfExperts& experts) {
    positive("job.model", "experts", experts.experts);
    positive("job.model", "experts_per_token", experts.experts_per_token);
    positive("job.model", "expert_ffn", experts.expert_ffn);
    positive("job.model", "every", experts.every);
    if (experts.experts_per_token > experts.experts) {
      report("job.model", "a token cannot go to " + number(experts.experts_per_token) + " of " +
                              number(experts.experts) + " experts");
    }
    if (experts.dense_layers + std::max(experts.every, 1) > job_.model.layers) {
      report("job.model", number(job_.model.layers) + " layers, of which the first " +
                              number(experts.dense_layers) + " are dense, leave none for experts");
    }
    if (experts.capacity_factor <= 0 || experts.imbalance < 1)
      report("job.model", "the capacity factor must be above 0 and the imbalance at least 1");
  }

  void check_vision(const Vision& vision) {
    positive("job.model", "patch", vision.patch);
    positive("job.model", "channels", vision.channels);
    int side = 1;
    while (side < 46340 && side * side < job_.sequence - 1) ++side;
    if (job_.sequence < 2 || side * side != job_.sequence - 1) {
      report("job.sequence_tokens", "sequence of " + number(job_.sequence) +
                                        " tokens is not a class token and the patches of a square image; " +
                                        number(std::int64_t{side} * side + 1) + " would be");
    }
  }

  void check_measured() {
    std::int64_t layers = 0;
    for (const MeasuredLayer& layer : job_.measured->layers) {
      positive("job.measured_layers", "count of " + layer.name, layer.count);
      layers += layer.count;
      for (const LayerCollective* collective :
           {&layer.forward_collective, &layer.input_gradient_collective, &layer.weight_gradient_collective}) {
        for (const std::string& axis : collective->axes)
          if (job_.mesh.find(axis) < 0)
            report("job.measured_layers", layer.name + " names axis " + axis + ", which the mesh lacks");
      }
    }
    if (layers < 1 || layers > kMostMeasuredLayers) {
      report("job.measured_layers",
             number(layers) + " layers; there must be 1 to " + number(kMostMeasuredLayers));
    }
  }

  void check_program() {
    const ProgramGraphs graphs = program_graphs(job_);
    for (const ProgramProblem& problem : graphs.problems)
      report("job.program" + (problem.path.empty() ? "" : "." + problem.path), problem.message);
    dimensions_ = rule_dimensions(job_, graphs.model);
  }

  // Presets speak of dimensions that a program need not have.
  bool known(const std::string& dimension) const {
    return dimensions_.count(dimension) || is_dimension(dimension);
  }

  void check_numbers() {
    positive("job.global_batch_sequences", "global batch", job_.global_batch);
    positive("job.microbatch_sequences", "microbatch", job_.microbatch);
    positive("job.sequence_tokens", "sequence", job_.sequence);
    positive("job.pipeline.chunks_per_stage", "chunks per stage", job_.chunks_per_stage);
  }

  void check_rules() {
    for (const ShardingRule& rule : job_.rules) {
      if (!known(rule.dimension)) {
        std::vector<std::string> names = dimension_names();
        names.insert(names.end(), dimensions_.begin(), dimensions_.end());
        const std::string near = closest_name(rule.dimension, names);
        report("job.rule", "no tensor dimension is called " + rule.dimension +
                               (near.empty() ? "" : "; did you mean " + near + "?"));
      }
      for (const std::string& axis : rule.axes) {
        if (job_.mesh.find(axis) < 0)
          report("job.rule", rule.dimension + " names axis " + axis + ", which the mesh lacks");
        if (!job_.pipeline_axis.empty() && axis == job_.pipeline_axis) {
          report("job.rule", rule.dimension + " names axis " + axis + ", which holds the pipeline stages");
        }
      }
    }
    ModelProgram model = model_program(job_);
    for (const ModelPart& part : model.parts) {
      for (const Tensor& tensor : part.graph.tensors) check_axes_once(tensor);
    }
    for (const ProgramProblem& problem : annotate(job_.mesh, job_.annotations, "annotation", model))
      report("job." + problem.path, problem.message);
  }

  // Of a tensor of experts, other dimensions leave out the axes on which the experts lie.
  static bool yields_to_experts(const Tensor& tensor) {
    if (tensor.dims.empty()) return false;
    const std::string& first = tensor.dims.front().logical;
    return first == "experts" || first == "param_experts";
  }

  // An annotation replaces the rules.
  void check_axes_once(const Tensor& tensor) {
    if (tensor.annotation) return;
    for (std::size_t i = yields_to_experts(tensor) ? 1 : 0; i < tensor.dims.size(); ++i) {
      for (std::size_t j = i + 1; j < tensor.dims.size(); ++j) {
        const AxisSet both = axes_on(job_, tensor.dims[i].logical) & axes_on(job_, tensor.dims[j].logical);
        if (both == 0) continue;
        report("job.rule", tensor.dims[i].logical + " and " + tensor.dims[j].logical +
                               " lie on the same axis " + axis_names(job_.mesh, both) +
                               "; one tensor has both");
      }
    }
  }

  void divisible(const std::string& field, const std::string& what, int size, const std::string& dimension) {
    const AxisSet axes = axes_on(job_, dimension);
    const int shards = shard_count(job_.mesh, axes);
    if (size % shards == 0) return;
    // Fewer key and value heads than shards are replicated.
    if (what == "kv_heads" && shards % size == 0) return;
    report(field, what + " " + number(size) + " are not divisible by " + number(shards) +
                      ", the size of axis " + axis_names(job_.mesh, axes) + " (rule " + dimension + ")");
  }

  void check_divisible() {
    const Model& model = job_.model;
    const bool exchanged = axes_on(job_, "attention_heads") != axes_on(job_, "heads");
    for (const std::string prefix : {"", "attention_", "param_"}) {
      if (prefix == "attention_" && !exchanged) continue;
      divisible("job.rule", "heads", model.heads, prefix + "heads");
      divisible("job.rule", "kv_heads", model.kv_heads, prefix + "kv_heads");
    }
    for (const char* dimension : {"ffn", "param_ffn"})
      divisible("job.rule", "ffn columns", model.ffn, dimension);
    if (model.experts) {
      for (const std::string prefix : {"", "param_"}) {
        divisible("job.rule", "experts", model.experts->experts, prefix + "experts");
        divisible("job.rule", "expert ffn columns", model.experts->expert_ffn, prefix + "expert_ffn");
      }
    }
    if (model.decoder) {
      divisible("job.model", "decoder tokens", model.decoder->tokens, "sequence");
      divisible("job.model", "decoder tokens", model.decoder->tokens, "residual_sequence");
    }
    divisible("job.sequence_tokens", "sequence tokens", job_.sequence, "sequence");
    divisible("job.sequence_tokens", "sequence tokens", job_.sequence, "residual_sequence");
    if (model.attention_window > 0 && axes_on(job_, "key_sequence") != 0) {
      report("job.rule", "a ring passes all keys round, and local layers of " + model.name + " see " +
                             number(model.attention_window) +
                             " tokens only: gather keys (preset context) or exchange heads (ulysses)");
    }
  }

  void check_batch() {
    const int shards = batch_shards(job_);
    const std::string batch = "global batch of " + number(job_.global_batch);
    if (job_.global_batch % shards != 0) {
      report("job.global_batch_sequences", batch + " sequences is not divisible by " + number(shards) +
                                               " batch shards (axes " +
                                               axis_names(job_.mesh, axes_on(job_, "batch")) + ")");
    } else if ((job_.global_batch / shards) % job_.microbatch != 0) {
      report("job.microbatch_sequences", batch + " over " + number(shards) + " batch shards leaves " +
                                             number(job_.global_batch / shards) +
                                             " sequences each, not divisible by a microbatch of " +
                                             number(job_.microbatch));
    }
  }

  void check_pipeline() {
    const int chunks = job_.chunks_per_stage;
    if (job_.pipeline_axis.empty()) {
      if (chunks > 1) report("job.pipeline", number(chunks) + " chunks per stage need a pipeline axis");
      return;
    }
    const int axis = job_.mesh.find(job_.pipeline_axis);
    if (axis < 0) {
      report("job.pipeline", "axis " + job_.pipeline_axis + " is not in the mesh");
      return;
    }
    const int stages = job_.mesh.axes[static_cast<std::size_t>(axis)].size;
    if (!problems_.empty()) return;
    const PipelineShape shape{job_.schedule, stages, chunks, microbatches(job_)};
    const std::string problem = explain_invalid(shape);
    if (!problem.empty()) return report("job.pipeline", problem);
    const int each_on = schedule_traits(job_.schedule).layout == PieceLayout::kFromBothEnds ? 2 : 1;
    const std::int64_t pieces = static_cast<std::int64_t>(stages) * chunks / each_on;
    const ModelProgram model = model_program(job_);
    const std::string uncut = explain_uncut(model, pieces, job_.layers_per_chunk);
    if (!uncut.empty()) return report("job.pipeline", uncut);
    const std::string idle = explain_idle_stages(job_, model, shape);
    if (!idle.empty()) report("job.pipeline", idle);
  }

  const Job& job_;
  std::set<std::string> dimensions_;  // of the job's program
  std::vector<JobProblem> problems_;
};

}  // namespace

std::vector<JobProblem> explain_invalid(const Job& job) { return Validator(job).run(); }

}  // namespace podsim
