// podsim check: are these scenarios valid?
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/inputs/verbs.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "engine/words.h"
#include "prediction/memory_need.h"
#include "proto/scenario/load_availability.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/load_space.h"
#include "proto/scenario/scenario_kind.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

struct CheckVerb {
  std::vector<std::string> files;
  LoadOptions load;
  bool quiet = false;
};

std::string on_cluster(const Spec& spec) {
  const std::string what = spec.jobs.empty()       ? spec.job.model.name
                           : spec.jobs.size() == 1 ? "1 job"
                                                   : std::to_string(spec.jobs.size()) + " jobs";
  return what + " on " + std::to_string(spec.cluster.fabric.chips) + " " + spec.cluster.chip.name;
}

std::string of_chips(const std::string& what, int chips, const std::string& name) {
  return what + " of " + std::to_string(chips) + " " + name;
}

// What is valid of the text, in words; nothing when there are problems.
std::optional<std::string> valid(const std::string& file, const std::string& text, const Catalog& catalog,
                                 const std::vector<Override>& overrides) {
  const ScenarioKind kind = scenario_kind(file, text);
  std::vector<Problem> problems;
  std::vector<std::string> parts;
  if (kind.search) {
    const LoadSearchResult loaded = load_search(file, text, catalog, overrides);
    problems = loaded.problems;
    for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
    if (loaded.question) parts.push_back("layouts of " + on_cluster(loaded.question->spec));
  } else if (kind.step || (!kind.availability && !kind.reliability)) {
    const LoadResult loaded = load_scenario(file, text, catalog, overrides);
    problems = loaded.problems;
    for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
    if (loaded.spec) {
      parts.push_back(on_cluster(*loaded.spec));
      for (const std::string& warning : memory_warnings(*loaded.spec)) spdlog::warn("{}", warning);
    }
  }
  if (kind.availability && problems.empty()) {
    const LoadAvailabilityResult loaded = load_availability(file, text, catalog, overrides);
    problems = loaded.problems;
    for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
    if (loaded.question)
      parts.push_back(
          of_chips("availability", loaded.question->pod.chips(), "chips of " + loaded.question->pod.name));
  }
  if (kind.reliability && problems.empty()) {
    const LoadReliabilityResult loaded = load_reliability(file, text, catalog, overrides);
    problems = loaded.problems;
    for (const Problem& warning : loaded.warnings)
      if (!kind.search || !says_idle(warning, {"space"})) spdlog::warn("{}", format_problem(warning));
    if (loaded.question)
      parts.push_back(
          of_chips("reliability", loaded.question->cluster.fabric.chips, loaded.question->cluster.chip.name));
  }
  print_problems(problems);
  if (!problems.empty()) return std::nullopt;
  return separated(parts, ", ");
}

int check(const CheckVerb& verb) {
  const auto catalog = open_catalog(verb.load.catalog_directories);
  const auto overrides = verb.load.overrides();
  if (!catalog || !overrides) return kInputError;
  int exit_code = kDone;
  for (const std::string& file : verb.files) {
    std::vector<Problem> problems;
    const auto input = read_input(file, problems);
    print_problems(problems);
    const auto words = input ? valid(input->name, input->text, *catalog, *overrides) : std::nullopt;
    if (!words) exit_code = kInputError;
    if (words && !verb.quiet) emit(file + ": valid: " + *words + "\n", "");
  }
  return exit_code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "check", "Validate scenario files without running them, and tell what does not fit in memory");
  const auto options = std::make_shared<CheckVerb>();
  verb.add_option("FILE", options->files, "Scenario files; - is standard input")->required();
  add_load_options(verb, options->load);
  verb.add_flag("--quiet", options->quiet, "Say nothing of valid files");
  verb.footer(
      "Examples:\n"
      "  podsim check scenarios/*.textproto scenarios/reliability/*.textproto\n"
      "  podsim check job.textproto --set cluster.chips=256 --set job.mesh.fsdp.size=64\n"
      "A job that does not fit in memory is told, and is valid all the same: podsim run exits with 2. So is "
      "one "
      "that leaves so little free that the allocator of its framework is likely to retry.\n"
      "Exit codes: 0 all are valid, 2 at least one is not.");
  verb.callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace podsim
