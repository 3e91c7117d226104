// What a choice of cluster may come to, and what the choice hangs on: days, dollars and energy as
// distributions.
//
// These things are not known when chips are chosen. How long a step really takes: the error band of the
// prediction, one draw for each kind of chip and stack, so that what errs alike does not count as a
// difference. What fails: days over their median in simulated runs of weeks, of each choice by itself. What a
// chip costs: the range of the offers, one draw for each chip and contract, half of them below the price.
// What a chip draws: evenly within the range of its watts, one draw for each chip. And whatever numbers of
// the scenario the question names: one draw of each for all choices that have it. How often things fail at
// all: half to twice as often, as an assumption that can be moved, but not drawn. Draws are addressed by seed
// and name: a choice more changes nothing about the others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prediction/step_error.h"
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
  double calm = 1, rough = 1;        // days with half and with twice the failures, over `days`
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

// One in ten lies below, one in ten above.
struct OutcomeRange {
  double p10 = 0, p50 = 0, p90 = 0;
};

struct ChoiceOutcome {
  OutcomeRange days, usd, mwh;
  double in_time = 1, in_budget = 1;       // probability to meet the deadline and the budget
  double likely_days = 0, likely_usd = 0;  // not exceeded with the probability that is asked for
  double best = 0;    // probability to have the least of the objective among choices that meet the limits
  double regret = 0;  // mean excess of the objective over the choice that turns out best
};

// An assumption at both ends of its range, all others in the middle.
struct AssumptionSwing {
  std::string what;
  double from = 0, to = 0;
  double first_from = 0, first_to = 0;    // objective of the first choice
  double margin_from = 0, margin_to = 0;  // of the second less that of the first; 0 without a second
  std::optional<double> flips_at;         // there the two tie
  std::optional<double> misses_at;        // there the first misses a limit
  double width() const { return first_to > first_from ? first_to - first_from : first_from - first_to; }
};

// What it would save in the mean to know a speed before chips are chosen.
struct WorthOfKnowing {
  std::string what;
  double saves = 0;
};

struct OutcomeQuestion {
  PlanObjective objective = PlanObjective::kUsd;
  std::optional<double> most_days = {}, most_usd = {};
  double days_probability = 0.5, usd_probability = 0.5;  // with which a choice is to meet them
  std::uint64_t seed = 1;
  int draws = 2000;
  std::vector<VariedNumber> vary = {};
};

std::vector<ChoiceOutcome> outcomes_of(const OutcomeQuestion& question,
                                       const std::vector<ChoiceFacts>& choices);

// What decides between two choices, the widest swing first; `second` may be null.
std::vector<AssumptionSwing> swings_of(const OutcomeQuestion& question, const ChoiceFacts& first,
                                       const ChoiceFacts* second);

// Of each speed that choices have, most worth first. Perfect knowledge: a measurement saves at most so much.
std::vector<WorthOfKnowing> worth_of_speeds(const OutcomeQuestion& question,
                                            const std::vector<ChoiceFacts>& choices);

}  // namespace podsim
