// Looks up factors and edges in staircases and slots.
#include "scheduler/question/speed_profile.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

// So many slots are looked through for the next one that differs; where none does, the last of them counts as
// an edge at which nothing changes.
constexpr int kSlotsAhead = 4096;

// n times `length` after 0, or never.
Time times(std::int64_t n, Time length) {
  PODSIM_CHECK(length.ps > 0, "periods and slots have a length");
  return n > INT64_MAX / length.ps ? Time::max() : n * length;
}

auto step_after(const Staircase& staircase, Time offset) {
  return std::upper_bound(staircase.steps.begin(), staircase.steps.end(), offset,
                          [](Time time, const auto& step) { return time < step.first; });
}

double level_of(const Staircase& staircase, Time now) {
  const Time offset = staircase.period.ps == 0 ? now : Time{now.ps % staircase.period.ps};
  const auto after = step_after(staircase, offset);
  return after == staircase.steps.begin() ? 1 : std::prev(after)->second;
}

Time next_level(const Staircase& staircase, Time now) {
  if (staircase.steps.empty()) return Time::max();
  if (staircase.period.ps == 0) {
    const auto after = step_after(staircase, now);
    return after == staircase.steps.end() ? Time::max() : after->first;
  }
  const std::int64_t period = now.ps / staircase.period.ps;
  const Time begin = period * staircase.period;
  const auto after = step_after(staircase, now - begin);
  if (after == staircase.steps.end()) return times(period + 1, staircase.period);
  return after->first > Time::max() - begin ? Time::max() : begin + after->first;
}

}  // namespace

bool Chance::there(std::uint64_t seed, std::int64_t slot_number) const {
  return random_uniform(seed, RandomPurpose::kSlowSlot, entity, static_cast<std::uint64_t>(slot_number)) <
         share;
}

double Wave::at(Time now, std::uint64_t seed) const {
  if (chance && !chance->there(seed, now.ps / chance->slot.ps)) return 1;
  return level_of(staircase, now);
}

Time Wave::next_edge(Time now, std::uint64_t seed) const {
  const Time step = next_level(staircase, now);
  if (!chance) return step;
  const std::int64_t slot = now.ps / chance->slot.ps;
  const bool there = chance->there(seed, slot);
  std::int64_t next = slot + 1;
  while (next < slot + kSlotsAhead && chance->there(seed, next) == there) ++next;
  const Time change = times(next, chance->slot);
  return there ? std::min(step, change) : change;
}

double factor_at(const SpeedProfile& profile, Time now, std::uint64_t seed) {
  double factor = 1;
  for (const Wave& wave : profile) factor *= wave.at(now, seed);
  return factor;
}

Time next_edge(const SpeedProfile& profile, Time now, std::uint64_t seed) {
  Time next = Time::max();
  for (const Wave& wave : profile) next = std::min(next, wave.next_edge(now, seed));
  return next;
}

Staircase windows(const std::vector<std::pair<Time, Time>>& windows, double factor, Time period) {
  Staircase staircase{{}, period};
  if (period.ps > 0) staircase.steps.emplace_back(Time{}, 1.0);
  for (const auto& [from, to] : windows) {
    PODSIM_CHECK(from < to && (period.ps == 0 || to <= period), "a window ends after it began");
    if (!staircase.steps.empty() && staircase.steps.back().first == from) staircase.steps.pop_back();
    staircase.steps.emplace_back(from, factor);
    if (period.ps == 0 || to < period) staircase.steps.emplace_back(to, 1.0);
  }
  return staircase;
}

Staircase swing(double high, double amplitude, Time period, int levels) {
  PODSIM_CHECK(levels > 0 && period.ps >= levels, "each level lasts for a picosecond at least");
  PODSIM_CHECK(amplitude >= 0 && amplitude <= 1, "a swing takes at most all of the speed");
  Staircase staircase{{}, period};
  for (int i = 0; i < levels; ++i) {
    const double phase = (2.0 * i + 1) / levels;  // 0 to 2
    const double x = phase < 1 ? phase : 2 - phase;
    const Time begin{period.ps / levels * i};
    staircase.steps.emplace_back(begin, high * (1 - amplitude * (x * x * (3 - 2 * x))));
  }
  return staircase;
}

}  // namespace podsim
