// Reads the words of podsim plan and the blocks of its scenarios.
#include "cli/plan/plan_words.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "cli/options/numbers.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/interrupt.h"
#include "engine/words.h"
#include "planner/plan/ask.h"
#include "planner/plan/own_chip.h"
#include "proto/scenario/load_plan.h"
#include "proto/scenario/write_layout.h"
#include "proto/text/assign.h"
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

std::optional<std::vector<std::string>> names(const std::optional<std::string>& list) {
  return list ? std::optional(names(*list)) : std::nullopt;
}

std::optional<AskedScenario> read_scenario(const LoadOptions& load, const std::string& file,
                                           const Catalog& catalog) {
  const auto overrides = load.overrides();
  std::vector<Problem> problems;
  const auto input = read_input(file, problems);
  print_problems(problems);
  if (!overrides || !input) return std::nullopt;
  LoadPlanResult loaded = load_plan(input->name, input->text, catalog, *overrides);
  print_problems(loaded.problems);
  if (!loaded.plan) return std::nullopt;
  return AskedScenario{input->name, input->text, *overrides, *std::move(loaded.plan)};
}

}  // namespace

std::optional<std::vector<int>> chip_counts(const std::string& text) {
  const auto counts = parse_count_range(text);
  if (!counts) {
    spdlog::error(
        "--chips \"{}\": expected a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128",
        text);
    return std::nullopt;
  }
  const std::int64_t most = *std::ranges::max_element(*counts);
  if (most <= kMaxChips) return std::vector<int>(counts->begin(), counts->end());
  spdlog::error("--chips \"{}\": of {} chips no layouts are searched, of {} at most", text, most, kMaxChips);
  return std::nullopt;
}

namespace {

// The option of a member of PlanWords.
std::string option_of(const std::string& member) {
  static const std::map<std::string, const char*> options = {
      {"most_days", "days"},         {"most_usd", "budget"},     {"search_seconds", "search-seconds"},
      {"most_rows", "top"},          {"chips", "chip"},          {"counts", "chips"},
      {"price_terms", "price-term"}, {"precisions", "precision"}};
  const auto option = options.find(member);
  return "--" + (option == options.end() ? member : option->second);
}

// False where a word is wrong, which is told; here and below.
bool all_right(const PlanWords& words, const Catalog& catalog) {
  const auto wrong = wrong_word(words, catalog);
  if (wrong) spdlog::error("{}: {}", option_of(wrong->member), wrong->message);
  return !wrong;
}

bool add_clusters(const PlanOptionWords& typed, PlanWords& words) {
  words.chips = names(typed.chip);
  words.price_terms = names(typed.price_term);
  words.precisions = names(typed.precision);
  if (!typed.counts) return true;
  const auto counts = chip_counts(*typed.counts);
  if (!counts) return false;
  words.counts = *counts;
  return true;
}

bool add_bounds(const char* option, const std::string& text, std::optional<double> FigureLimit::*bound,
                PlanWords& words) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const std::string& part : names(text)) {
    const std::size_t equals = part.find('=');
    FigureLimit limit{trim(part.substr(0, equals)), {}, {}};
    if (equals != std::string::npos)
      limit.*bound = number_between(trim(part.substr(equals + 1)), -kMost, kMost);
    if (!(limit.*bound)) {
      spdlog::error("{} \"{}\": expected a figure and a number, such as power_kw=4000", option, part);
      return false;
    }
    if (const std::string wrong = wrong_limit_key(limit.key); !wrong.empty()) {
      spdlog::error("{} \"{}\": {}", option, part, wrong);
      return false;
    }
    words.limits.push_back(std::move(limit));
  }
  return true;
}

bool add_objectives(const PlanOptionWords& typed, PlanWords& words) {
  for (const std::string& name : names(typed.objective).value_or(std::vector<std::string>())) {
    if (!add_objective(name, words.objectives)) {
      spdlog::error("--minimise \"{}\": {}", name, suggest(name, objective_names(), "expected"));
      return false;
    }
  }
  if (!typed.gap) return true;
  words.gap = share_of(*typed.gap);
  if (!words.gap) spdlog::error("--gap \"{}\": expected a share such as 2% or 0.02", *typed.gap);
  return words.gap.has_value();
}

bool add_batches(const PlanOptionWords& typed, PlanWords& words) {
  if (!typed.batch_tokens) return true;
  const auto tokens = batch_tokens_of(*typed.batch_tokens);
  if (tokens) {
    words.batch_tokens = *tokens;
    return true;
  }
  spdlog::error(
      "--batch-tokens \"{}\": expected a range such as 4e6..16e6 or 4e6..16e6+1e6, or a list such as 4e6,8e6",
      *typed.batch_tokens);
  return false;
}

