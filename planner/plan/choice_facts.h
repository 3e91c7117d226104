// What is known of a choice of cluster before it is drawn, and what is asked of all: a part of outcomes.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prediction/step_error.h"
#include "scheduler/question/plan_limits.h"
#include "scheduler/question/price.h"
#include "scheduler/question/training_plan.h"

namespace podsim {

// All that the course of a run is reckoned from, but for its contract's minimum term.
struct RunInputs {
  double days = 0;        // of a run with the predicted step; over failures the median
  double paid_chips = 0;  // chips that the bill is of, all the time
  double usd_per_chip_hour = 0, usd_per_kwh = 0;
  double mwh = 0;               // of `days`
  double one_off_usd = 0;       // before it trains, and what leaves the provider
  double kg_per_kwh = 0;        // of CO2e
  double making_t_per_day = 0;  // tonnes of it for the chips

  static constexpr std::array kAll = {
      &RunInputs::days, &RunInputs::paid_chips,  &RunInputs::usd_per_chip_hour, &RunInputs::usd_per_kwh,
      &RunInputs::mwh,  &RunInputs::one_off_usd, &RunInputs::kg_per_kwh,        &RunInputs::making_t_per_day};
  friend bool operator==(const RunInputs&, const RunInputs&) = default;
};

// What a choice comes to at three values of a number of its scenario: between them, and beyond, by lines.
struct VariedInputs {
  std::array<double, 3> at = {};  // ascending; the middle is the median
  std::array<RunInputs, 3> inputs;

  bool matters() const { return !(inputs[0] == inputs[1] && inputs[1] == inputs[2]); }
};

// What is known of a choice, and what varies.
struct ChoiceFacts {
  std::string speed;                 // what errs alike: "h100 with megatron_bridge_2025"
  std::string contract;              // what is priced alike: "h100 on_demand"
  std::string chip;                  // what draws power alike
  std::string name;                  // the choice itself
  StepError step;                    // measured over predicted step
  double days = 0;                   // of a run with the predicted step; over failures the median
  double run_low = 1, run_high = 1;  // p10 and p90 of days over that median, by failures
  double calm = 1;                   // days with half the failures, over `days`
  std::optional<double> rough = 1;   // with twice the failures; nothing: then a run does not end
  double paid_chips = 0;             // chips that the bill is of, all the time
  Price price;
  double mwh = 0;                         // of `days`
  double power_range = 0;                 // by which share watts may be off
  double start_day = 0, one_off_usd = 0;  // before it trains
  bool within_limits = true;              // of figures that nothing here changes
  int chips = 0;
  std::optional<double> kg_per_kwh;  // of CO2e, where it is known
  double making_t_per_day = 0;       // tonnes of it
  std::vector<std::optional<VariedInputs>> varied =
      {};  // [number of the question] nothing where it is not its own

  RunInputs inputs() const {
    return {days, paid_chips,  price.usd_per_chip_hour, price.usd_per_kwh,
            mwh,  one_off_usd, kg_per_kwh.value_or(0),  making_t_per_day};
  }
};

struct OutcomeQuestion {
  PlanObjective objective = PlanObjective::kUsd;
  std::vector<PlanObjective> ties = {};  // decide in their order among what is equal in that
  std::optional<double> most_days = {}, most_usd = {};
  double days_probability = 0.5, usd_probability = 0.5;  // with which a choice is to meet them
  std::uint64_t seed = 1;
  int draws = kUsualPlanDraws;
  std::vector<VariedNumber> vary = {};
};

}  // namespace podsim
