// What a choice of cluster comes to under given luck: apart from how that is drawn.
#pragma once

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
  double of(PlanObjective objective) const {
    switch (objective) {
      case PlanObjective::kDays:
        return days;
      case PlanObjective::kEnergy:
        return mwh;
      case PlanObjective::kCarbon:
        return carbon_t;
      case PlanObjective::kChips:
        return chips;
      case PlanObjective::kUsd:
      case PlanObjective::kRegret:
        break;
    }
    return usd;
  }
};

ChoiceCourse course_of(const ChoiceFacts& choice, const ChoiceLuck& luck);

// Everything in the middle.
ChoiceLuck usual_luck(const OutcomeQuestion& question, const ChoiceFacts& choice);

// Half of the offers lie below the price, evenly from the lowest on, and half above.
double offer_at(const Price& price, double share);

bool within_limits(const OutcomeQuestion& question, double days, double usd);

}  // namespace podsim
