// Leaves out slices, then the flows that have lost an end, then what is empty.
#include "report/tracks/track_excerpt.h"

#include <algorithm>
#include <map>
#include <set>

namespace podsim {
namespace {

// Flows with both ends, numbered anew in their order: those between stages stay the first.
void keep_whole_flows(StepTracks& step) {
  std::set<int> sent, received;
  for (const TrackGroup& group : step.groups)
    for (const StepTrack& track : group.tracks)
      for (const TrackSlice& slice : track.slices) {
        sent.insert(slice.sends.begin(), slice.sends.end());
        if (slice.receives >= 0) received.insert(slice.receives);
      }
  std::map<int, int> number;
  int transfers = 0;
  for (const int flow : sent) {
    if (!received.contains(flow)) continue;
    number.emplace(flow, static_cast<int>(number.size()));
    transfers += flow < step.transfers ? 1 : 0;
  }
  for (TrackGroup& group : step.groups)
    for (StepTrack& track : group.tracks)
      for (TrackSlice& slice : track.slices) {
        std::erase_if(slice.sends, [&](int flow) { return !number.contains(flow); });
        for (int& flow : slice.sends) flow = number.at(flow);
        const auto kept = number.find(slice.receives);
        slice.receives = kept == number.end() ? -1 : kept->second;
      }
  step.transfers = transfers;
  step.arrivals = static_cast<int>(number.size()) - transfers;
}

void cut(StepCounter& counter, const TrackWindow& window) {
  std::vector<std::pair<Time, double>> kept;
  for (const auto& [at, value] : counter.values) {
    if (at > window.to) break;
    if (at <= window.from) kept.clear();
    kept.emplace_back(std::max(at, window.from), value);
  }
  counter.values = std::move(kept);
}

}  // namespace

StepTracks excerpt(StepTracks step, const TrackExcerpt& part) {
  if (part.all()) return step;
  const auto left_out = [&](int stage) {
    return stage >= 0 && !part.stages.empty() && !std::ranges::binary_search(part.stages, stage);
  };
  std::erase_if(step.groups, [&](const TrackGroup& group) { return left_out(group.stage); });
  for (CounterGroup& group : step.counters)
    std::erase_if(group.counters, [&](const StepCounter& counter) { return left_out(counter.stage); });
  if (part.window) {
    const TrackWindow& window = *part.window;
    for (TrackGroup& group : step.groups)
      for (StepTrack& track : group.tracks)
        std::erase_if(track.slices, [&](const TrackSlice& slice) {
          return slice.end <= window.from || slice.begin >= window.to;
        });
    for (CounterGroup& group : step.counters)
      for (StepCounter& counter : group.counters) cut(counter, window);
  }
  keep_whole_flows(step);
  for (TrackGroup& group : step.groups)
    std::erase_if(group.tracks, [](const StepTrack& track) { return track.slices.empty(); });
  std::erase_if(step.groups, [](const TrackGroup& group) { return group.tracks.empty(); });
  std::erase_if(step.counters, [](const CounterGroup& group) { return group.counters.empty(); });
  return step;
}

Time end_of(const StepTracks& step) {
  Time end;
  for (const TrackGroup& group : step.groups)
    for (const StepTrack& track : group.tracks)
      for (const TrackSlice& slice : track.slices) end = std::max(end, slice.end);
  return end;
}

std::vector<int> stages_of(const StepTracks& step) {
  std::set<int> stages;
  for (const TrackGroup& group : step.groups)
    if (group.stage >= 0) stages.insert(group.stage);
  return {stages.begin(), stages.end()};
}

}  // namespace podsim
