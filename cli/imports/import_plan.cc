// The search of podsim search, of the scenario of an import.
#include "cli/imports/import_plan.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/search/search_progress.h"
#include "cli/search/search_text.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "engine/parallel_for.h"
#include "engine/words.h"
#include "planner/search/search.h"
#include "proto/scenario/load_space.h"
#include "proto/scenario/write_layout.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// Of sequences up to so many tokens no attention is cut: it would only add ways to lay out the same.
constexpr int kWholeSequence = 8192;
constexpr int kShown = 5;
constexpr double kGoodEnough = 0.02;  // nothing is faster by more

struct LoadedSearch {
  SearchQuestion search;
  std::vector<Override> overrides;
};

std::optional<LoadedSearch> question_of(const ImportedFile& file, const std::string& scenario,
                                        const ScenarioWish& wish) {
  const std::optional<Catalog> catalog = open_catalog({});
  LoadOptions load;
  std::copy_if(wish.sets.begin(), wish.sets.end(), std::back_inserter(load.sets), is_of_scenario);
  auto overrides = load.overrides();
  if (!catalog || !overrides) return std::nullopt;
  LoadSearchResult loaded = load_search(scenario_name(file), scenario, *catalog, *overrides);
  print_problems(loaded.problems);
  if (!loaded.question) return std::nullopt;
  for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
  loaded.question->spec.name = name_of_run(file);
  LayoutSpace& space = loaded.question->space;
  if (space.context.empty() && loaded.question->spec.job.sequence <= kWholeSequence) space.context = {1};
  return LoadedSearch{*std::move(loaded.question), *std::move(overrides)};
}

// The lines of a scenario that nobody stated.
std::string assumptions(const std::string& scenario) {
  std::string text;
  for (std::size_t begin = 0; begin < scenario.size();) {
    const std::size_t end = std::min(scenario.find('\n', begin), scenario.size());
    const std::string line = trim(scenario.substr(begin, end - begin));
    const std::size_t why = line.find("  # assumed");
    // The layout is what was asked for.
    if (why != std::string::npos && !line.starts_with("mesh") && !line.starts_with("sharding"))
      text += "  " + trim(line.substr(0, why)) + ", " + line.substr(why + 4) + "\n";
    begin = end + 1;
  }
  return text.empty() ? "" : "Not in the file:\n" + text;
}

}  // namespace

int plan_imported(const ImportedFile& file, const Imported& imported, const ScenarioWish& wish) {
  if (!can_run(file, imported)) return kInputError;
  if (imported.is_fabric) {
    spdlog::error("{}: a cluster has no job to lay out; --out writes it", file.name);
    return kInputError;
  }
  warn_of_left_out(file, imported);
  const auto question = question_of(file, imported.scenario, wish);
  if (!question) return kInputError;
  const Space space(question->search.spec, question->search.space);
  if (space.stems().empty()) {
    spdlog::error("{}", empty_space_text(space));
    return kInputError;
  }
  const Interrupt interrupt;
  SearchProgressLine line(false);
  SearchOptions options;
  options.top = kShown;
  options.gap = kGoodEnough;
  options.threads = threads_or_cores(0);
  options.stop = &interrupt.asked();
  options.progress = [&](const SearchProgress& progress) { line.show(progress); };
  const SearchAnswer answer = search(space, options);
  line.wipe();
  if (answer.best.empty()) {
    spdlog::error("{}", infeasible_text(space, answer));
    return answer.miss ? kInfeasible : answer.proven ? kInputError : kInternalError;
  }
  const FoundLayout& best = answer.best.front();
  const std::string comment =
      "The fastest layout that podsim import --plan found: " + to_string(best.layout) + ".\nA step takes " +
      fixed(best.figures.step_time.in_seconds(), 4) + " s and " + gib(best.memory) + " on the fullest chip.";
  if (!wish.out.empty())
    write_whole(wish.out, scenario_with_layout(
                              imported.scenario, question->overrides,
                              blocks_of(best.layout, context_preset(question->search.spec.job)), comment));
  emit(wish.format == "json" ? search_json(space, answer)
                             : imported.text + "\n" + assumptions(imported.scenario) + "\n" +
                                   search_table(space, answer, false),
       "");
  return kDone;
}

}  // namespace podsim