// As fields of a block vary for each, so that it is held against the schema and told in the same words.
std::optional<std::vector<Override>> varied_blocks(const PlanOptionWords& typed) {
  std::vector<Override> overrides;
  for (std::size_t i = 0; i < typed.vary.size(); ++i) {
    const std::string& text = typed.vary[i];
    const std::size_t equals = text.find('='),
                      dots = text.find("..", equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || dots == std::string::npos) {
      spdlog::error("--vary \"{}\": expected a field and a range, such as cluster.usd_per_chip_hour=1.5..4",
                    text);
      return std::nullopt;
    }
    const bool factor = text.ends_with('x');
    const std::string high = text.substr(dots + 2, text.size() - dots - 2 - (factor ? 1 : 0));
    const std::string block = "plan.vary[" + std::to_string(i) + "].";
    overrides.push_back({block + "path", trim(text.substr(0, equals))});
    overrides.push_back({block + "low", trim(text.substr(equals + 1, dots - equals - 1))});
    overrides.push_back({block + "high", trim(high)});
    if (factor) overrides.push_back({block + "factor", "true"});
  }
  return overrides;
}

// The numbers of --vary, by the rules of a scenario that has no others.
bool add_varied(const PlanOptionWords& typed, const AskedScenario& scenario, const Catalog& catalog,
                PlanWords& words) {
  if (typed.vary.empty()) return true;
  auto overrides = varied_blocks(typed);
  if (!overrides) return false;
  LoadPlanResult loaded = load_plan(scenario.file, scenario_without_varied(scenario.text, scenario.overrides),
                                    catalog, *overrides);
  for (Problem& problem : loaded.problems)
    if (problem.file == "--set") problem.file = "--vary";
  print_problems(loaded.problems);
  if (!loaded.plan) return false;
  words.vary = loaded.plan->vary;
  return true;
}

// What only the question as a whole can lack.
bool is_whole(const PlanOptionWords& typed, const PlanQuestion& question) {
  if (question.tokens == 0) {
    spdlog::error(
        "--tokens: how many are to be trained is said neither here, such as --tokens 15e12, nor in the "
        "scenario, as plan { target_tokens: 15e12 }");
    return false;
  }
  if (typed.probability && !question.most_days && !question.most_usd) {
    spdlog::error("--probability is that of --days and --budget: give one of them");
    return false;
  }
  return true;
}

// Of chips that no choice has.
void tell_idle_terms(const PlanQuestion& question, const Catalog& catalog) {
  std::set<std::string> chips;
  for (const PlanScenario& scenario : question.scenarios)
    for (const std::string& chip : scenario.chips)
      chips.insert(catalog.canonical(Catalog::Section::kChips, chip).value_or(chip));
  for (const auto& [chip, terms] : question.terms)
    if (!chips.contains(chip))
      spdlog::warn(
          "what --from-day, --most-chips, --one-off-usd or --one-off-days says of {} has no effect: no "
          "choice of the plan is on it",
          chip);
}

void tell_left_out(const PlanQuestion& question, const Catalog& catalog) {
  for (const std::string& words : left_out_words(question, catalog)) spdlog::warn("{}", words);
}

}  // namespace

std::optional<PlanQuestion> read_plan_question(const PlanOptionWords& typed, const Catalog& catalog) {
  if (typed.files.size() > 1 && typed.chip) {
    spdlog::error("--chip goes with one scenario: of several each has its own chip");
    return std::nullopt;
  }
  PlanWords words;
  words.tokens = typed.tokens;
  words.most_days = typed.days;
  words.most_usd = typed.budget;
  words.probability = typed.probability;
  words.search_seconds = typed.search_seconds;
  words.most_rows = typed.top;
  words.draws = typed.draws;
  if (!add_clusters(typed, words) || !add_objectives(typed, words) || !all_right(words, catalog) ||
      !add_batches(typed, words) || !add_bounds("--at-most", typed.at_most, &FigureLimit::at_most, words) ||
      !add_bounds("--at-least", typed.at_least, &FigureLimit::at_least, words))
    return std::nullopt;
  std::vector<AskedScenario> scenarios;
  for (const std::string& file : typed.files) {
    auto scenario = read_scenario(typed.load, file, catalog);
    if (!scenario) return std::nullopt;
    scenarios.push_back(*std::move(scenario));
  }
  if (!add_varied(typed, scenarios.front(), catalog, words)) return std::nullopt;
  PlanQuestion question = plan_question(scenarios, words);
  auto terms = chip_terms_of(typed.terms, catalog);
  if (!terms || !is_whole(typed, question)) return std::nullopt;
  question.terms = *std::move(terms);
  tell_idle_terms(question, catalog);
  tell_left_out(question, catalog);
  question.most_kw = typed.site_kw;
  return question;
}

}  // namespace podsim
