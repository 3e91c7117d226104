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

#include <optional>
#include <string>
#include <vector>

#include "planner/plan/choice_facts.h"

namespace podsim {

// One in ten lies below, one in ten above.
struct OutcomeRange {
  double p10 = 0, p50 = 0, p90 = 0;
};

struct ChoiceOutcome {
  OutcomeRange days, usd, mwh;
  double in_time = 1, in_budget = 1;       // probability to meet the deadline and the budget
  double likely_days = 0, likely_usd = 0;  // not exceeded with the probability that is asked for
  // Probability to have the least of the objective among choices that meet the limits; of what is equal in it
  // the further objectives decide, and what is equal in all shares it.
  double best = 0;
  double regret = 0;  // mean excess of the objective over the choice that turns out best
};

// An assumption at both ends of its range, all others in the middle.
struct AssumptionSwing {
  std::string what;
  double from = 0, to = 0;
  // Objective of the first choice, and that of the second less it, 0 without a second. Nothing at `to` where
  // a run does not end there.
  double first_from = 0;
  std::optional<double> first_to;
  double margin_from = 0;
  std::optional<double> margin_to;
  std::optional<double> flips_at;   // there the two tie
  std::optional<double> misses_at;  // there the first misses a limit
  std::string note = {};            // whose run does not end, and when

  // Of the first choice; infinite where its run does not end.
  double width() const;
};

// What it would save in the mean to know a speed before chips are chosen.
struct WorthOfKnowing {
  std::string what;
  double saves = 0;
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
