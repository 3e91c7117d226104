// Where the time of every chip class goes, and what every link class carries, while a step is simulated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/sharing.h"
#include "scheduler/system.h"
#include "scheduler/timeline.h"

namespace podsim {

class Accounts {
 public:
  Accounts(const System& system, bool keep_intervals);

  // A chip class spent [begin, end) in a bucket, except for what `slow_down` has booked of it.
  void spend(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what, Time booked = {});

  // A chip waited from `begin` to `end` for a collective that was its turn at `reached` and started at
  // `started`.
  struct Wait {
    Time begin, reached, started, end;
  };
  // Before its turn (the stream's earlier operations) and after the start it is communication; from its turn
  // until the last member came it is waiting for peers, caused by that member.
  void wait(std::int32_t chip, std::int32_t pattern, const Wait& wait, std::int32_t last_member);

  // A chip's computation lost this much to a transfer of the pattern that ran beside it: exposed
  // communication, or bubble for a transfer between stages.
  void slow_down(std::int32_t chip, std::int32_t pattern, Time lost);

  // A phase of `work` progress has these uses of links.
  void carry(std::span<const Use> uses, double work);

  void end_step(Time time) { step_end_.push_back(time); }

  Timeline timeline(std::int64_t events);  // hands everything over

 private:
  CommunicationClass describe(std::size_t pattern) const;

  const System& system_;
  const bool keep_intervals_;
  std::vector<ChipTotals> totals_;
  std::vector<double> link_bytes_;
  std::vector<Interval> intervals_;
  std::vector<Time> step_end_;
};

}  // namespace podsim
