// Data, tensor, pipeline and expert parallelism in the products that trainings use.
#include "planner/starter_layouts.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace podsim {
namespace {

using Degrees = std::vector<StarterLayout>;  // of one layout, mildest recompute first

constexpr int kWidestTensor = 16, kDeepestPipeline = 16;

class Layouts {
 public:
  explicit Layouts(const StarterSetting& setting)
      : setting_(setting), per_slice_(setting.chips / setting.slices) {}

  std::vector<Degrees> run() {
    for (int tensor = 1; tensor <= most_tensor(); tensor *= 2) {
      for (int stages = 1; stages <= most_stages(); stages *= 2) {
        for (int experts = 1; experts <= std::max(1, setting_.experts); experts *= 2)
          product(tensor, stages, experts);
      }
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Degrees> layouts;
    for (auto& [order, layout] : found_) layouts.push_back(degrees(layout));
    return layouts;
  }

 private:
  bool torus() const { return setting_.domain == 0; }
  int most_tensor() const { return torus() ? kWidestTensor : std::min(setting_.domain, 8); }
  int most_stages() const {
    return torus() ? 1 : std::max(1, std::min(kDeepestPipeline, setting_.layers / 2));
  }

  void product(int tensor, int stages, int experts) {
    if (setting_.experts % experts != 0 || per_slice_ % (tensor * stages * experts) != 0) return;
    if (torus() && !whole_dimensions(0, tensor, experts)) return;
    const bool replicated = stages > 1 || !torus() || per_slice_ == 1 || !setting_.cut_weights;
    if (replicated) add(tensor, stages, experts, "data");
    if (!setting_.cut_weights) return;
    if (stages == 1) add(tensor, stages, experts, "fsdp");
    if (stages == 1 && setting_.slices > 1) add(tensor, stages, experts, "fsdp_over_slices");
    const bool groups = !torus() && setting_.chips > setting_.domain && setting_.chips % setting_.domain == 0;
    if (groups && tensor * stages * experts == 1) add(1, 1, 1, "hsdp");
  }

  // Whether both axes cover dimensions of the slice from end to end, from the d-th on: there rings close.
  bool whole_dimensions(std::size_t d, int tensor, int experts) const {
    if (tensor == 1 && experts == 1) return true;
    if (d == setting_.slice_shape.size()) return false;
    const int length = setting_.slice_shape[d];
    return whole_dimensions(d + 1, tensor, experts) ||
           (length > 1 && tensor % length == 0 && whole_dimensions(d + 1, tensor / length, experts)) ||
           (length > 1 && experts % length == 0 && whole_dimensions(d + 1, tensor, experts / length));
  }

  void add(int tensor, int stages, int experts, const std::string& kind) {
    StarterLayout layout;
    if (stages > 1)
      layout.axes.push_back({"pipeline", stages, "stages of layers; sends activations once a microbatch"});
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
      layout.axes.push_back(
          {"fsdp", 0, "parameters are spread over it and gathered layer by layer; the rest of the chips"});
    }
    if (experts > 1) layout.axes.push_back({"expert", experts, "each holds its share of the experts"});
    if (tensor > 1)
      layout.axes.push_back(
          {"tensor", tensor,
           torus() ? "cuts every matmul; innermost" : "cuts every matmul; inside an NVLink domain"});
    layout.shardings = {kind == "data" ? "data" : "fsdp"};
    if (tensor > 1) layout.shardings.push_back("megatron_sp");
    if (experts > 1) layout.shardings.push_back("expert");
    if (kind == "data") layout.shardings.push_back("zero1");
    const int model_parallel = tensor * stages * experts;
    found_.emplace_back(std::tuple(over_slices, model_parallel, tensor, kind != "data"), layout);
    if (!setting_.cut_rows) return;
    layout.rules = {"rule { dimension: \"param_rows\" axis: \"" +
                    std::string(kind == "data" ? "data" : "fsdp") + "\" }"};
    found_.emplace_back(std::tuple(over_slices, model_parallel, tensor, true), layout);
  }

  Degrees degrees(const StarterLayout& layout) const {
    const bool pipeline = layout.axes.front().name == "pipeline";
    const int whole = (torus() || setting_.short_samples) && !pipeline ? 0 : 1;
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
  std::vector<std::pair<std::tuple<bool, int, int, bool>, StarterLayout>> found_;  // by order
};

}  // namespace

std::vector<std::vector<StarterLayout>> starter_layouts(const StarterSetting& setting) {
  return Layouts(setting).run();
}

}  // namespace podsim
