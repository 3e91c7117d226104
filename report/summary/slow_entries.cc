// Says entries in words, and tells a stall from a restart.
#include "report/summary/slow_entries.h"

#include <algorithm>

#include "engine/words.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string name_of(PartKind kind, bool several) {
  std::string name(to_string(kind));
  std::replace(name.begin(), name.end(), '_', ' ');
  return several ? name + "s" : name;
}

std::string list(const std::vector<int>& numbers) { return separated_numbers(numbers, ", "); }

std::string parts(const Selector& which) {
  const bool one = which.numbers.size() == 1 && which.numbers[0].first == which.numbers[0].second;
  std::string text = name_of(which.kind, !one);
  for (std::size_t i = 0; i < which.numbers.size(); ++i) {
    const auto& [first, last] = which.numbers[i];
    text += (i == 0 ? " " : ", ") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
  }
  if (!which.stages.empty()) text += " of stage " + list(which.stages);
  if (!which.data_ranks.empty()) text += " of data rank " + list(which.data_ranks);
  if (which.random_fraction < 1) return shortest(which.random_fraction * 100) + "% of " + text;
  return which.numbers.empty() ? "all " + text : text;
}

std::string effect(const Degradation& entry) {
  if (entry.cause == Degradation::Cause::kFlap) return "down";
  if (entry.cause == Degradation::Cause::kBackground)
    return percent(1 - entry.factor.mean) + " taken by other jobs";
  return entry.factor.shape == SpeedFactor::Shape::kFixed ? "at speed " + shortest(entry.factor.mean)
                                                          : "at random speeds";
}

std::string when(const Season& season) {
  std::string text;
  for (std::size_t i = 0; i < season.windows.size() && i < 2; ++i)
    text += (i == 0 ? " from " : " and from ") + shortest(season.windows[i].first.in_seconds()) + " s to " +
            shortest(season.windows[i].second.in_seconds()) + " s";
  if (season.windows.size() > 2)
    text += " and in " + std::to_string(season.windows.size() - 2) + " more windows";
  if (season.repeat.ps > 0) text += " of every " + shortest(season.repeat.in_seconds()) + " s";
  if (season.swing_amplitude > 0)
    text += ", less up to " + percent(season.swing_amplitude) + " every " +
            shortest(season.swing_period.in_seconds()) + " s";
  if (season.chance_slot.ps > 0) text += ", in " + percent(season.chance_share) + " of the time by chance";
  return text;
}

}  // namespace

std::string describe(const Degradation& entry) {
  const std::string chip = "chip " + std::to_string(entry.chip),
                    speed = " at speed " + shortest(entry.factor.mean);
  if (entry.cause == Degradation::Cause::kSlowChip) return chip + speed;
  if (entry.cause == Degradation::Cause::kSlowLink)
    return std::string(to_string(entry.link)) + " of " + chip + speed;
  return parts(entry.which) + " " + effect(entry) + when(entry.season);
}

std::vector<SlowEntry> slow_entries(std::span<const Degradation> entries, std::span<const Hit> hits,
                                    std::span<const Standstill> standstills) {
  std::vector<SlowEntry> result;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (!entries[e].by_selector()) continue;
    SlowEntry& entry = result.emplace_back();
    entry.what = describe(entries[e]);
    entry.parts = hits[e].parts;
    entry.chips = hits[e].chips;
    entry.links = hits[e].links;
    if (entries[e].cause != Degradation::Cause::kFlap) continue;
    FlapOutcome& flap = entry.flap.emplace();
    flap.library_timeout = entries[e].library_timeout;
    for (const Standstill& still : standstills) {
      if (still.entry != static_cast<int>(e)) continue;
      flap.begin = still.begin;
      flap.stood_still = still.end - still.begin;
    }
  }
  return result;
}

std::string slow_entries_table(const Report& report) {
  Rows rows = {{"slow or busy parts", "parts", "chips", "links"}};
  Rows flaps = {{"links that flap", "stood still, s", "time-out, s", ""}};
  for (const SlowEntry& entry : report.slow_entries) {
    rows.push_back(
        {entry.what, std::to_string(entry.parts), std::to_string(entry.chips), std::to_string(entry.links)});
    if (!entry.flap) continue;
    const FlapOutcome& flap = *entry.flap;
    const Time dead = flap.begin + flap.library_timeout;
    flaps.push_back({entry.what, fixed(flap.stood_still.in_seconds(), 3),
                     fixed(flap.library_timeout.in_seconds(), 3),
                     flap.restart()             ? "job restart at " + fixed(dead.in_seconds(), 3) + " s"
                     : flap.stood_still.ps == 0 ? "nothing to send"
                                                : "stall"});
  }
  return align(rows) + (flaps.size() > 1 ? "\n" + align(flaps) : "");
}

}  // namespace podsim
