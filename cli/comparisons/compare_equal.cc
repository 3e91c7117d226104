// Reads the scenarios, and which counts of chips may make them equal.
#include "cli/comparisons/compare_equal.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "cli/answers/render.h"
#include "cli/options/numbers.h"
#include "cli/options/store_option.h"
#include "cli/plan/plan_text.h"
#include "cli/plan/plan_words.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "engine/parallel_for.h"
#include "planner/plan/equal.h"
#include "proto/scenario/load.h"
#include "proto/text/read_file.h"
#include "scheduler/question/plan_limits.h"

namespace podsim {
namespace {

constexpr const char* kAllMeasures = "all";

const std::map<std::string, EqualMeasure>& equal_measures() {
  static const std::map<std::string, EqualMeasure> all = {{"chips", EqualMeasure::kChips},
                                                          {"throughput", EqualMeasure::kThroughput},
                                                          {"cost", EqualMeasure::kCost},
                                                          {"deadline", EqualMeasure::kDeadline}};
  return all;
}

// An eighth to eight times as many, in doublings.
std::vector<int> counts_around(int chips) {
  std::vector<int> counts;
  for (int eighths = 1; eighths <= 64; eighths *= 2)
    if (chips * eighths % 8 == 0 && chips * eighths / 8 <= kMaxChips) counts.push_back(chips * eighths / 8);
  return counts;
}

std::optional<std::vector<int>> wanted_counts(const EqualOptions& options, int first_chips) {
  if (options.counts.empty()) return counts_around(first_chips);
  return chip_counts(options.counts);
}

// What the files say, and what is wrong with them.
struct FilesToEqual {
  std::vector<PlanScenario> scenarios;  // without counts
  std::vector<Spec> specs;
};

std::optional<FilesToEqual> files_to_equal(const std::vector<std::string>& files, const LoadOptions& load,
                                           const std::string& price_term, const Catalog& catalog) {
  const auto overrides = load.overrides();
  if (!overrides) return std::nullopt;
  std::vector<Override> priced = *overrides;
  priced.push_back({"cluster.price_term", price_term});
  FilesToEqual all;
  bool clean = true;
  for (const std::string& file : files) {
    LoadResult loaded;
    const auto input = read_input(file, loaded.problems);
    if (input) loaded = load_scenario(input->name, input->text, catalog, priced);
    print_problems(loaded.problems);
    clean = clean && loaded.spec;
    if (!loaded.spec) continue;
    all.scenarios.push_back({.file = input->name,
                             .text = input->text,
                             .overrides = *overrides,
                             .chips = {loaded.spec->cluster.chip.name},
                             .counts = {},
                             .price_terms = {price_term}});
    all.specs.push_back(*std::move(loaded.spec));
  }
  if (!clean || !have_one_job(all.specs, "compare --equal")) return std::nullopt;
  return all;
}

// As the counts that each may have, gap, contract and limits are given.
std::optional<PlanQuestion> equal_question_of(const FilesToEqual& files, const EqualOptions& options) {
  PlanQuestion question;
  const auto counts = wanted_counts(options, files.specs.front().cluster.fabric.chips);
  const auto gap = share_of(options.gap);
  if (!gap) spdlog::error("--gap \"{}\": expected a share such as 2% or 0.02", options.gap);
  if (!counts || !gap) return std::nullopt;
  question.scenarios = files.scenarios;
  for (PlanScenario& scenario : question.scenarios) scenario.counts = *counts;
  question.tokens = options.tokens;
  if (options.days > 0) question.most_days = options.days;
  question.gap = *gap;
  question.own_layouts = !options.search;
  return question;
}

}  // namespace

void add_equal_options(CLI::App& verb, EqualOptions& options) {
  std::vector<std::string> names;
  for (const auto& [name, measure] : equal_measures()) names.push_back(name);
  names.emplace_back(kAllMeasures);
  verb.add_option(
          "--equal", options.measure,
          "Give each scenario so many chips that they are equal: as many chips as the first, at least "
          "its tokens per second, at most its cost per hour, or all done by --days; by all of these one "
          "after the other, scenarios of one model with each other")
      ->check(CLI::IsMember(names));
  verb.add_flag("--search", options.search,
                "With --equal: each with its fastest layout, as podsim search finds it, not with its own");
  real_number(verb.add_option("--tokens", options.tokens, "With --equal: to be trained"), kPlanTokens.least,
              kPlanTokens.most)
      ->capture_default_str()
      ->type_name("N");
  real_number(
      verb.add_option("--days", options.days, "With --equal deadline or all: when training is to be done"),
      kPlanDays.least, kPlanDays.most)
      ->type_name("DAYS");
  verb.add_option("--chips", options.counts,
                  "With --equal: counts to choose from; without it an eighth to eight times those of the "
                  "first, in doublings")
      ->type_name("RANGE");
  verb.add_option("--price-term", options.price_term, "With --equal: the contract of all")
      ->capture_default_str()
      ->type_name("TERM");
  verb.add_option("--gap", options.gap,
                  "With --search: a layout is good enough where none is faster by more than this")
      ->capture_default_str()
      ->type_name("SHARE");
  add_store_option(verb, options.store);
}

namespace {

bool can_be_made_equal(std::size_t files, const EqualOptions& options) {
  if (files < 2) {
    spdlog::error("--equal makes two or more scenarios equal: give their files");
    return false;
  }
  if ((options.measure == "deadline" || options.measure == kAllMeasures) == (options.days > 0)) return true;
  spdlog::error("--equal deadline, or all, and --days go together");
  return false;
}

// Scenarios of one model in the order of the files, models in the order in which they come.
std::vector<FilesToEqual> by_model(const FilesToEqual& files) {
  std::vector<FilesToEqual> groups;
  for (std::size_t i = 0; i < files.specs.size(); ++i) {
    const auto same = std::ranges::find_if(groups, [&](const FilesToEqual& group) {
      return group.specs.front().job.model.name == files.specs[i].job.model.name;
    });
    FilesToEqual& group = same == groups.end() ? groups.emplace_back() : *same;
    group.scenarios.push_back(files.scenarios[i]);
    group.specs.push_back(files.specs[i]);
  }
  return groups;
}

int compare_by_all(const FilesToEqual& files, const EqualOptions& options, const Catalog& catalog,
                   const PlanOptions& how, const std::string& format) {
  std::vector<EqualPart> parts;
  bool all_equal = true;
  for (const FilesToEqual& group : by_model(files)) {
    const std::string& model = group.specs.front().job.model.name;
    if (group.specs.size() < 2) {
      spdlog::error("{} stands alone: --equal all compares scenarios of one model with each other", model);
      return kInputError;
    }
    auto question = equal_question_of(group, options);
    if (!question) return kInputError;
    const std::optional<double> deadline = question->most_days;
    EqualTrials trials;
    for (const char* name : {"chips", "throughput", "cost", "deadline"}) {
      const EqualMeasure measure = equal_measures().at(name);
      question->most_days = measure == EqualMeasure::kDeadline ? deadline : std::nullopt;
      PlanAnswer answer =
          equal_clusters(*question, measure, group.specs.front().cluster.fabric.chips, catalog, how, trials);
      all_equal = all_equal && answer.rows.size() == group.specs.size();
      parts.push_back({model, name, *question, std::move(answer)});
    }
  }
  emit(answer_text(format,
                   {[&] { return equal_parts_table(parts); }, [&] { return equal_parts_json(parts); },
                    [&] { return equal_parts_csv(parts); }},
                   "PlanAnswer"),
       "");
  return all_equal ? kDone : kInfeasible;
}

int compare_by_one(const FilesToEqual& files, const EqualOptions& options, const Catalog& catalog,
                   const PlanOptions& how, const std::string& format) {
  const EqualMeasure measure = equal_measures().at(options.measure);
  const auto question = equal_question_of(files, options);
  if (!question) return kInputError;
  EqualTrials trials;
  const PlanAnswer answer =
      equal_clusters(*question, measure, files.specs.front().cluster.fabric.chips, catalog, how, trials);
  if (answer.rows.empty()) {
    spdlog::error("no scenario has a cluster that is equal by {}:\n{}", options.measure,
                  refusals_text(answer));
    return answer.stopped ? kInternalError : kInfeasible;
  }
  emit(answer_text(format,
                   {[&] { return equal_table(*question, measure, answer); },
                    [&] { return plan_json(*question, answer, "equal " + options.measure); },
                    [&] { return plan_csv(*question, answer); }},
                   "PlanAnswer"),
       "");
  return answer.rows.size() == files.specs.size() ? kDone : kInfeasible;
}

}  // namespace

int compare_equal(const std::vector<std::string>& files, const LoadOptions& load, const EqualOptions& options,
                  const std::string& format, int threads) {
  if (!can_be_made_equal(files.size(), options)) return kInputError;
  const auto catalog = open_catalog(load.catalog_directories);
  const auto read = catalog ? files_to_equal(files, load, options.price_term, *catalog) : std::nullopt;
  if (!read) return kInputError;
  const Interrupt interrupt;
  PlanOptions how;
  how.threads = threads_or_cores(threads);
  how.stop = &interrupt.asked();
  const auto store = open_result_store(options.store);
  how.store = store.get();
  return options.measure == kAllMeasures ? compare_by_all(*read, options, *catalog, how, format)
                                         : compare_by_one(*read, options, *catalog, how, format);
}

}  // namespace podsim
