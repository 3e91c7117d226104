// Checks what is missing, loads the scenario, writes it, runs it.
#include "cli/imports/import_scenario.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "cli/answers/render.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

// Of the scenario that an import gives; nothing where it has problems, which are printed.
std::optional<Spec> spec_of(const ImportedFile& file, const std::string& scenario, const ScenarioWish& wish) {
  const std::optional<Catalog> catalog = open_catalog({});
  LoadOptions load;
  std::copy_if(wish.sets.begin(), wish.sets.end(), std::back_inserter(load.sets), is_of_scenario);
  const auto overrides = load.overrides();
  if (!catalog || !overrides) return std::nullopt;
  const bool written = !wish.out.empty() && wish.out != "-";
  LoadResult loaded = load_scenario(written ? wish.out : scenario_name(file), scenario, *catalog, *overrides);
  // What is refused is not written.
  for (Problem& problem : loaded.problems) problem.file = scenario_name(file);
  print_problems(loaded.problems);
  for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
  if (loaded.spec && !written) loaded.spec->name = name_of_run(file);
  return std::move(loaded.spec);
}

}  // namespace

bool can_run(const ImportedFile& file, const Imported& imported) {
  for (const auto& needs : {imported.needs, imported.needs_to_run})
    for (const Needed& need : needs)
      spdlog::error("{}: needs {}{}", file.name, need.what,
                    need.option.empty() ? "" : " (" + need.option + ")");
  if (!imported.needs.empty() || !imported.needs_to_run.empty()) return false;
  if (imported.scenario.empty())
    spdlog::error("{}: podsim makes no scenario of {}", file.name, file.description);
  return !imported.scenario.empty();
}

std::string scenario_name(const ImportedFile& file) { return "scenario (of " + file.name + ")"; }

std::string name_of_run(const ImportedFile& file) { return std::filesystem::path(file.name).stem().string(); }

bool is_of_scenario(const std::string& path) {
  return path.starts_with("job.") || path.starts_with("cluster.") || path.starts_with("adversity.") ||
         path.starts_with("space.");
}

void warn_of_left_out(const ImportedFile& file, const Imported& imported) {
  const std::string& text = imported.scenario;
  for (std::size_t begin = text.find('\n') + 1; text.compare(begin, 2, "# ") == 0;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    spdlog::warn("{}: {}", file.name, text.substr(begin + 2, end - begin - 2));
    begin = std::min(end + 1, text.size());
  }
}

int write_or_run(const ImportedFile& file, const Imported& imported, const ScenarioWish& wish) {
  if (!can_run(file, imported)) return kInputError;
  const bool changed = std::any_of(wish.sets.begin(), wish.sets.end(), is_of_scenario);
  if (imported.is_fabric ? wish.run : changed && !wish.out.empty()) {
    spdlog::error("{}: {}", file.name,
                  imported.is_fabric ? "a cluster has no step to run; --out writes it"
                                     : "--set of a job or cluster is for --run; edit the file of --out");
    return kInputError;
  }
  std::optional<Spec> spec;
  if (!imported.is_fabric) {
    spec = spec_of(file, imported.scenario, wish);
    if (!spec) return kInputError;
  }
  if (!wish.out.empty()) emit(imported.scenario, wish.out == "-" ? "" : wish.out);
  if (wish.run) warn_of_left_out(file, imported);
  if (wish.run) emit(render(predict_all({&*spec, 1}, RunOptions()), wish.format), "");
  return kDone;
}

}  // namespace podsim
