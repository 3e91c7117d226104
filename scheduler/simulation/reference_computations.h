// Computations and pauses of chips in the definition of a step: rules 5 and 6 of simulate.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/event_queue.h"
#include "engine/random.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/reference_accounts.h"
#include "scheduler/simulation/state/simulate_options.h"

namespace podsim::reference {

// What happens when.
using Events = EventQueue<std::function<void()>>;

// At most one computation or pause of each chip class at a time.
class Computations {
 public:
  // Calls `ended` with a chip when what it does ends. REQUIRES: all of them outlive this object.
  Computations(const System& system, const SimulateOptions& options, Events& events, Accounts& accounts,
               std::function<void(std::int32_t)> ended);

  // Rule 5. From now on durations of the chip are multiplied by this too.
  void vary(std::int32_t chip, double factor);
  // How long a computation of this duration takes at full speed. Every call under jitter is a draw. Throws
  // StepTooLong where chance makes it longer than a step may be, as joined() does of several.
  Time draw_length(std::int32_t chip, Time duration);
  // Two that the chip does as one.
  Time joined(std::int32_t chip, Time first, Time second) const;

  // Rule 6. The chip begins to compute, or pauses.
  void begin(std::int32_t chip, Time now, Time length, bool pause);
  // A transfer of the chip begins (+1) or ends (-1).
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);
  // The chip has this share of its speed.
  void change_speed(std::int32_t chip, double share, Time now);
  // What that which ended last has lost to transfers.
  Time lost(std::int32_t chip) const { return chips_[chip].lost; }

 private:
  struct Chip {
    bool under_way = false, pause = false;
    Time left, at;                      // at full speed, at this instant
    Time end;                           // as foreseen
    double pace = 1;                    // slowdown since then
    std::optional<double> pace_before;  // this instant; none where it began then
    Time end_before;                    // foreseen then
    Time lost;
    double interference = 0;               // slowdown by transfers, less 1
    double own = 1;                        // slowdown by what changes over time
    std::map<std::int32_t, int> draining;  // [pattern] its transfers
    double scale = 1;                      // of durations
    std::uint64_t drawn = 0;
  };
  void foresee(std::int32_t chip, Time now);
  void settle(std::int32_t chip, Time now);
  void end(std::int32_t chip, Time now);
  template <class Change>
  void change_pace(std::int32_t chip, Time now, Change&& change);

  const System& system_;
  const std::uint64_t seed_;
  const bool draws_;
  const Lognormal jitter_;
  Events& events_;
  Accounts& accounts_;
  const std::function<void(std::int32_t)> ended_;
  std::vector<Chip> chips_;
};

}  // namespace podsim::reference
