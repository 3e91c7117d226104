// Reads measured steps, moves stacks by them, and predicts with both.
#include "cli/scenarios/anchored.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "calibration/anchor_collectives.h"
#include "cli/options/numbers.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/output.h"
#include "engine/parallel_for.h"
#include "engine/words.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/nccl_tests.h"
#include "ingest/xplane/import_xplane.h"
#include "ingest/xplane/read_space.h"
#include "proto/catalog/convert.h"
#include "proto/catalog/entry_name.h"
#include "proto/scenario/load.h"
#include "proto/text/read_file.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr char kSuffix[] = ".textproto";

std::optional<InputText> input_of(const std::string& file) {
  std::vector<Problem> problems;
  auto input = read_input(file, problems, kMostImportBytes);
  print_problems(problems);
  return input;
}

struct Measured {
  std::vector<AnchorRun> runs;
  std::vector<AnchorKernels> kernels;
  std::vector<Problem> problems;

  void take(AnchorRuns read) {
    problems.insert(problems.end(), read.problems.begin(), read.problems.end());
    runs.insert(runs.end(), read.runs.begin(), read.runs.end());
  }
  void take(ReadAnchorKernels read) {
    problems.insert(problems.end(), read.problems.begin(), read.problems.end());
    kernels.insert(kernels.end(), read.kernels.begin(), read.kernels.end());
    for (const std::string& what : read.unused)
      spdlog::warn("--anchor: {} tell of no number that may move", what);
  }
};

// Kernels and collectives need a scenario, whose chip, network and stack they are of.
bool take_kernels(const InputText& table, const std::optional<InputText>& scenario, const Catalog& catalog,
                  Measured& measured) {
  if (!scenario) {
    spdlog::error(
        "--anchor: {} has kernels or collectives, which move the stack of a scenario, and none is given",
        table.name);
    return false;
  }
  LoadResult loaded = load_scenario(scenario->name, scenario->text, catalog, {});
  print_problems(loaded.problems);
  if (!loaded.spec || !loaded.spec->jobs.empty()) return false;
  if (!is_nccl_tests(table.text)) {
    measured.take(read_anchor_kernels(table.name, table.text, *loaded.spec, catalog));
    return true;
  }
  const auto tests = read_nccl_tests(table.name, texts_of_tests(table.text).front(), measured.problems);
  if (!tests) return true;
  const ListedRanks listed{static_cast<int>(tests->ranks), static_cast<int>(tests->hosts),
                           !tests->kind.empty() || tests->inferred_kind == "all_reduce"};
  measured.take(read_anchor_collectives(table.name, table.text, listed, *loaded.spec));
  return true;
}

// A profile of the scenario's own run is a measured step of it.
bool take_profile(const InputText& profile, const std::optional<InputText>& scenario, const Catalog& catalog,
                  Measured& measured) {
  if (!scenario) {
    spdlog::error("--anchor: {} is a profile of a scenario, and none is given", profile.name);
    return false;
  }
  std::vector<Problem> problems;
  const auto imported = is_kineto(profile.text) ? import_kineto({profile}, {}, problems)
                                                : import_xplane({profile}, {}, problems);
  print_problems(problems);
  if (!imported) return false;
  if (!imported->recorded || imported->recorded->by_marks) {
    spdlog::error(
        "--anchor: in {} no step follows another: record two or more, each ended by profiler.step()",
        profile.name);
    return false;
  }
  measured.take(anchor_on_scenario(*scenario, imported->recorded->step.in_seconds(), catalog));
  return true;
}

