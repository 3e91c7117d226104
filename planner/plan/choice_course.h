// What a choice of cluster comes to under given luck: apart from how that is drawn.
#pragma once

#include <optional>
#include <vector>

#include "planner/plan/choice_facts.h"

namespace podsim {

// Factors of what is not known.
struct ChoiceLuck {
  double step = 1, run = 1, power = 1;
  double usd_per_chip_hour = 0;
  std::vector<double> varied;  // [number of the question]
};

struct ChoiceCourse {
  double days = 0, usd = 0, mwh = 0, chips = 0;
  double carbon_t = 0;  // infinite where nobody says what carbon the power has

  double of(PlanObjective objective) const;
};

// What an objective makes least, and how it is told.
struct ObjectiveMeasure {
  PlanObjective objective;
  double ChoiceCourse::*value;
  const char* unit;     // "M USD"
  double one_unit = 1;  // of the value
};
const ObjectiveMeasure& objective_measure(PlanObjective objective);

inline double ChoiceCourse::of(PlanObjective objective) const {
  return this->*objective_measure(objective).value;
}

// Where the tonnes of CO2e may not be known.
ChoiceCourse course_with(double days, double usd, double mwh, double chips, std::optional<double> carbon_t);

ChoiceCourse course_of(const ChoiceFacts& choice, const ChoiceLuck& luck);

// Everything in the middle.
ChoiceLuck usual_luck(const OutcomeQuestion& question, const ChoiceFacts& choice);

// Half of the offers lie below the price, evenly from the lowest on, and half above.
double offer_at(const Price& price, double share);

bool within_limits(const OutcomeQuestion& question, double days, double usd);

}  // namespace podsim
