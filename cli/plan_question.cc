// Reads the blocks and puts the words of the command line in their place.
#include "cli/plan_question.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "cli/batch.h"
#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "proto/scenario/load_plan.h"
#include "proto/text/quantities.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

std::vector<std::string> names(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  for (const std::string& word : split(list, ',')) words.push_back(trim(word));
  return words;
}

std::optional<std::vector<int>> counts_of(const std::string& text) {
  const auto counts = parse_count_range(text);
  if (counts && counts->back() <= kMaxChips) return std::vector<int>(counts->begin(), counts->end());
  spdlog::error(
      "--chips \"{}\": expected a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128", text);
  return std::nullopt;
}

// A scenario and its block.
struct AskedFile {
  PlanScenario scenario;
  TrainingPlan block;
};

std::optional<AskedFile> read_asked(const PlanWords& words, const std::string& file, const Catalog& catalog) {
  const auto overrides = words.load.overrides();
  std::vector<Problem> problems;
  const auto input = read_input(file, problems);
  print_problems(problems);
  if (!overrides || !input) return std::nullopt;
  LoadPlanResult loaded = load_plan(input->name, input->text, catalog, *overrides);
  print_problems(loaded.problems);
  if (!loaded.plan) return std::nullopt;
  AskedFile asked;
  asked.scenario.file = input->name;
  asked.scenario.text = input->text;
  asked.scenario.overrides = *overrides;
  asked.block = *std::move(loaded.plan);
  return asked;
}

// The scenario on the clusters of one choice.
PlanScenario on_choice(PlanScenario scenario, const ClusterOption& choice) {
  const auto set = [&](const char* path, const std::string& value) {
    if (!value.empty()) scenario.overrides.push_back({path, value});
  };
  // A fabric is told for the chip that it is of.
  if (!choice.fabric.empty()) set("cluster.chip", choice.chip);
  set("cluster.fabric", choice.fabric);
  set("job.stack", choice.stack);
  if (choice.slices) set("cluster.slices", std::to_string(*choice.slices));
  scenario.name = choice.name;
  scenario.chips = {choice.chip};
  scenario.counts = choice.counts;
  if (!choice.price_terms.empty()) scenario.price_terms = choice.price_terms;
  scenario.precisions = choice.precisions;
  scenario.terms = choice.terms;
  scenario.only_its_stack = !choice.stack.empty();
  return scenario;
}

// One for each choice of the block, or one on chips that are named on the command line, or its own.
std::optional<std::vector<PlanScenario>> scenarios_of(const PlanWords& words, const AskedFile& asked,
                                                      const Catalog& catalog) {
  std::vector<PlanScenario> scenarios;
  if (!words.chip)
    for (const ClusterOption& choice : asked.block.clusters)
      scenarios.push_back(on_choice(asked.scenario, choice));
  if (scenarios.empty()) {
    PlanScenario& one = scenarios.emplace_back(asked.scenario);
    one.chips = words.chip ? names(*words.chip) : std::vector{cluster_words(one.text, one.overrides).chip};
    const auto counts = counts_of(words.counts.value_or(PlanWords::kCounts));
    if (!counts) return std::nullopt;
    one.counts = *counts;
    for (const std::string& chip : one.chips) {
      if (catalog.canonical(Catalog::Section::kChips, chip)) continue;
      spdlog::error("--chip: the catalogue has no chip \"{}\"; {}", chip,
                    catalog.hint(Catalog::Section::kChips, chip));
      return std::nullopt;
    }
  }
  for (PlanScenario& each : scenarios) {
    if (words.counts) {
      const auto counts = counts_of(*words.counts);
      if (!counts) return std::nullopt;
      each.counts = *counts;
    }
    if (words.price_term) each.price_terms = names(*words.price_term);
    if (words.precision) each.precisions = names(*words.precision);
  }
  return scenarios;
}

