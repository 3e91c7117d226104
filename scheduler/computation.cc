// Keeps what is left of every computation while transfers beside it come and go.
#include "scheduler/computation.h"

#include <algorithm>
#include <cmath>

namespace podsim {

Computation::Computation(const System& system, const SimulateOptions& options, EventQueue<Event>& queue,
                         Accounts& accounts)
    : system_(system),
      options_(options),
      queue_(queue),
      accounts_(accounts),
      jitter_(options.jitter),
      chips_(system.chips.size()) {
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    const StageProgram& program = system.step.stages[system.chips[c].program];
    chips_[c].interference = program.interference;
    chips_[c].skew = program.skew;
    chips_[c].transfers_of.resize(system.patterns.size());
  }
}

void Computation::begin(std::int32_t c, Time now, Time duration) {
  double scale = (1 + chips_[c].skew) / system_.chips[c].speed;
  if (options_.jitter > 0)
    scale *= jitter_(random_normal(options_.seed, RandomPurpose::kJitter,
                                   static_cast<std::uint64_t>(system_.chips[c].representative),
                                   chips_[c].operations++));
  start(c, now, {std::llround(static_cast<double>(duration.ps) * scale)}, false);
}

void Computation::begin_pause(std::int32_t c, Time now, Time duration) { start(c, now, duration, true); }

void Computation::start(std::int32_t c, Time now, Time duration, bool pause) {
  Chip& chip = chips_[c];
  chip.computing = true;
  chip.pausing = pause;
  chip.updated = now;
  chip.left_ps = duration.ps;
  schedule_end(c, now);
}

double Computation::slowdown(const Chip& chip) const {
  return chip.transfers > 0 && !chip.pausing ? 1 + chip.interference : 1;
}

void Computation::schedule_end(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  const Time left{std::llround(static_cast<double>(chip.left_ps) * slowdown(chip))};
  queue_.push(now + left, {Event::Kind::kComputed, c, ++chip.version});
}

void Computation::change_transfers(std::int32_t c, std::int32_t pattern, int difference, Time now) {
  Chip& chip = chips_[c];
  if (chip.computing) settle(c, now);
  const double before = slowdown(chip);
  chip.transfers += difference;
  chip.transfers_of[pattern] += difference;
  if (chip.computing && slowdown(chip) != before) schedule_end(c, now);
}

// Books what the computation has done since it was last looked at. What it lost to transfers is their exposed
// time; of several at once the first pattern is charged.
void Computation::settle(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  const double slow = slowdown(chip);
  const Time elapsed = now - chip.updated;
  const Time done = slow == 1 ? elapsed : Time{std::llround(static_cast<double>(elapsed.ps) / slow)};
  const Time lost = elapsed - done;
  chip.updated = now;
  chip.left_ps = std::max<std::int64_t>(0, chip.left_ps - done.ps);
  chip.lost += lost;
  if (lost.ps == 0) return;
  std::int32_t pattern = 0;
  while (chip.transfers_of[pattern] == 0) ++pattern;
  accounts_.slow_down(c, pattern, lost);
}

Time Computation::end(std::int32_t c, Time now) {
  settle(c, now);
  Chip& chip = chips_[c];
  const Time lost = chip.lost;
  chip.computing = false;
  chip.lost = {};
  return lost;
}

}  // namespace podsim
