// Writes the answer of a search as one row of a study, and reads it back.
#include "planner/plan/cluster_study.h"

#include <sstream>
#include <string_view>
#include <vector>

#include "engine/binary_units.h"
#include "planner/search/stored_steps.h"
#include "proto/writing/result_json.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::string_view kCounts = "; of so many layouts, so many do not fit and so many were simulated: ";

template <class Value>
void add_values(std::string_view name, const std::vector<Value>& values, std::string& words) {
  words += " " + std::string(name);
  for (const Value value : values) words += " " + std::to_string(static_cast<int>(value));
}

std::string words_of(const LayoutSpace& space) {
  std::string words;
  add_values("tensor", space.tensor, words);
  add_values("context", space.context, words);
  add_values("pipeline", space.pipeline, words);
  add_values("expert", space.expert, words);
  add_values("expert_tensor", space.expert_tensor, words);
  add_values("microbatch", space.microbatch, words);
  add_values("schedule", space.schedule, words);
  add_values("chunks", space.chunks, words);
  add_values("sharding", space.sharding, words);
  add_values("fsdp_group", space.fsdp_group, words);
  add_values("recompute", space.recompute, words);
  add_values("recompute_layers", space.recompute_layers, words);
  return words + " headroom " + shortest(space.memory_headroom_share);
}

// A layout and what the search went through, to be read by people too.
std::string label_of(const JobLayout& layout, const SearchCounts& counts) {
  return to_string(layout) + std::string(kCounts) + std::to_string(counts.layouts) + " " +
         std::to_string(counts.no_room) + " " + std::to_string(counts.simulated);
}

std::optional<JobLayout> layout_named(const Space& space, std::string_view name) {
  for (const JobLayout& stem : space.stems())
    for (const JobLayout& leaf : space.leaves(stem))
      if (to_string(leaf) == name) return leaf;
  return std::nullopt;
}

}  // namespace

StudyName study_of_cluster(const std::string& cluster, const Spec& spec, const LayoutSpace& wanted,
                           double gap) {
  return {"best layout of " + cluster,
          question_sha256("plan --gap " + shortest(gap) + words_of(wanted), {spec.sha256})};
}

std::optional<SearchAnswer> kept_answer(const Store& store, const StudyName& study, const Space& space) {
  const auto known = store.answer(study);
  if (!known || known->rows.size() != 1) return std::nullopt;
  const std::string& label = known->rows.front().label;
  const std::size_t end = label.find(kCounts);
  if (end == std::string::npos) return std::nullopt;
  const auto layout = layout_named(space, std::string_view(label).substr(0, end));
  const auto figures = store.figures(known->rows.front().key);
  if (!layout || !figures) return std::nullopt;
  SearchAnswer answer;
  std::istringstream(label.substr(end + kCounts.size())) >> answer.counts.layouts >> answer.counts.no_room >>
      answer.counts.simulated;
  answer.counts.known = answer.counts.simulated;
  answer.best = {{*layout, *figures, Bytes{figures->memory_gib * kBytesPerGib}}};
  answer.gap = known->gap;
  answer.proven = true;
  return answer;
}

void keep_answer(Store& store, const StudyName& study, StoredLayouts& layouts, const SearchAnswer& answer) {
  const JobLayout& best = answer.best.front().layout;
  store.end_study(store.begin_study(study), StudyState::kComplete, answer.gap,
                  {{layouts.scenario_of(best).key, label_of(best, answer.counts)}});
}

}  // namespace podsim
