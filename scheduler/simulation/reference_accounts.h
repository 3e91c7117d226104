// The accounts of the definition: rules 13 and 14 of simulate.h.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/recording.h"
#include "scheduler/simulation/state/timeline.h"
#include "scheduler/simulation/state/timeline_parts.h"

namespace podsim::reference {

// Where the time of every chip class goes, and how often every group starts every message.
class Accounts {
 public:
  // REQUIRES: `system` outlives this object.
  Accounts(const System& system, bool keep_intervals, int keep_passes);

  // What is booked of the chip from now on is of this position in its program's order.
  void turn_to(std::int32_t chip, std::int32_t position) { chips_[chip].position = position; }

  // [begin, end) was spent in a bucket; of a wait for another chip `awaited` says which.
  void book(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what,
            std::int32_t awaited = -1);

  // [begin, end) was a computation of the bucket, which lost so much to transfers.
  void book_computation(std::int32_t chip, Bucket bucket, Time begin, Time end, Time lost);

  // A computation lost time to a transfer of the pattern.
  void book_loss(std::int32_t chip, std::int32_t pattern, Time lost);

  // [begin, end) was a wait for a collective, which came to its turn on the chip's stream at `turn`, started
  // at `started`, and was reached last by `last`.
  struct Wait {
    Time begin, turn, started, end;
    std::int32_t last;
  };
  void book_wait(std::int32_t chip, std::int32_t pattern, const Wait& wait);

  // The group starts the message.
  void start(std::int32_t group, std::int32_t message) { ++started_[{group, message}]; }

  // The chip's operation of a stream ran from `begin` to `end`; `message` is -1 for a copy.
  void show(std::int32_t chip, Stream stream, std::int32_t message, Time begin, Time end) {
    recording_.show(chip, stream, message, begin, end);
  }
  // The chip has sent a transfer.
  void sent(std::int32_t chip, Stream stream, Time begin, Time end) {
    recording_.sent(chip, stream, {begin, end});
  }
  // An operation that its wait is not over with stood still for its members in [begin, end).
  void waited_before(std::int32_t chip, Time begin, Time end) {
    recording_.waited_before(at(chip), begin, end);
  }

  void end_step(int job, Time now, Time next_batch);
  int steps(int job) const { return static_cast<int>(jobs_[job].timeline.step_end.size()); }
  int fewest_steps() const;  // of a job

  // A transfer stood still on a link of this flap.
  void stood_still(int flap, Time begin, Time end) { keep_longest(standstills_, {flap, begin, end}); }

  // [job], of the steps that have ended, after so many events.
  std::vector<Timeline> timelines(std::int64_t events);

 private:
  using Starts = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;  // [group, message]
  struct Job {
    JobParts parts;
    Timeline timeline;
    Starts started;  // by the end of the last step
  };
  struct Chip {
    int job = 0;
    std::int32_t position = 0;
    ChipTotals totals;
  };
  Whereabouts at(std::int32_t chip) const { return {chip, chips_[chip].position}; }
  Time& of(std::int32_t chip, Bucket bucket) {
    return chips_[chip].totals.bucket[static_cast<std::size_t>(bucket)];
  }
  Time& exposed(std::int32_t chip, std::int32_t pattern);

  const System& system_;
  std::vector<Chip> chips_;
  std::vector<Job> jobs_;
  Starts started_;
  std::vector<Standstill> standstills_;
  Recording recording_;
};

}  // namespace podsim::reference
