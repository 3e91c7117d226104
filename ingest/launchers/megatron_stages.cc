// As get_num_layers_to_build and PipelineParallelLayerLayout of Megatron-LM in 2025 do it.
#include "ingest/launchers/megatron_stages.h"

#include <algorithm>
#include <cctype>

#include "ingest/launchers/megatron_plan.h"

namespace podsim {
namespace {

constexpr std::size_t kMostLetters = 1'000'000;

// The number behind a star at `at`, which it passes; 1 where there is no star.
std::size_t times_behind(const std::string& layout, std::size_t& at) {
  if (at >= layout.size() || layout[at] != '*') return 1;
  std::size_t times = 0;
  while (++at < layout.size() && std::isdigit(static_cast<unsigned char>(layout[at])) != 0)
    times = std::min(kMostLetters, 10 * times + static_cast<std::size_t>(layout[at] - '0'));
  return times;
}

// Without stars, brackets and commas.
std::optional<std::string> written_out(const std::string& layout) {
  std::string all, inside;
  bool open = false;
  for (std::size_t at = 0; at < layout.size();) {
    const char letter = layout[at++];
    if (letter == ',' || std::isspace(static_cast<unsigned char>(letter)) != 0) continue;
    if (letter == '(' ? open : letter == ')' ? !open : std::string("EtmL|").find(letter) == std::string::npos)
      return std::nullopt;
    if (letter == '(') {
      open = true, inside.clear();
      continue;
    }
    const std::string piece = letter == ')' ? inside : std::string(1, letter);
    std::string& to = open && letter != ')' ? inside : all;
    if (letter == ')') open = false;
    const std::size_t times = times_behind(layout, at);
    if (to.size() + times * piece.size() > kMostLetters) return std::nullopt;
    for (std::size_t i = 0; i < times; ++i) to += piece;
  }
  return open ? std::nullopt : std::optional(all);
}

class LayerDealer {
 public:
  LayerDealer(Configuration& settings, const MegatronPlan& plan) : s_(settings), plan_(plan) {}

  std::vector<std::int64_t> dealt() {
    const std::int64_t layers = plan_.model.layers.value_or(0);
    if (!s_.problems().empty() || plan_.pipeline < 2 || layers < 1 ||
        plan_.chunks > static_cast<std::int64_t>(kMostLetters) / plan_.pipeline)
      return {};
    std::vector<std::int64_t> chunks = plan_.layout.empty() ? by_stage(layers) : plan_.layout;
    std::int64_t sum = 0;
    for (const std::int64_t one : chunks) sum += one;
    if (sum != layers && !plan_.layout.empty())
      s_.refuse(
          "pipeline-model-parallel-layout",
          "a layout of " + std::to_string(sum) + " layers (t), and the model has " + std::to_string(layers));
    const bool even = !chunks.empty() && std::ranges::count(chunks, chunks.front()) == std::ssize(chunks);
    if (even) chunks.clear();
    return chunks;
  }

 private:
  // Nothing where they do not divide, which is a problem, or where no setting makes them uneven.
  std::vector<std::int64_t> by_stage(std::int64_t layers) {
    std::vector<std::int64_t> stages;
    if (plan_.first || plan_.last)
      stages = by_ends(layers);
    else if (plan_.embedding_counts || plan_.loss_counts)
      stages = with_ends_as_layers(layers);
    else if (layers % plan_.pipeline == 0)
      stages.assign(static_cast<std::size_t>(plan_.pipeline), layers / plan_.pipeline);
    std::vector<std::int64_t> chunks;
    for (std::int64_t chunk = 0; chunk < plan_.chunks; ++chunk)
      for (const std::int64_t stage : stages) {
        if (stage % plan_.chunks != 0) return refuse_chunks(stage);
        chunks.push_back(stage / plan_.chunks);
      }
    if (chunks.empty() || plan_.first || plan_.last) return chunks;
    if (plan_.embedding_counts) --chunks.front();
    if (plan_.loss_counts) --chunks.back();
    return chunks;
  }

  std::vector<std::int64_t> refuse_chunks(std::int64_t layers) {
    for (const char* name : {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size",
                             "num-layers-per-virtual-pipeline-stage"}) {
      if (!s_.has(name)) continue;
      s_.refuse(name, std::to_string(layers) + " layers of a stage do not divide into " +
                          std::to_string(plan_.chunks) + " chunks");
      break;
    }
    return {};
  }

  std::vector<std::int64_t> by_ends(std::int64_t layers) {
    const std::int64_t ends = (plan_.first ? 1 : 0) + (plan_.last ? 1 : 0);
    const std::int64_t left = layers - plan_.first.value_or(0) - plan_.last.value_or(0);
    const std::int64_t stages = plan_.pipeline - ends;
    if (left < 0 || (stages == 0 ? left != 0 : left % stages != 0)) {
      s_.refuse(plan_.first ? "decoder-first-pipeline-num-layers" : "decoder-last-pipeline-num-layers",
                "of " + std::to_string(layers) + " layers " + std::to_string(left) + " are left for " +
                    std::to_string(stages) + " stages");
      return {};
    }
    std::vector<std::int64_t> all(static_cast<std::size_t>(plan_.pipeline), stages > 0 ? left / stages : 0);
    if (plan_.first) all.front() = *plan_.first;
    if (plan_.last) all.back() = *plan_.last;
    return all;
  }

  std::vector<std::int64_t> with_ends_as_layers(std::int64_t layers) {
    const std::int64_t all = layers + (plan_.embedding_counts ? 1 : 0) + (plan_.loss_counts ? 1 : 0);
    if (all % plan_.pipeline != 0) {
      s_.refuse(plan_.embedding_counts ? "account-for-embedding-in-pipeline-split"
                                       : "account-for-loss-in-pipeline-split",
                std::to_string(all) +
                    " layers with those that count as one are not a multiple of pipeline = " +
                    std::to_string(plan_.pipeline));
      return {};
    }
    return std::vector<std::int64_t>(static_cast<std::size_t>(plan_.pipeline), all / plan_.pipeline);
  }

  Configuration& s_;
  const MegatronPlan& plan_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> layout_layers(const std::string& layout) {
  const auto letters = written_out(layout);
  if (!letters) return std::nullopt;
  std::vector<std::int64_t> layers = {0};
  for (const char letter : *letters) {
    if (letter == '|') layers.push_back(0);
    if (letter == 't') ++layers.back();
  }
  return layers;
}

std::vector<std::int64_t> megatron_chunk_layers(Configuration& settings, const MegatronPlan& plan) {
  return LayerDealer(settings, plan).dealt();
}

}  // namespace podsim
