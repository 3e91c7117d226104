// Settles at every instant at which the pace may change.
#include "scheduler/simulation/reference_computations.h"

#include <algorithm>
#include <utility>

#include "engine/rounding.h"
#include "engine/time_limits.h"

namespace podsim::reference {
namespace {

// At full speed to the picosecond, however long.
Time scaled(Time time, double factor) {
  return factor == 1 ? time : nearest(static_cast<double>(time.ps) * factor);
}

}  // namespace

Computations::Computations(const System& system, const SimulateOptions& options, Events& events,
                           Accounts& accounts, std::function<void(std::int32_t)> ended)
    : system_(system),
      seed_(options.seed),
      draws_(options.jitter > 0),
      jitter_(options.jitter),
      events_(events),
      accounts_(accounts),
      ended_(std::move(ended)),
      chips_(system.chips.size()) {
  for (std::size_t c = 0; c < chips_.size(); ++c)
    chips_[c].interference = system.step.stages[system.chips[c].program].interference;
}

void Computations::vary(std::int32_t c, double factor) {
  const ChipClass& chip = system_.chips[c];
  chips_[c].scale = (1 + system_.step.stages[chip.program].skew) / chip.speed * factor;
}

Time Computations::draw_length(std::int32_t c, Time duration) {
  Chip& chip = chips_[c];
  if (!draws_) return scaled(duration, chip.scale);
  const auto entity = static_cast<std::uint64_t>(system_.chips[c].representative);
  const double drawn = random_normal(seed_, RandomPurpose::kJitter, entity, chip.drawn++);
  const double scale = chip.scale * jitter_(drawn);
  check_computation(static_cast<double>(duration.ps) * scale * (1 + chip.interference));
  return scaled(duration, scale);
}

Time Computations::joined(std::int32_t c, Time first, Time second) const {
  check_computation(static_cast<double>((first + second).ps) * (1 + chips_[c].interference));
  return first + second;
}

void Computations::begin(std::int32_t c, Time now, Time length, bool pause) {
  Chip& chip = chips_[c];
  chip.under_way = true;
  chip.pause = pause;
  chip.left = length;
  chip.at = now;
  chip.lost = {};
  chip.pace_before.reset();
  foresee(c, now);
}

void Computations::foresee(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  chip.pace = chip.pause ? 1 : (chip.draining.empty() ? 1 : 1 + chip.interference) * chip.own;
  // A speed may be so low that the end is beyond all time, and change before that.
  const Time last = kLongestRun + kLongestStep;
  const bool ends = static_cast<double>(chip.left.ps) * chip.pace < static_cast<double>((last - now).ps);
  chip.end = chip.pace == chip.pace_before ? chip.end_before
             : ends                        ? now + scaled(chip.left, chip.pace)
                                           : last;
  events_.push(chip.end, [this, c, end = chip.end] { this->end(c, end); });
}

void Computations::settle(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  if (chip.at == now) return;
  const Time elapsed = now - chip.at,
             done = chip.pace == 1 ? elapsed : nearest(static_cast<double>(elapsed.ps) / chip.pace);
  if (!chip.pause && chip.pace != chip.own) {
    const Time lost = elapsed - std::min(elapsed, scaled(done, chip.own));
    accounts_.book_loss(c, chip.draining.begin()->first, lost);
    chip.lost += lost;
  }
  chip.left = std::max(Time{}, chip.left - done);
  chip.at = now;
  chip.pace_before = chip.pace;
  chip.end_before = chip.end;
}

template <class Change>
void Computations::change_pace(std::int32_t c, Time now, Change&& change) {
  Chip& chip = chips_[c];
  const bool computes = chip.under_way && !chip.pause;
  if (computes) settle(c, now);  // also where it ends now: what begins at the end has taken nothing from it
  change(chip);
  if (computes && chip.end > now) foresee(c, now);
}

void Computations::change_transfers(std::int32_t c, std::int32_t pattern, int difference, Time now) {
  if (chips_[c].interference == 0) return;
  change_pace(c, now, [&](Chip& chip) {
    if ((chip.draining[pattern] += difference) == 0) chip.draining.erase(pattern);
  });
}

void Computations::change_speed(std::int32_t c, double share, Time now) {
  change_pace(c, now, [&](Chip& chip) { chip.own = 1 / share; });
}

// Unless another end has been foreseen since.
void Computations::end(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  if (!chip.under_way || chip.end != now) return;
  settle(c, now);
  chip.under_way = false;
  ended_(c);
}

}  // namespace podsim::reference
