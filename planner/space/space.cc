// Goes through the products of all axes and keeps what a job can have.
#include "planner/space/space.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "topology/fabric_kind.h"
#include "workload/partition/job_validity.h"
#include "workload/partition/kernels.h"
#include "workload/pipeline/pipeline.h"
#include "workload/pipeline/schedules.h"
#include "workload/pipeline/stages.h"

namespace podsim {
namespace {

constexpr int kMostDomains = 8, kWidestOnTorus = 64, kMostStages = 64, kLargestMicrobatch = 16;

std::vector<int> divisors(int n, int most) {
  std::vector<int> result;
  for (int d = 1; d <= std::min(n, most); ++d)
    if (n % d == 0) result.push_back(d);
  return result;
}

template <class Value>
void sort_once(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Whether sizes, innermost last, take whole dimensions from the d-th on that no other has.
bool fill(std::vector<int> sizes, std::vector<int> lengths) {
  if (sizes.empty()) return true;
  const int size = sizes.back();
  sizes.pop_back();
  if (size == 1) return fill(sizes, lengths);
  for (unsigned subset = 1; subset < 1U << lengths.size(); ++subset) {
    int product = 1;
    std::vector<int> left = lengths;
    for (std::size_t d = 0; d < lengths.size(); ++d) {
      if (!(subset >> d & 1)) continue;
      product *= lengths[d];
      left[d] = 1;
    }
    if (product == size && fill(sizes, left)) return true;
  }
  return false;
}

}  // namespace

Space::Space(const Spec& spec, LayoutSpace wanted)
    : spec_(spec),
      even_job_(spec.job),
      wanted_(std::move(wanted)),
      values_(wanted_),
      model_(model_program(spec.job)) {
  even_job_.layers_per_chunk.clear();
  fill_values();
  measure_chunks();
  add_meshes();
  add_own_layout();
  sort_once(stems_);
}

void Space::fill_values() {
  const Job& job = spec_.job;
  const FabricSpec& fabric = spec_.cluster.fabric;
  const auto unless_given = [](auto& list, auto&& automatic) {
    if (list.empty()) list = automatic;
    sort_once(list);
  };
  const int experts = job.model.experts ? job.model.experts->experts : 1;
  const int widest = fabric.gpu ? kMostDomains * fabric.gpu->gpus_per_domain : kWidestOnTorus;
  const int layers = layer_count(model_);
  unless_given(values_.tensor, divisors(fabric.chips, widest));
  unless_given(values_.context, std::vector{1, 2, 4, 8, 16});
  unless_given(values_.pipeline, divisors(fabric.chips, std::min(layers, kMostStages)));
  unless_given(values_.expert, divisors(experts, fabric.chips));
  unless_given(values_.expert_tensor, std::vector{1});
  automatic_microbatch_ = values_.microbatch.empty();
  automatic_chunks_ = values_.chunks.empty();
  automatic_sharding_ = values_.sharding.empty();
  std::vector<PipelineSchedule> schedules = {job.schedule};
  for (std::size_t s = 0; s < all_schedules().size(); ++s)
    if (all_schedules()[s].tried_unasked) schedules.push_back(static_cast<PipelineSchedule>(s));
  unless_given(values_.schedule, schedules);
  unless_given(values_.sharding,
               std::vector{StateSharding::kDdp, StateSharding::kZero1, StateSharding::kFsdp});
  unless_given(values_.fsdp_group, std::vector<int>{});
  unless_given(values_.recompute,
               std::vector{Recompute::kNone, Recompute::kSelective, Recompute::kFull, job.recompute});
  for (Recompute& recompute : values_.recompute) recompute = in_one_word(recompute, job.stack);
  sort_once(values_.recompute);
  unless_given(values_.recompute_layers, std::vector{0});
}

void Space::add_meshes() {
  const int chips = spec_.cluster.fabric.chips;
  for (const int tensor : values_.tensor)
    for (const int context : values_.context)
      for (const int pipeline : values_.pipeline)
        for (const int expert : values_.expert)
          for (const int expert_tensor : values_.expert_tensor) {
            JobLayout mesh;
            mesh.tensor = tensor;
            mesh.context = context;
            mesh.pipeline = pipeline;
            mesh.expert = expert;
            mesh.expert_tensor = expert == 1 ? tensor : expert_tensor;
            const std::int64_t cut = std::int64_t{expert} * mesh.expert_tensor;
            ++products_;
            if (tensor % mesh.expert_tensor != 0 || cut % tensor != 0) continue;
            const std::int64_t others = std::int64_t{tensor} * context * pipeline * (cut / tensor);
            if (others > chips || chips % others != 0) continue;
            mesh.data = static_cast<int>(chips / others);
            if (legal_mesh(mesh)) add_stems(mesh);
          }
}

void Space::add_stems(JobLayout stem) {
  const JobLayout mesh = stem;
  const int sequences = spec_.job.global_batch / mesh.batch_ranks();
  const std::vector<int> microbatches =
      automatic_microbatch_ ? divisors(sequences, kLargestMicrobatch) : values_.microbatch;
  std::vector<std::pair<StateSharding, int>> shardings;
  for (const StateSharding sharding : values_.sharding) {
    if (!legal_sharding(mesh, sharding)) continue;
    if (sharding != StateSharding::kHsdp) {
      shardings.emplace_back(sharding, mesh.data);
      continue;
    }
    for (const int group : values_.fsdp_group.empty() ? divisors(mesh.data, mesh.data) : values_.fsdp_group)
      if (mesh.data % group == 0) shardings.emplace_back(sharding, group);
  }
  for (const auto& [sharding, group] : shardings)
    for (const int microbatch : microbatches)
      for (const Recompute recompute : values_.recompute)
        for (const int layers : values_.recompute_layers) {
          stem = mesh;
          stem.sharding = sharding;
          stem.group = group;
          stem.microbatch = microbatch;
          stem.recompute = recompute;
          stem.recompute_layers = layers;
          stem = canonical(stem);
          if (sequences % microbatch == 0 && whole_dimensions(stem)) stems_.push_back(stem);
        }
}

void Space::add_own_layout() {
  const std::optional<JobLayout> own = layout_of(spec_);
  if (!own || !why_illegal(*own).empty()) return;
  const auto wanted = [](const auto& list, auto value) {
    return list.empty() || std::ranges::count(list, value) > 0;
  };
  const bool recomputes = own->recompute != Recompute::kNone, cuts = cuts_weights(own->sharding);
  const bool is_wanted = wanted(wanted_.tensor, own->tensor) && wanted(wanted_.context, own->context) &&
                         wanted(wanted_.pipeline, own->pipeline) && wanted(wanted_.expert, own->expert) &&
                         (own->expert == 1 || wanted(wanted_.expert_tensor, own->expert_tensor)) &&
                         wanted(wanted_.microbatch, own->microbatch) &&
                         wanted(wanted_.sharding, own->sharding) &&
                         (!cuts || wanted(wanted_.fsdp_group, own->group)) &&
                         (wanted_.recompute.empty() || wanted(values_.recompute, own->recompute)) &&
                         (!recomputes || wanted(wanted_.recompute_layers, own->recompute_layers)) &&
                         (own->pipeline == 1 || wanted(wanted_.schedule, own->schedule)) &&
                         (own->chunks == 1 || !schedule_traits(own->schedule).of_one_chunk ||
                          wanted(wanted_.chunks, own->chunks));
  if (!is_wanted) return;
  own_ = own;
  JobLayout stem = *own;
  stem.schedule = PipelineSchedule::k1F1B;
  stem.chunks = 1;
  stems_.push_back(stem);
}

// As the checks of workload/partition/job_validity.h, for the rules that layouts are made of.
bool Space::legal_mesh(const JobLayout& mesh) const {
  const Job& job = spec_.job;
  const Model& model = job.model;
  const int tensor = mesh.tensor, sequence_ranks = mesh.context * mesh.tensor;
  const auto shared_out = [](int heads, int ranks) { return heads % ranks == 0 || ranks % heads == 0; };
  const bool ulysses = mesh.context > 1 && context_preset(job) == "ulysses";
  if (model.heads % tensor != 0 || !shared_out(model.kv_heads, tensor) || model.ffn % tensor != 0)
    return false;
  if (ulysses && (model.heads % sequence_ranks != 0 || !shared_out(model.kv_heads, sequence_ranks)))
    return false;
  if (mesh.context > 1 && job.sequence % (2 * mesh.context) != 0) return false;
  if (job.sequence % sequence_ranks != 0) return false;
  if (model.decoder && model.decoder->tokens % sequence_ranks != 0) return false;
  if (model.attention_window > 0 && mesh.context > 1 && context_preset(job) == "ring_context") return false;
  if (model.experts &&
      (model.experts->experts % mesh.expert != 0 || model.experts->expert_ffn % mesh.expert_tensor != 0))
    return false;
  if (!model.experts && mesh.expert > 1) return false;
  if (job.global_batch % mesh.batch_ranks() != 0) return false;
  return mesh.pipeline == 1 || explain_uncut(model_, mesh.pipeline, {}).empty();
}

bool Space::legal_sharding(const JobLayout& mesh, StateSharding sharding) const {
  return !cuts_weights(sharding) || !automatic_sharding_ || mesh.pipeline == 1;
}

bool Space::whole_dimensions(const JobLayout& layout) const {
  const FabricSpec& fabric = spec_.cluster.fabric;
  const auto lengths = kind_of(fabric).dimensions(fabric);
  if (lengths.empty()) return true;
  std::vector<int> sizes;
  int slices = fabric.slices;
  for (const MeshAxis& axis : blocks_of(layout, context_preset(spec_.job)).mesh) {
    const int shared = std::gcd(axis.size, slices);
    sizes.push_back(axis.size / shared);
    slices /= shared;
  }
  return slices == 1 && fill(sizes, {lengths.begin(), lengths.end()});
}

// Where a planner chooses them, those by which all chunks have as many layers, or would if embedding and head
// were layers.
std::vector<int> Space::chunk_choices(PipelineSchedule schedule, int pipeline) const {
  const ScheduleTraits& traits = schedule_traits(schedule);
  if (!traits.of_one_chunk) return {traits.chunks.value_or(1)};
  if (!automatic_chunks_) return values_.chunks;
  const int layers = layer_count(model_);
  std::vector<int> choices;
  for (int chunks = 2; chunks * pipeline <= layers + 2; ++chunks)
    if (layers % (pipeline * chunks) == 0 || (layers + 2) % (pipeline * chunks) == 0)
      choices.push_back(chunks);
  return choices;
}

bool Space::legal_pipeline(const JobLayout& layout) const {
  if (layout.pipeline == 1) return true;
  const int microbatches = spec_.job.global_batch / layout.batch_ranks() / layout.microbatch;
  const PipelineShape shape{layout.schedule, layout.pipeline, layout.chunks, microbatches};
  return explain_invalid(shape).empty() && explain_uncut(model_, piece_count(shape), {}).empty() &&
         explain_idle_stages(even_job_, model_, shape).empty();
}

// Where the first layers of every chunk are all of them, the fewest of those values that say so stand for
// all.
bool Space::in_one_number(const JobLayout& layout) const {
  if (layout.recompute_layers == 0) return true;
  const int longest = longest_chunk_.at(piece_count({layout.schedule, layout.pipeline, layout.chunks, 1}));
  if (layout.recompute_layers < longest) return true;
  return !std::ranges::any_of(values_.recompute_layers, [&](int layers) {
    return layers == 0 || (layers >= longest && layers < layout.recompute_layers);
  });
}

// Layers of the longest chunk by the number of chunks, for every number that a layout can have.
void Space::measure_chunks() {
  std::vector<int> counts = {1};
  for (const int pipeline : values_.pipeline)
    for (const PipelineSchedule schedule : values_.schedule)
      for (const int chunks : chunk_choices(schedule, pipeline))
        counts.push_back(piece_count({schedule, pipeline, chunks, 1}));
  sort_once(counts);
  for (const int count : counts) {
    if (!explain_uncut(model_, count, {}).empty()) continue;
    for (const ChunkShape& chunk : model_pieces(model_, count, layers_of_pieces(even_job_, model_, count))) {
      int layers = 0;
      for (const PartRun& run : chunk.runs)
        layers += model_.parts[static_cast<std::size_t>(run.part)].layer ? run.count : 0;
      longest_chunk_[count] = std::max(longest_chunk_[count], layers);
    }
  }
}

std::vector<JobLayout> Space::leaves(const JobLayout& stem) const {
  std::vector<JobLayout> leaves;
  if (stem.pipeline == 1 && in_one_number(stem)) leaves.push_back(stem);
  for (const PipelineSchedule schedule : values_.schedule) {
    if (stem.pipeline == 1) break;
    for (const int count : chunk_choices(schedule, stem.pipeline)) {
      JobLayout leaf = stem;
      leaf.schedule = schedule;
      leaf.chunks = count;
      leaf = canonical(leaf);
      if (legal_pipeline(leaf) && in_one_number(leaf)) leaves.push_back(leaf);
    }
  }
  if (own_) {
    JobLayout own = *own_;
    own.schedule = stem.schedule;
    own.chunks = stem.chunks;
    if (own == stem) leaves.push_back(*own_);
  }
  sort_once(leaves);
  return leaves;
}

std::string Space::why_illegal(const JobLayout& layout) const {
  if (layout.chips() != spec_.cluster.fabric.chips)
    return "its axes make " + std::to_string(layout.chips()) + " chips, and the cluster has " +
           std::to_string(spec_.cluster.fabric.chips);
  const std::vector<JobProblem> problems = explain_invalid(with_layout(spec_, layout).job);
  if (!problems.empty()) return problems.front().message;
  if (layout.context > 1 && spec_.job.sequence % (2 * layout.context) != 0)
    return "a sequence of " + std::to_string(spec_.job.sequence) + " tokens is not cut into " +
           std::to_string(2 * layout.context) + " equal pieces, two for each chip of the context axis";
  if (!whole_dimensions(layout)) return "its axes do not take whole dimensions of the slice";
  return "";
}

}  // namespace podsim