// Nothing where a file cannot be read or a row cannot be used; the reasons are then on standard error.
std::optional<Measured> what_was_measured(const AnchorOptions& options, const std::string& scenario,
                                          const Catalog& catalog) {
  std::optional<InputText> measured;
  if (!scenario.empty()) {
    if (scenario == "-") {
      spdlog::error("--anchor reads the scenario twice: give a file, not standard input");
      return std::nullopt;
    }
    measured = input_of(scenario);
    if (!measured) return std::nullopt;
  }
  Measured all;
  if (options.step_time_s) all.take(anchor_on_scenario(*measured, *options.step_time_s, catalog));
  for (const std::string& file : options.files) {
    const auto table = input_of(file);
    if (!table) return std::nullopt;
    if (is_kineto(table->text) || xplane::is_space(table->text)) {
      if (!take_profile(*table, measured, catalog, all)) return std::nullopt;
    } else if (!is_anchor_kernel_table(table->text) && !is_nccl_tests(table->text)) {
      all.take(read_anchor_runs(table->name, table->text, catalog, measured));
    } else if (!take_kernels(*table, measured, catalog, all)) {
      return std::nullopt;
    }
  }
  print_problems(all.problems);
  if (!all.problems.empty()) return std::nullopt;
  if (all.runs.empty() && all.kernels.empty()) {
    spdlog::error("--anchor: {} has several jobs, and measured steps are of one", scenario);
    return std::nullopt;
  }
  return all;
}

// Steps outside of their own bands are told, and kernels that no plausible numbers explain: often the
// scenario is not what was measured.
void warn_of_odd_runs(const Anchor& anchor) {
  constexpr double kOdd = 3;  // times the noise
  for (const auto& [name, stack] : anchor.stacks()) {
    for (std::size_t run = 0; run < stack.ids.size(); ++run) {
      const double error = stack.posterior.after[run];
      const bool is_step = run < stack.beyond.size();
      if (is_step ? stack.beyond[run] <= 1 : std::abs(error) <= kOdd * stack.noise[run]) continue;
      spdlog::warn(
          "--anchor: {} stays {}% too {} after all that may plausibly move: is the scenario what was "
          "measured?",
          stack.ids[run], fixed(100 * std::abs(std::expm1(error)), 0), error < 0 ? "fast" : "slow");
    }
  }
}

// "sites/ours.textproto" -> "ours"
std::string entry_name(const std::string& path) {
  const std::string file = path.substr(path.find_last_of('/') + 1);
  return file.ends_with(kSuffix) ? file.substr(0, file.size() - std::string(kSuffix).size()) : file;
}

// The stack of this name as the scenario has it, as the catalogue has it where no scenario is of it.
Stack stack_to_save(const std::string& name, const std::string& scenario, const Catalog& catalog) {
  if (const auto text = scenario.empty() ? std::nullopt : input_of(scenario)) {
    const LoadResult loaded = load_scenario(text->name, text->text, catalog, {});
    if (loaded.spec && loaded.spec->jobs.empty() && loaded.spec->job.stack.name == name)
      return loaded.spec->job.stack;
  }
  return *catalog_stack(catalog, name);
}

bool save_stack(const AnchorOptions& options, const Anchor& anchor, const std::string& scenario,
                const Catalog& catalog) {
  if (anchor.stacks().size() != 1) {
    spdlog::error("--save-stack writes one stack, and the measured steps are of {}", anchor.stacks().size());
    return false;
  }
  const std::string& named = anchor.stacks().begin()->first;
  if (!catalog.canonical(Catalog::Section::kStacks, named)) {
    spdlog::error("--save-stack: the measured steps are of no stack of the catalogue");
    return false;
  }
  const std::string &path = options.save_stack, name = entry_name(path);
  if (!can_name_entry(name)) {
    spdlog::error("--save-stack {}: expected the name of the stack, such as our_site", path);
    return false;
  }
  const Stack stack = stack_to_save(named, scenario, catalog);
  const std::string overridden = separated(anchor.overrides(stack, catalog), ", ");
  if (!overridden.empty())
    spdlog::warn(
        "--save-stack: {} has {} as job.stack_override says and measured steps moved it: leave that out of "
        "the "
        "block where the stack is {}, or it undoes this",
        name, overridden, name);
  if (const std::string other = separated(anchor.measured_otherwise(stack), ", "); !other.empty())
    spdlog::warn(
        "--save-stack: {} is moved from {}, and some of what was measured ran with another {}: rows that "
        "set it still need that",
        name, scenario.empty() ? "the catalogue's " + named : named + " as the scenario has it", other);
  write_whole(path.ends_with(kSuffix) ? path : path + kSuffix, anchor.entry(stack, name, catalog));
  return true;
}

}  // namespace

