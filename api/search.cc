// The search of layouts, as values.
#include "planner/search/search.h"

#include <atomic>
#include <utility>

#include "api/asked.h"
#include "api/errors.h"
#include "api/evaluators.h"
#include "api/podsim/podsim.h"
#include "cli/search/search_text.h"
#include "engine/binary_units.h"
#include "engine/parallel_for.h"
#include "proto/scenario/load_space.h"

namespace podsim {
namespace {

std::string words_of_progress(const SearchProgress& progress) {
  return "groups of layouts, " + std::to_string(progress.simulated) + " simulated";
}

Expected<SearchResult> found_layouts(const Scenario& scenario, const SearchWish& wish, const Effort& effort) {
  const auto is_share = [](double value) { return value >= 0 && value < 1; };  // NaN is none
  if (wish.top < 1 || !is_share(wish.within) || !is_share(wish.gap))
    return input_error("search", "top, within, gap",
                       "a search takes top from 1, within and gap from 0 to less than 1");
  if (wish.gap > 0 && (wish.within > 0 || wish.pareto))
    return input_error("search", wish.pareto ? "gap, pareto" : "gap, within",
                       "a gap ends the search before all layouts are found that are asked for");
  if (wish.pareto && wish.within > 0)
    return input_error("search", "within, pareto", "a front is of all layouts, however slow");
  const std::vector<Override> overrides = overrides_of(scenario);
  const LoadSearchResult loaded = load_search(scenario.name(), scenario.text(), shared_catalog(), overrides);
  if (!loaded.question) return input_error(loaded.problems);
  const Space space(loaded.question->spec, loaded.question->space);
  if (space.stems().empty()) return input_error("search", "space", empty_space_text(space));
  std::atomic<bool> own_stop = false;
  std::atomic<bool>& stop = effort.stop != nullptr ? *effort.stop : own_stop;
  SearchOptions options;
  options.top = wish.top;
  options.within = wish.within;
  options.gap = wish.gap;
  options.pareto = wish.pareto;
  options.threads = threads_or_cores(effort.threads);
  options.stop = &stop;
  if (effort.watch)
    options.progress = [&](const SearchProgress& progress) {
      if (!goes_on(effort, {0, progress.done, progress.to_do, words_of_progress(progress)})) stop = true;
    };
  const SearchAnswer answer = search(space, options);
  if (answer.best.empty()) {
    if (stop) throw CancelledByWatch();
    return Error{Error::Kind::kInfeasible, infeasible_text(space, answer), {}};
  }
  SearchResult result;
  const Spec& spec = loaded.question->spec;
  for (const FoundLayout& each : answer.best) {
    const std::string words = to_string(each.layout);
    result.layouts.push_back(
        {words, each.figures.step_time.in_seconds(), each.memory.value / kBytesPerGib,
         scenario_with_layout(scenario.text(), overrides, blocks_of(each.layout, context_preset(spec.job)),
                              "The layout " + words + ".")});
  }
  result.proven = answer.proven;
  result.gap = answer.gap;
  result.json = search_json(space, answer);
  return result;
}

}  // namespace

inline namespace v0 {

Expected<SearchResult> search(const Scenario& scenario, const SearchWish& wish, const Effort& effort) {
  return guarded<SearchResult>([&] { return found_layouts(scenario, wish, effort); });
}

}  // namespace v0
}  // namespace podsim
