// What a row of a plan comes to, held against the limits.
#include <algorithm>

#include "planner/plan/choice_course.h"
#include "planner/plan/plan.h"
#include "planner/plan/plan_figures.h"

namespace podsim {

double PlanRow::overrun(const PlanQuestion& question) const {
  double most = 0;
  if (question.most_days) most = std::max(most, held_days(question) / *question.most_days - 1);
  if (question.most_usd) most = std::max(most, held_usd(question) / *question.most_usd - 1);
  for (std::size_t i = 0; i < limited.size(); ++i)
    most = std::max(most, question.limits[i].overrun(limited[i]));
  return most;
}

double PlanRow::held_days(const PlanQuestion& question) const {
  return question.days_probability ? outcome.likely_days : days;
}

double PlanRow::held_usd(const PlanQuestion& question) const {
  return question.usd_probability ? outcome.likely_usd : usd;
}

std::optional<double> PlanRow::figure(const PlanQuestion& question, std::string_view key) const {
  const bool may_have_limits = std::ranges::find(kPlanFigures, key) != kPlanFigures.end();
  return may_have_limits ? number_at(plan_row_figures(question, *this), key) : std::nullopt;
}

double PlanRow::usd_per_hour() const {
  return chips * facts.price.usd_per_chip_hour + power_kw * facts.price.usd_per_kwh;
}

bool PlanQuestion::several_files() const {
  return std::ranges::any_of(scenarios,
                             [&](const PlanScenario& each) { return each.file != scenarios[0].file; });
}

std::vector<PlanObjective> PlanQuestion::all_ties() const {
  std::vector<PlanObjective> all = ties;
  all.push_back(PlanObjective::kUsd);
  return all;
}

double PlanRow::value(PlanObjective objective) const {
  return course_with(days, usd, mwh, chips, carbon_t).of(objective);
}

}  // namespace podsim