void add_anchor_options(CLI::App& verb, AnchorOptions& options) {
  verb.add_option("--anchor", options.files,
                  "Measured steps of your own, which move a few numbers of their stack: a table of runs, or "
                  "of FILE with a column step_time_s and columns such as job.mesh.data.size of what differs; "
                  "or matmuls and attention that you measured on its chip, output of nccl-tests between its "
                  "servers, or a profile of it by PyTorch or XProf. May be repeated")
      ->type_name("RUNS.csv");
  verb.add_option("--save-stack", options.save_stack,
                  "With --anchor: write the moved stack as a catalogue entry, for --catalog")
      ->type_name("NAME.textproto");
}

void add_anchor_step_option(CLI::App& verb, AnchorOptions& options) {
  real_number(verb.add_option("--anchor-step-time", options.step_time_s,
                              "The step that you measured of FILE as it is, without --set, in seconds"),
              kShortestAnchorStep_s, kLongestAnchorStep_s)
      ->type_name("SECONDS");
}

std::optional<Anchor> make_anchor(const AnchorOptions& options, const std::string& scenario,
                                  const std::vector<std::string>& catalog_directories, int threads) {
  if (!options.any()) {
    if (options.save_stack.empty()) return Anchor(builtin_anchor_priors(), {}, threads);
    spdlog::error("--save-stack writes what measured steps made of a stack: give them with --anchor");
    return std::nullopt;
  }
  const auto catalog = open_catalog(catalog_directories);
  if (!catalog) return std::nullopt;
  const auto measured = what_was_measured(options, scenario, *catalog);
  if (!measured) return std::nullopt;
  Anchor anchor(builtin_anchor_priors(), measured->runs, threads, measured->kernels);
  warn_of_odd_runs(anchor);
  if (!options.save_stack.empty() && !save_stack(options, anchor, scenario, *catalog)) return std::nullopt;
  return anchor;
}

bool moves_any(const Anchor& anchor, const std::set<std::string>& stacks) {
  if (anchor.stacks().empty() || stacks.empty()) return true;
  const std::string measured = separated(anchor.stacks(), ", ", [](const auto& each) { return each.first; });
  const auto is_moved = [&](const std::string& name) { return anchor.stacks().count(name) > 0; };
  const bool any = std::ranges::any_of(stacks, is_moved);
  for (const std::string& name : stacks) {
    if (is_moved(name)) continue;
    const std::string text = "--anchor: no measured step is of the stack " + name;
    if (any) {
      spdlog::warn("{}, which stays as it is", text);
    } else {
      spdlog::error("{}: they are of {}", text, measured);
    }
  }
  return any;
}

bool can_use(const Anchor& anchor, std::span<const Spec> specs, const std::string& verb) {
  if (anchor.stacks().empty()) return true;
  if (!have_one_job(specs, verb + " --anchor")) return false;
  std::set<std::string> stacks;
  for (const Spec& spec : specs) stacks.insert(spec.job.stack.name);
  return moves_any(anchor, stacks);
}

std::vector<Spec> moved_specs(std::span<const Spec> specs, const Anchor& anchor) {
  std::vector<Spec> moved;
  for (const Spec& spec : specs) moved.push_back(anchor.moved(spec));
  return moved;
}

std::vector<Prediction> predict_anchored(std::span<const Spec> specs, const Anchor& anchor,
                                         const RunOptions& options, LeftOutSteps& left_out) {
  if (anchor.stacks().empty()) return predict_all(specs, options, left_out);
  std::vector<Prediction> predictions = predict_all(moved_specs(specs, anchor), options, left_out);
  PredictOptions plain = options.predict();
  plain.dump.clear();
  plain.trace = false;
  plain.memory_advice = false;
  parallel_for(specs.size(), options.threads, [&](std::size_t i) {
    if (anchor.moves(specs[i]) && left_out[i].empty())
      anchor.tell(specs[i], predict_step(specs[i], plain).report, predictions[i].report);
  });
  return predictions;
}

}  // namespace podsim
