// Puts what is said in the place of what blocks say.
#include "planner/plan/ask.h"

#include <algorithm>
#include <utility>

#include "proto/scenario/load_plan.h"
#include "proto/scenario/write_layout.h"
#include "proto/text/assign.h"
#include "report/text/text.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

constexpr int kUsualCounts[] = {256, 512, 1024, 2048};

template <class Value>
std::optional<Value> first_of(const std::optional<Value>& said, const std::optional<Value>& block) {
  return said ? said : block;
}

// Its chip and its contract are those of its file.
void take_words_of_cluster(PlanScenario& scenario) {
  const ClusterWords words = cluster_words(scenario.text, scenario.overrides);
  scenario.own_chip = words.chip;
  scenario.price_terms = {words.price_term.empty() ? kOnDemandTerm : words.price_term};
}

// The scenario on the clusters of one choice.
PlanScenario on_choice(PlanScenario scenario, const ClusterOption& choice) {
  if (!choice.text.empty()) {
    scenario.file = choice.file;
    scenario.text = choice.text;
    take_words_of_cluster(scenario);
  }
  const auto set = [&](const char* path, const std::string& value) {
    if (!value.empty()) scenario.overrides.push_back({path, value});
  };
  // A fabric is told for the chip that it is of.
  if (!choice.fabric.empty()) set("cluster.chip", choice.chip);
  set("cluster.fabric", choice.fabric);
  set("job.stack", choice.stack);
  for (const FieldSetting& each : choice.settings) scenario.overrides.push_back({each.path, each.value});
  scenario.preemption = choice.preemption;
  scenario.name = choice.name;
  scenario.chips = {choice.chip};
  scenario.counts = choice.counts;
  scenario.slices = choice.slices;
  scenario.shapes = choice.shapes;
  if (!choice.price_terms.empty()) scenario.price_terms = choice.price_terms;
  scenario.precisions = choice.precisions;
  scenario.terms = choice.terms;
  scenario.only_its_stack = !choice.stack.empty();
  return scenario;
}

// One for each choice of the block, or one on the chips that are said, or on its own.
void add_scenarios(const AskedScenario& asked, const PlanWords& words, std::vector<PlanScenario>& all) {
  PlanScenario plain;
  plain.file = asked.file;
  plain.text = asked.text;
  plain.overrides = asked.overrides;
  for (const FieldSetting& each : asked.block.settings) plain.overrides.push_back({each.path, each.value});
  plain.batch_tokens = words.batch_tokens.empty() ? asked.block.batch_tokens : words.batch_tokens;
  plain.counts.assign(std::begin(kUsualCounts), std::end(kUsualCounts));
  take_words_of_cluster(plain);
  std::vector<PlanScenario> scenarios;
  if (!words.chips)
    for (const ClusterOption& choice : asked.block.clusters) scenarios.push_back(on_choice(plain, choice));
  if (scenarios.empty()) {
    plain.chips = words.chips ? *words.chips : std::vector{plain.own_chip};
    scenarios.push_back(std::move(plain));
  }
  for (PlanScenario& each : scenarios) {
    if (words.counts) each.counts = *words.counts;
    if (words.price_terms) each.price_terms = *words.price_terms;
    if (words.precisions) each.precisions = *words.precisions;
    all.push_back(std::move(each));
  }
}

void add_limit(const FigureLimit& said, std::vector<FigureLimit>& limits) {
  const auto limit = std::ranges::find(limits, said.key, &FigureLimit::key);
  if (limit == limits.end()) {
    limits.push_back(said);
    return;
  }
  if (said.at_most) limit->at_most = said.at_most;
  if (said.at_least) limit->at_least = said.at_least;
}

// Those of the block, where nobody says another range of the same number, and then those that are said.
std::vector<VariedNumber> varied_of(const std::vector<VariedNumber>& block,
                                    const std::vector<VariedNumber>& said) {
  std::vector<VariedNumber> all;
  for (const VariedNumber& each : block)
    if (std::ranges::none_of(said, [&](const VariedNumber& other) { return other.overlaps(each); }))
      all.push_back(each);
  all.insert(all.end(), said.begin(), said.end());
  return all;
}

void take_objectives(const PlanObjectives& wanted, PlanQuestion& question) {
  question.by_regret = wanted.by_regret;
  if (wanted.least.empty()) return;
  question.objective = wanted.least.front();
  question.ties.assign(wanted.least.begin() + 1, wanted.least.end());
}

class WordCheck {
 public:
  explicit WordCheck(const Catalog& catalog) : catalog_(catalog) {}

