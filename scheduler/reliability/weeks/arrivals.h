// When failures come and where they strike.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/random.h"
#include "scheduler/reliability/weeks/training_run.h"

namespace podsim {

// The failure sources of a run, and after them what lemons fail more often than others, by the source. Each
// draws from streams of its own; its failures are numbered from 0. Nothing is drawn in time order, so that
// what becomes of a failure never shifts another.
class Arrivals {
 public:
  Arrivals(const TrainingRun& run, std::uint64_t seed);

  int sources() const { return static_cast<int>(sources_.size()); }
  // Of the plan.
  const FailureSource& failure(int source) const { return run_.failures[index(source)]; }
  std::size_t index(int source) const { return sources_[static_cast<std::size_t>(source)].failure; }

  // From one failure of the source, or the start, until failure `number`; Milliseconds::max() when that is
  // not in this run.
  Milliseconds gap(int source, std::int64_t number) const;
  // Rates that change: gaps are those of the highest rate, of which so many do not happen.
  bool happens(int source, std::int64_t number, Milliseconds now) const;
  // The first node that is struck, 0 where the job is and no node, -1 for a lemon that has been removed.
  // Counts the failures of lemons.
  int strike(int source, std::int64_t number);
  Milliseconds repair_time(int source, std::int64_t number) const;

 private:
  struct Source {
    std::size_t failure = 0;
    bool of_lemons = false;
    double most_per_s = 0;
    RandomStream gap, place, repair, thinning;
  };
  void add(std::size_t failure, bool of_lemons, double per_s, std::uint64_t seed);
  void choose_lemons(std::uint64_t seed);

  const TrainingRun& run_;
  std::vector<Source> sources_;
  std::vector<int> lemons_;         // nodes
  std::vector<int> lemon_strikes_;  // [lemon]
};

}  // namespace podsim
