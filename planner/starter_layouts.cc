// Data, tensor, pipeline and expert parallelism in the products that trainings use.
#include "planner/starter_layouts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "scheduler/question/spec.h"
#include "workload/pipeline/schedules.h"
#include "workload/sharding/expert_ranks.h"

namespace podsim {
namespace {

using Degrees = std::vector<StarterLayout>;  // of one layout, mildest recompute first

constexpr int kWidestTensor = 16, kDeepestPipeline = 16, kWidestContext = 16;
constexpr int kLongSequence = 32768;   // tokens, from which on sequences are cut
constexpr int kMostShortSamples = 64;  // of a microbatch
const char* const kSpread = "parameters are spread over it and gathered layer by layer";
const char* const kCutsMatmuls = "cuts every matmul; innermost, where links are fastest";

// 1, 2, 4, ... up to the most.
std::vector<int> powers_of_two(int most) {
  std::vector<int> powers;
  for (int power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

bool torus(const StarterSetting& setting) { return setting.domain == 0; }
int widest_tensor(const StarterSetting& setting) {
  return torus(setting) ? kWidestTensor : std::min(setting.domain, 8);
}

class ProgramLayouts {
 public:
  explicit ProgramLayouts(const StarterSetting& setting)
      : setting_(setting), per_slice_(setting.chips / setting.slices) {}

  std::vector<Degrees> run() {
    for (const int tensor : powers_of_two(widest_tensor(setting_))) with_tensor(tensor);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Degrees> layouts;
    for (auto& [order, layout] : found_) layouts.push_back(degrees(layout));
    return layouts;
  }

 private:
  void with_tensor(int tensor) {
    if (per_slice_ % tensor != 0 || (torus(setting_) && !whole_dimensions(0, tensor))) return;
    if (!torus(setting_) || per_slice_ == 1 || !setting_.cut_weights) add(tensor, "data");
    if (!setting_.cut_weights) return;
    add(tensor, "fsdp");
    if (setting_.slices > 1) add(tensor, "fsdp_over_slices");
    const bool groups =
        !torus(setting_) && setting_.chips > setting_.domain && setting_.chips % setting_.domain == 0;
    if (groups && tensor == 1) add(1, "hsdp");
  }

  // Whether the axis covers dimensions of the slice from end to end, from the d-th on: there rings close.
  bool whole_dimensions(std::size_t d, int tensor) const {
    if (tensor == 1) return true;
    if (d == setting_.slice_shape.size()) return false;
    const int length = setting_.slice_shape[d];
    return whole_dimensions(d + 1, tensor) ||
           (length > 1 && tensor % length == 0 && whole_dimensions(d + 1, tensor / length));
  }

  void add(int tensor, const std::string& kind) {
    StarterLayout layout;
    const bool over_slices = kind == "fsdp_over_slices";
    if (setting_.slices > 1 && kind != "data" && !over_slices)
      layout.axes.push_back({"data", setting_.slices, "one replica a slice; sums gradients over the DCN"});
    if (kind == "hsdp") {
      layout.axes.push_back({"data", 0, "replicas; what the axis below leaves of the chips"});
      layout.axes.push_back({"fsdp", setting_.domain, "an NVLink domain shares one copy of the parameters"});
    } else if (kind == "data") {
      layout.axes.push_back(
          {"data", 0, "replicas, with the optimizer state spread over them; the rest of the chips"});
    } else if (over_slices) {
      layout.axes.push_back(
          {"fsdp", 0,
           "parameters are spread over all slices, and gathered layer by layer, over the DCN too"});
    } else {
      layout.axes.push_back({"fsdp", 0, std::string(kSpread) + "; the rest of the chips"});
    }
    if (tensor > 1) layout.axes.push_back({"tensor", tensor, kCutsMatmuls});
    layout.shardings = {kind == "data" ? "data" : "fsdp"};
    if (tensor > 1) layout.shardings.push_back("megatron_sp");
    if (kind == "data") layout.shardings.push_back("zero1");
    found_.emplace_back(std::tuple(over_slices, tensor, kind != "data"), layout);
    if (!setting_.cut_rows) return;
    layout.rules = {"rule { dimension: \"param_rows\" axis: \"" +
                    std::string(kind == "data" ? "data" : "fsdp") + "\" }"};
    found_.emplace_back(std::tuple(over_slices, tensor, true), layout);
  }

  Degrees degrees(const StarterLayout& layout) const {
    const int whole = torus(setting_) || setting_.short_samples ? 0 : 1;
    Degrees all;
    for (const char* recompute : {"none", "selective", "full"}) {
      all.push_back(layout);
      all.back().microbatch = whole;
      all.back().recompute = recompute;
    }
    if (whole == 1) return all;
    all.push_back(all.back());
    all.back().microbatch = 1;
    return all;
  }

  const StarterSetting& setting_;
  const int per_slice_;
  std::vector<std::pair<std::tuple<bool, int, bool>, StarterLayout>> found_;  // by order
};

std::string axis_comment(const std::string& axis, const JobLayout& layout) {
  if (axis == "data")
    return layout.sharding == StateSharding::kZero1 ? "replicas, with the optimizer state spread over them"
                                                    : "replicas of the model";
  if (axis == "fsdp")
    return layout.sharding == StateSharding::kHsdp ? "a group that shares one copy of the parameters"
                                                   : kSpread;
  static const std::map<std::string, std::string> kOthers = {
      {"pipeline", "stages of layers; sends activations once a microbatch"},
      {"expert", "each holds its share of the experts"},
      {"context", "cuts every sequence"},
      {"tensor", kCutsMatmuls}};
  const auto found = kOthers.find(axis);
  return found == kOthers.end() ? "" : found->second;
}

std::string pipeline_text(const LayoutBlocks& blocks) {
  if (!blocks.schedule || *blocks.schedule == PipelineSchedule::k1F1B) return "";
  std::string text = "pipeline { schedule: " + std::string(schedule_traits(*blocks.schedule).name);
  if (blocks.chunks > 1) text += " chunks_per_stage: " + std::to_string(blocks.chunks);
  return text + " }";
}

}  // namespace

std::vector<LayoutSpace> usual_spaces(const StarterSetting& setting) {
  LayoutSpace space;
  space.tensor = powers_of_two(widest_tensor(setting));
  space.context = powers_of_two(setting.sequence < kLongSequence ? 1 : kWidestContext);
  space.pipeline = powers_of_two(torus(setting) ? 1 : kDeepestPipeline);
  if (setting.short_samples) {
    space.microbatch.resize(kMostShortSamples);
    std::iota(space.microbatch.begin(), space.microbatch.end(), 1);
  }
  std::vector<LayoutSpace> spaces = {space};
  const int group = torus(setting) ? setting.chips / setting.slices : setting.domain;
  if (setting.chips == group || setting.chips % group != 0) return spaces;
  space.pipeline = {1};
  space.sharding = {StateSharding::kHsdp};
  space.fsdp_group = {group};
  // On a torus the other axes take their part of the slice.
  for (int part = group / 2; torus(setting) && part > 1 && group % part == 0; part /= 2)
    space.fsdp_group.push_back(part);
  spaces.push_back(space);
  return spaces;
}

LayoutSpace lightest_of(LayoutSpace space, int chips) {
  const auto largest = [](const std::vector<int>& degrees, int of) {
    const auto divides = [&](int degree) { return of % degree == 0; };
    const auto last = std::find_if(degrees.rbegin(), degrees.rend(), divides);
    return last == degrees.rend() ? 1 : *last;
  };
  space.tensor = {largest(space.tensor, chips)};
  space.context = {largest(space.context, chips / space.tensor.front())};
  const int stages = largest(space.pipeline, chips / (space.tensor.front() * space.context.front()));
  space.pipeline = stages > 1 ? std::vector{1, stages} : std::vector{1};
  space.microbatch = {1};
  space.recompute = {Recompute::kFull};
  space.schedule = {PipelineSchedule::k1F1B};
  return space;
}

StarterLayout starter_layout(const JobLayout& layout, const Spec& spec) {
  const LayoutBlocks blocks = blocks_of(layout, context_preset(spec.job));
  StarterLayout words;
  bool rest = true;
  for (const MeshAxis& axis : blocks.mesh) {
    const bool takes_rest = rest && (axis.name == "data" || axis.name == "fsdp");
    if (takes_rest) rest = false;
    words.axes.push_back({axis.name, takes_rest ? 0 : axis.size,
                          axis_comment(axis.name, layout) + (takes_rest ? "; the rest of the chips" : "")});
  }
  words.shardings = blocks.sharding;
  for (const ShardingRule& rule : blocks.rules) {
    const bool preset =
        layout.sharding == StateSharding::kZero1 && rule.axes == std::vector<std::string>{"data"};
    if (preset)
      words.shardings.emplace_back("zero1");
    else
      words.rules.push_back(rule_text(rule));
  }
  words.pipeline = pipeline_text(blocks);
  words.microbatch = layout.microbatch;
  words.recompute = to_string(layout.recompute);
  return words;
}

std::vector<std::vector<StarterLayout>> program_layouts(const StarterSetting& setting) {
  return ProgramLayouts(setting).run();
}

}  // namespace podsim
