// Adds up means, and the longest that a single draw can be.
#include "prediction/drawn_length.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/unit_factors.h"
#include "report/text/text.h"
#include "scheduler/simulation/state/step_draws.h"

namespace podsim {
namespace {

constexpr double kMost_s = 90 * kSecondsPerDay;  // of the 106 days that are simulated
// Of draws with 53 bits: an exponential one over its mean, and a normal one.
constexpr double kMostExponential = 37, kMostNormal = 8.6;

double most_lognormal(double coefficient_of_variation) {
  const double sigma = std::sqrt(std::log1p(coefficient_of_variation * coefficient_of_variation));
  return std::exp(kMostNormal * sigma - sigma * sigma / 2);
}

// What one cause adds to all steps.
struct Added {
  const char* cause;  // as the scenario spells it
  double mean_s = 0;  // of all steps together
  double most_s = 0;  // of one step
};

class ChanceBound {
 public:
  ChanceBound(const System& system, const SimulateOptions& draw)
      : variation_(draw.variation), jitter_(draw.jitter), steps_(draw.steps) {
    stages_ = static_cast<double>(system.step.stages.size());
    for (const ChipClass& chip : system.chips) chips_ += chip.chips;
    hosts_ = std::ceil(chips_ / system.chips_per_host);
  }

  Added longest() const {
    const Added all[] = {pauses(), stalls(), late()};
    return *std::ranges::max_element(all, {}, [](const Added& each) { return each.mean_s + each.most_s; });
  }

  // What computation of a step is multiplied by at most.
  double factor() const {
    double factor = most_lognormal(variation_.of_run) * most_lognormal(jitter_);
    for (const double of_step : variation_.of_step) factor *= most_lognormal(of_step);
    for (const Hiccup& hiccup : variation_.hiccups)
      factor *= (1 + kMostExponential * hiccup.mean) / (1 + hiccup.probability * hiccup.mean);
    return factor;
  }

 private:
  // Stages that pause one after the other hold each other up.
  Added pauses() const {
    const GarbageCollection& collection = variation_.collection;
    if (collection.every_steps == 0) return {"garbage_collection"};
    const double workers = collection.of == Entity::kJob    ? 1
                           : collection.of == Entity::kHost ? hosts_
                                                            : chips_;
    const double one_s = collection.pause.in_seconds() * (collection.of == Entity::kJob ? 1 : stages_);
    return {"garbage_collection", steps_ * one_s * std::min(1.0, workers / collection.every_steps),
            one_s * most_lognormal(collection.coefficient_of_variation)};
  }

  // The mean of the longest of n exponential times is 1 + 1/2 + ... + 1/n.
  Added stalls() const {
    const double waited = variation_.input.probability * hosts_, mean_s = variation_.input.mean.in_seconds();
    return {"input_stall", steps_ * mean_s * (waited < 1 ? waited : 1 + std::log(waited)),
            waited > 0 ? kMostExponential * mean_s : 0};
  }

  Added late() const {
    Added added{"late_launch"};
    for (const LateLaunch& rule : variation_.late) {
      const double always_s = rule.always.in_seconds(), more_s = rule.per_step.in_seconds(),
                   random_s = rule.random.in_seconds();
      added.mean_s += steps_ * (always_s + random_s + more_s * (steps_ - 1) / 2);
      added.most_s += always_s + more_s * (steps_ - 1) + kMostExponential * random_s;
    }
    return added;
  }

  const StepVariation& variation_;
  const double jitter_, steps_;
  double stages_ = 0, chips_ = 0, hosts_ = 0;
};

std::string days(double seconds) { return significant(seconds / kSecondsPerDay, 3) + " days"; }

// As they are drawn, step by step; that of single operations by its mean.
std::string why_drawn_factors(const System& system, const SimulateOptions& draw, double step_s) {
  const StepDraws drawn(system, draw);
  double all_s = 0;
  for (int step = 0; step < draw.steps; ++step) {
    double factor = 1;
    for (std::int32_t chip = 0; chip < static_cast<std::int32_t>(system.chips.size()); ++chip)
      factor = std::max(factor, drawn.step_factor(chip, step));
    all_s += step_s * factor;
    if (all_s > kMost_s)
      return "with what chance multiplies computation by, " + std::to_string(step + 1) + " steps may take " +
             days(all_s) + ", and podsim simulates 100 at most";
  }
  return "";
}

}  // namespace

std::string why_endless_by_chance(const System& system, std::span<const SimulateOptions> draws,
                                  double step_s) {
  for (const SimulateOptions& draw : draws) {
    if (!draw.random()) continue;
    const ChanceBound bound(system, draw);
    const Added longest = bound.longest();
    if (longest.mean_s + longest.most_s > kMost_s)
      return "what chance adds may take " + days(longest.mean_s + longest.most_s) + " in " +
             std::to_string(draw.steps) + (draw.steps == 1 ? " step" : " steps") +
             ", and podsim simulates 100 at most: its longest part is " + longest.cause;
    if (!draw.variation.factors() || bound.factor() * step_s * draw.steps <= kMost_s) continue;
    const std::string why = why_drawn_factors(system, draw, step_s);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace podsim
