// Means of single causes over all steps of a draw.
#include "prediction/drawn_length.h"

#include <algorithm>
#include <cmath>

#include "engine/time_limits.h"
#include "engine/unit_factors.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// What one cause adds to all steps together, in the mean and at least.
struct Added {
  const char* cause;  // as the scenario spells it
  double seconds = 0;
};

// That one of so many does, each with this probability.
double chance_of_any(double count, double probability) {
  return -std::expm1(count * std::log1p(-probability));
}

class ChanceMean {
 public:
  ChanceMean(const System& system, const SimulateOptions& draw)
      : variation_(draw.variation), steps_(draw.steps) {
    for (const ChipClass& chip : system.chips) chips_ += static_cast<double>(chip.chips);
    hosts_ = std::ceil(chips_ / system.chips_per_host);
  }

  Added longest() const {
    const Added all[] = {pauses(), stalls(), late()};
    return *std::ranges::max_element(all, {}, &Added::seconds);
  }

 private:
  // As if all workers that pause in a step did so at once.
  Added pauses() const {
    const GarbageCollection& collection = variation_.collection;
    if (collection.every_steps == 0) return {"garbage_collection"};
    const double workers = collection.of == Entity::kJob    ? 1
                           : collection.of == Entity::kHost ? hosts_
                                                            : chips_;
    return {"garbage_collection",
            steps_ * collection.pause.in_seconds() * chance_of_any(workers, 1 / collection.every_steps)};
  }

  // A host loads its own batches one after another.
  Added stalls() const {
    return {"input_stall", steps_ * variation_.input.probability * variation_.input.mean.in_seconds()};
  }

  // A step ends after its gradients.
  Added late() const {
    Added added{"late_launch"};
    for (const LateLaunch& rule : variation_.late)
      added.seconds = std::max(added.seconds, steps_ * (rule.always.in_seconds() + rule.random.in_seconds() +
                                                        rule.per_step.in_seconds() * (steps_ - 1) / 2));
    return added;
  }

  const StepVariation& variation_;
  const double steps_;
  double chips_ = 0, hosts_ = 0;
};

}  // namespace

std::string why_endless_by_chance(const System& system, std::span<const SimulateOptions> draws) {
  for (const SimulateOptions& draw : draws) {
    if (!draw.random()) continue;
    const Added longest = ChanceMean(system, draw).longest();
    if (longest.seconds <= kLongestRun_s) continue;
    return "what chance adds may take " + significant(longest.seconds / kSecondsPerDay, 3) + " days in " +
           std::to_string(draw.steps) + (draw.steps == 1 ? " step" : " steps") + ", and " +
           longest_run_words() + ": its longest part is " + longest.cause;
  }
  return "";
}

}  // namespace podsim