PlanObjective objective_of(const PlanWords& words, const TrainingPlan& block) {
  if (!words.objective) return block.objective.value_or(PlanObjective::kUsd);
  return *words.objective == "days"     ? PlanObjective::kDays
         : *words.objective == "energy" ? PlanObjective::kEnergy
                                        : PlanObjective::kUsd;
}

template <class Value>
std::optional<Value> first_of(const std::optional<Value>& said, const std::optional<Value>& block) {
  return said ? said : block;
}

// In place of those that the limits have of the same figures. False where one is wrong, which is told.
bool add_bounds(const char* option, const std::string& text, std::optional<double> FigureLimit::*bound,
                std::vector<FigureLimit>& limits) {
  for (const std::string& part : names(text)) {
    const std::size_t equals = part.find('=');
    const std::string key = trim(part.substr(0, equals));
    const auto number =
        equals == std::string::npos ? std::nullopt : decimal_number(trim(part.substr(equals + 1)));
    if (!number || !std::isfinite(*number)) {
      spdlog::error("{} \"{}\": expected a figure and a number, such as power_kw=4000", option, part);
      return false;
    }
    if (const std::string wrong = wrong_limit_key(key); !wrong.empty()) {
      spdlog::error("{} \"{}\": {}", option, part, wrong);
      return false;
    }
    auto limit = std::ranges::find(limits, key, &FigureLimit::key);
    if (limit == limits.end()) limit = limits.insert(limits.end(), FigureLimit{key, {}, {}});
    (*limit).*bound = number;
  }
  return true;
}

// All but the clusters. False where something is missing or wrong, which is told.
bool add_limits(const PlanWords& words, const TrainingPlan& block, PlanQuestion& question) {
  const auto tokens = first_of(words.tokens, block.tokens);
  if (!tokens) {
    spdlog::error(
        "--tokens: how many are to be trained is said neither here, such as --tokens 15e12, nor in "
        "the scenario, as plan { target_tokens: 15e12 }");
    return false;
  }
  question.tokens = *tokens;
  question.most_days = first_of(words.days, block.most_days);
  question.most_usd = first_of(words.budget, block.most_usd);
  if (words.probability && !question.most_days && !question.most_usd) {
    spdlog::error("--probability is that of --days and --budget: give one of them");
    return false;
  }
  if (question.most_days) question.days_probability = first_of(words.probability, block.days_probability);
  if (question.most_usd) question.usd_probability = first_of(words.probability, block.usd_probability);
  question.limits = block.limits;
  if (!add_bounds("--at-most", words.at_most, &FigureLimit::at_most, question.limits) ||
      !add_bounds("--at-least", words.at_least, &FigureLimit::at_least, question.limits))
    return false;
  question.most_kw = words.site_kw;
  question.objective = objective_of(words, block);
  const auto gap = words.gap ? share_of(*words.gap) : block.gap ? block.gap : share_of(PlanWords::kGap);
  if (!gap) spdlog::error("--gap \"{}\": expected a share such as 2% or 0.02", *words.gap);
  question.gap = gap.value_or(0);
  return gap.has_value();
}

}  // namespace

std::optional<PlanQuestion> plan_question(const PlanWords& words, const Catalog& catalog) {
  PlanQuestion question;
  if (words.files.size() > 1 && words.chip) {
    spdlog::error("--chip goes with one scenario: of several each has its own chip");
    return std::nullopt;
  }
  TrainingPlan block;
  for (const std::string& file : words.files) {
    const auto asked = read_asked(words, file, catalog);
    const auto scenarios = asked ? scenarios_of(words, *asked, catalog) : std::nullopt;
    if (!scenarios) return std::nullopt;
    question.scenarios.insert(question.scenarios.end(), scenarios->begin(), scenarios->end());
    if (&file == &words.files.front()) block = asked->block;
  }
  auto terms = chip_terms_of(words.terms, catalog);
  if (!terms || !add_limits(words, block, question)) return std::nullopt;
  question.terms = *std::move(terms);
  return question;
}

}  // namespace podsim