  void number(const char* member, const std::optional<double>& said, const NumberRange& range) {
    if (said && !range.holds(*said))
      refuse(member, "expected a number from " + shortest(range.least) + " to " + shortest(range.most) +
                         ", not " + shortest(*said));
  }
  void share(const char* member, const std::optional<double>& said) {
    if (said && !(*said >= 0 && *said < 1))
      refuse(member, "expected a share from 0 to less than 1, not " + shortest(*said));
  }
  void counts(const std::optional<std::vector<int>>& said) {
    if (!said) return;
    if (said->empty()) refuse("counts", "expected a number of chips at least");
    for (const int count : *said)
      if (count < 1 || count > kMaxChips)
        refuse("counts",
               "expected 1 to " + std::to_string(kMaxChips) + " chips, not " + std::to_string(count));
  }
  void chips(const std::optional<std::vector<std::string>>& said) {
    names("chips", said, "chip, such as h100");
    for (const std::string& chip : said.value_or(std::vector<std::string>()))
      if (!catalog_.canonical(Catalog::Section::kChips, chip))
        refuse("chips", "the catalogue has no chip \"" + chip + "\"; " +
                            catalog_.hint(Catalog::Section::kChips, chip));
  }
  // Contracts are data: which there are of a chip, and on which terms, its price list says.
  void terms(const std::optional<std::vector<std::string>>& said) {
    names("price_terms", said, "contract, such as on_demand");
  }
  void precisions(const std::optional<std::vector<std::string>>& said) {
    names("precisions", said, "recipe, such as bf16");
    const std::vector<std::string> known = precision_names();
    for (const std::string& name : said.value_or(std::vector<std::string>()))
      if (std::ranges::find(known, name) == known.end())
        refuse("precisions", "there is no precision \"" + name + "\"; " + suggest(name, known, "there are"));
  }

  const std::optional<WrongWord>& first() const { return first_; }

 private:
  void refuse(const char* member, const std::string& message) {
    if (!first_) first_ = WrongWord{member, message};
  }
  void names(const char* member, const std::optional<std::vector<std::string>>& said, const char* what) {
    if (said && (said->empty() || std::ranges::count(*said, "") > 0))
      refuse(member, std::string("expected the name of a ") + what + ", not an empty one");
  }

  const Catalog& catalog_;
  std::optional<WrongWord> first_;
};

}  // namespace

std::optional<WrongWord> wrong_word(const PlanWords& words, const Catalog& catalog) {
  WordCheck check(catalog);
  check.number("tokens", words.tokens, kPlanTokens);
  check.number("most_days", words.most_days, kPlanDays);
  check.number("most_usd", words.most_usd, kPlanUsd);
  check.number("probability", words.probability, kPlanProbability);
  check.number("search_seconds", words.search_seconds, kPlanSearchSeconds);
  check.number("most_rows", words.most_rows, kPlanRows);
  check.number("draws", words.draws, kPlanDraws);
  check.share("gap", words.gap);
  check.counts(words.counts);
  check.chips(words.chips);
  check.terms(words.price_terms);
  check.precisions(words.precisions);
  return check.first();
}

PlanQuestion plan_question(const std::vector<AskedScenario>& scenarios, const PlanWords& words) {
  PlanQuestion question;
  for (const AskedScenario& asked : scenarios) add_scenarios(asked, words, question.scenarios);
  const TrainingPlan& block = scenarios.front().block;
  question.tokens = first_of(words.tokens, block.tokens).value_or(0);
  question.most_days = first_of(words.most_days, block.most_days);
  question.most_usd = first_of(words.most_usd, block.most_usd);
  if (question.most_days) question.days_probability = first_of(words.probability, block.days_probability);
  if (question.most_usd) question.usd_probability = first_of(words.probability, block.usd_probability);
  question.limits = block.limits;
  for (const FigureLimit& said : words.limits) add_limit(said, question.limits);
  take_objectives(words.objectives.empty() ? block.objectives : words.objectives, question);
  question.search_seconds = first_of(words.search_seconds, block.search_seconds);
  question.most_rows = first_of(words.most_rows, block.most_rows);
  question.draws = first_of(words.draws, block.draws).value_or(question.draws);
  question.own = block.own;
  question.embodied_kg = block.embodied_kg;
  question.choose_spares = block.choose_spares;
  question.vary = varied_of(block.vary, words.vary);
  question.vary_step = block.vary_step;
  question.gap = first_of(words.gap, block.gap).value_or(kUsualPlanGap);
  return question;
}

}  // namespace podsim
