// What the rows of a plan come to by chance, their order, and what the first hangs on: a part of plan.h.
#include <algorithm>
#include <utility>

#include "planner/plan/outcomes.h"
#include "planner/plan/plan.h"
#include "planner/plan/plan_weeks.h"
#include "proto/scenario/price_terms.h"

namespace podsim {
namespace {

// Days with half and with twice the failures.
void vary_failures(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options,
                   PlanRow& row) {
  const bool said = std::ranges::any_of(
      question.vary, [](const VariedNumber& each) { return each.path == "reliability.failure_factor"; });
  if (!row.over_failures || said) return;
  WeeksWish wish{question.scenarios[row.of_scenario].file, row.scenario, question.tokens};
  // Nothing: then a run does not end.
  const auto days = [&](double failures) -> std::optional<double> {
    wish.failures = failures;
    std::string why;
    const auto report = runs_of_weeks(wish, catalog, options.threads, why);
    return report ? std::optional(report->figures.days.p50 / row.facts.days) : std::nullopt;
  };
  row.facts.calm = days(0.5).value_or(1);  // with fewer than those with which it ends, it ends
  row.facts.rough = days(2);
}

OutcomeQuestion outcome_question(const PlanQuestion& question) {
  return {.objective = question.objective,
          .ties = question.all_ties(),
          .most_days = question.most_days,
          .most_usd = question.most_usd,
          .days_probability = question.days_probability.value_or(0.5),
          .usd_probability = question.usd_probability.value_or(0.5),
          .draws = question.draws,
          .vary = question.vary};
}

std::vector<ChoiceFacts> facts_of(const std::vector<PlanRow>& rows) {
  std::vector<ChoiceFacts> choices;
  for (const PlanRow& row : rows) choices.push_back(row.facts);
  return choices;
}

void set_outcomes(const PlanQuestion& question, std::vector<PlanRow>& rows) {
  const std::vector<ChoiceOutcome> outcomes = outcomes_of(outcome_question(question), facts_of(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].outcome = outcomes[i];
}

void sort_rows(const PlanQuestion& question, std::vector<PlanRow>& rows) {
  const auto order = [&](const PlanRow& row) {
    std::vector<double> values = {row.overrun(question)};
    if (question.by_regret) values.push_back(row.outcome.regret);
    values.push_back(row.value(question.objective));
    for (const PlanObjective tie : question.all_ties()) values.push_back(row.value(tie));
    return values;
  };
  std::ranges::stable_sort(rows, [&](const PlanRow& a, const PlanRow& b) { return order(a) < order(b); });
}

// Keeps what no other row beats in chips, days and USD; of equal rows the first.
void keep_front(std::vector<PlanRow>& rows) {
  const auto beats = [](const PlanRow& a, const PlanRow& b) {
    return a.chips <= b.chips && a.days <= b.days && a.usd <= b.usd &&
           (a.chips < b.chips || a.days < b.days || a.usd < b.usd);
  };
  std::vector<PlanRow> front;
  for (const PlanRow& row : rows)
    if (std::ranges::none_of(rows, [&](const PlanRow& other) { return beats(other, row); }))
      front.push_back(row);
  rows = std::move(front);
}

// The first row after a change of one thing: half or twice the chips, or another contract.
std::optional<PlanRow> after_one_change(const PlanQuestion& question, const Catalog& catalog,
                                        const PlanOptions& options, const PlanRow& miss) {
  PlanQuestion changed = question;
  for (PlanScenario& scenario : changed.scenarios) scenario.counts.clear();
  PlanScenario& only = changed.scenarios[miss.of_scenario];
  only.chips = {miss.chip};
  if (!only.batch_tokens.empty()) only.batch_tokens = {miss.batch_tokens};
  only.counts = {miss.chips * 2};
  if (miss.chips > 1) only.counts.insert(only.counts.begin(), miss.chips / 2);
  only.precisions = {miss.precision};
  only.price_terms = {miss.price_term};
  std::vector<PlanRow> rows = clusters_of(changed, catalog, options).rows;
  only.counts = {miss.chips};
  only.price_terms = price_terms(only.text, only.overrides, miss.chip, catalog);
  std::erase(only.price_terms, miss.price_term);
  for (PlanRow& row : clusters_of(changed, catalog, options).rows) rows.push_back(std::move(row));
  if (rows.empty()) return std::nullopt;
  set_outcomes(question, rows);
  sort_rows(question, rows);
  if (rows.front().overrun(question) >= miss.overrun(question)) return std::nullopt;
  return rows.front();
}

}  // namespace

void decide(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options,
            PlanAnswer& answer) {
  set_outcomes(question, answer.rows);
  sort_rows(question, answer.rows);
  if (question.pareto) keep_front(answer.rows);
  const std::vector<ChoiceFacts> all = facts_of(answer.rows);
  if (question.most_rows && answer.rows.size() > static_cast<std::size_t>(*question.most_rows)) {
    answer.rows_left_out = answer.rows.size() - static_cast<std::size_t>(*question.most_rows);
    answer.rows.resize(static_cast<std::size_t>(*question.most_rows));
  }
  PlanRow& first = answer.rows.front();
  if (!first.meets(question) && !answer.stopped)
    answer.helps = after_one_change(question, catalog, options, first);
  for (std::size_t i = 1; i < answer.rows.size() && !answer.second; ++i) {
    const ChoiceFacts& facts = answer.rows[i].facts;
    if ((facts.speed != first.facts.speed || facts.contract != first.facts.contract) &&
        answer.rows[i].meets(question) == first.meets(question))
      answer.second = i;
  }
  PlanRow* second = answer.second ? &answer.rows[*answer.second] : nullptr;
  vary_failures(question, catalog, options, first);
  if (second != nullptr) vary_failures(question, catalog, options, *second);
  const OutcomeQuestion asked = outcome_question(question);
  answer.swings = swings_of(asked, first.facts, second != nullptr ? &second->facts : nullptr);
  answer.worth = worth_of_speeds(asked, all);
}

}  // namespace podsim
