// Days, dollars, energy and carbon, from what a run is reckoned from.
#include "planner/plan/choice_course.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "economics/bill.h"
#include "engine/check.h"
#include "engine/unit_factors.h"

namespace podsim {
namespace {

// On the line through the two of the three points that are next to it, and never below 0.
double between(const VariedInputs& varied, double RunInputs::*input, double value) {
  const std::size_t below = value < varied.at[1] ? 0 : 1;
  const double from = varied.inputs[below].*input, to = varied.inputs[below + 1].*input;
  const double share = (value - varied.at[below]) / (varied.at[below + 1] - varied.at[below]);
  return std::max(0.0, from + (to - from) * share);
}

// Each number moves what it moves by a factor, whatever the others do; what is nothing without it is added.
RunInputs inputs_at(const ChoiceFacts& choice, const ChoiceLuck& luck) {
  RunInputs inputs = choice.inputs();
  const RunInputs as_it_is = inputs;
  inputs.usd_per_chip_hour = luck.usd_per_chip_hour;
  for (std::size_t i = 0; i < choice.varied.size(); ++i) {
    if (!choice.varied[i]) continue;
    for (double RunInputs::*const input : RunInputs::kAll) {
      const double moved = between(*choice.varied[i], input, luck.varied[i]);
      if (as_it_is.*input != 0)
        inputs.*input *= moved / (as_it_is.*input);
      else
        inputs.*input += moved;
    }
  }
  return inputs;
}

}  // namespace

const ObjectiveMeasure& objective_measure(PlanObjective objective) {
  static constexpr std::array<ObjectiveMeasure, 5> kMeasures = {
      {{PlanObjective::kUsd, &ChoiceCourse::usd, "M USD", 1e6},
       {PlanObjective::kDays, &ChoiceCourse::days, "days"},
       {PlanObjective::kEnergy, &ChoiceCourse::mwh, "MWh"},
       {PlanObjective::kCarbon, &ChoiceCourse::carbon_t, "t CO2e"},
       {PlanObjective::kChips, &ChoiceCourse::chips, "chips"}}};
  const ObjectiveMeasure& measure = kMeasures[static_cast<std::size_t>(objective)];
  PODSIM_CHECK(measure.objective == objective, "measures stand in the order of objectives");
  return measure;
}

ChoiceCourse course_with(double days, double usd, double mwh, double chips, std::optional<double> carbon_t) {
  return {days, usd, mwh, chips, carbon_t.value_or(std::numeric_limits<double>::infinity())};
}

ChoiceCourse course_of(const ChoiceFacts& choice, const ChoiceLuck& luck) {
  const RunInputs inputs = inputs_at(choice, luck);
  const double longer = luck.step * luck.run;
  const double run_days = inputs.days * longer;
  ChoiceCourse course{choice.start_day + run_days, 0, inputs.mwh * longer * luck.power,
                      static_cast<double>(choice.chips), 0};
  Price price = choice.price;
  price.usd_per_chip_hour = inputs.usd_per_chip_hour;
  course.usd = usd_of_run(inputs.paid_chips, run_days, price) + course.mwh * kKwhPerMwh * inputs.usd_per_kwh +
               inputs.one_off_usd;
  course.carbon_t = choice.kg_per_kwh ? course.mwh * inputs.kg_per_kwh + run_days * inputs.making_t_per_day
                                      : std::numeric_limits<double>::infinity();
  return course;
}

double offer_at(const Price& price, double share) {
  const double end = share < 0.5 ? price.low_usd_per_chip_hour : price.high_usd_per_chip_hour;
  return price.usd_per_chip_hour + (end - price.usd_per_chip_hour) * std::abs(2 * share - 1);
}

bool within_limits(const OutcomeQuestion& question, double days, double usd) {
  return (!question.most_days || days <= *question.most_days) &&
         (!question.most_usd || usd <= *question.most_usd);
}

ChoiceLuck usual_luck(const OutcomeQuestion& question, const ChoiceFacts& choice) {
  ChoiceLuck luck{choice.step.median(), 1, 1, choice.price.usd_per_chip_hour, {}};
  for (const VariedNumber& number : question.vary) luck.varied.push_back(number.median());
  return luck;
}

}  // namespace podsim
