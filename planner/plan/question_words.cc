// Writes every field of a question; what is not said stands as a dash.
#include "planner/plan/question_words.h"

#include "report/text/text.h"

namespace podsim {
namespace {

class Words {
 public:
  // Lengths keep names with blanks and commas apart.
  void add(const std::string& text) { text_ += " " + std::to_string(text.size()) + ":" + text; }
  void add(double number) { add(shortest(number)); }
  void add(int number) { add(std::to_string(number)); }
  void add(bool truth) { add(std::string(truth ? "yes" : "no")); }
  void add(PlanObjective objective) { add(static_cast<int>(objective)); }
  void add(const std::pair<const std::string, double>& named) { add(named.first), add(named.second); }
  void add(const Override& setting) { add(setting.path), add(setting.value); }
  void add(const FieldSetting& setting) { add(setting.path), add(setting.value); }
  void add(const ChipTerms& terms) {
    add(terms.from_day);
    add("most chips", terms.most_chips);
    add(terms.one_off_usd);
    add(terms.one_off_days);
  }
  void add(const std::pair<const std::string, ChipTerms>& named) { add(named.first), add(named.second); }
  void add(const PreemptionTerms& terms) {
    add(terms.per_1000_node_days);
    add(terms.notice_s);
    add(terms.wait_s);
  }
  void add(const FigureLimit& limit) {
    add(limit.key);
    add("at most", limit.at_most);
    add("at least", limit.at_least);
  }
  void add(const VariedNumber& number) {
    add(number.name());
    add(number.low);
    add(number.high);
    add(static_cast<int>(number.shape));
  }
  void add(const OwningTerms& own) {
    add("settings", own.settings);
    add("chip usd", own.chip_usd);
  }
  template <class Value>
  void add(const std::vector<Value>& values) {
    for (const Value& value : values) add(value);
  }
  template <class Value>
  void add(const std::map<std::string, Value>& values) {
    for (const auto& value : values) add(value);
  }

  template <class Value>
  void add(const char* name, const std::optional<Value>& value) {
    text_ += std::string("\n") + name + (value ? "" : " -");
    if (value) add(*value);
  }
  template <class Value>
  void add(const char* name, const Value& value) {
    text_ += std::string("\n") + name;
    add(value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_scenario(const PlanScenario& scenario, Words& words) {
  words.add("overrides", scenario.overrides);
  words.add("chips", scenario.chips);
  words.add("counts", scenario.counts);
  words.add("slices", scenario.slices);
  words.add("shapes", static_cast<int>(scenario.shapes.size()));
  for (const std::vector<int>& shape : scenario.shapes) words.add("shape", shape);
  words.add("price terms", scenario.price_terms);
  words.add("precisions", scenario.precisions);
  words.add("name", scenario.name);
  words.add("terms", scenario.terms);
  words.add("only its stack", scenario.only_its_stack);
  words.add("batch tokens", scenario.batch_tokens);
  words.add("preemption", scenario.preemption);
}

}  // namespace

std::string question_words(const PlanQuestion& question) {
  Words words;
  words.add("tokens", question.tokens);
  words.add("most days", question.most_days);
  words.add("most usd", question.most_usd);
  words.add("probability of days", question.days_probability);
  words.add("probability of usd", question.usd_probability);
  words.add("limits", question.limits);
  words.add("most kW", question.most_kw);
  words.add("terms", question.terms);
  words.add("objective", question.objective);
  words.add("by regret", question.by_regret);
  words.add("ties", question.ties);
  words.add("gap", question.gap);
  words.add("search seconds", question.search_seconds);
  words.add("own", question.own);
  words.add("embodied kg", question.embodied_kg);
  words.add("choose spares", question.choose_spares);
  words.add("vary", question.vary);
  words.add("vary step", question.vary_step);
  words.add("most rows", question.most_rows);
  words.add("own layouts", question.own_layouts);
  words.add("pareto", question.pareto);
  words.add("draws", question.draws);
  for (const PlanScenario& scenario : question.scenarios) add_scenario(scenario, words);
  return words.text();
}

}  // namespace podsim
