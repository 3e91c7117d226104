// Puts operations of workers on tracks, from the first start of the step.
#include "report/tracks/replay_tracks.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "engine/time_limits.h"
#include "scheduler/replay/operation_times.h"
#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/replayer.h"

namespace podsim {
namespace {

// By data rank and stage; each track by its name.
using WorkerTracks = std::map<std::pair<int, int>, std::map<std::string, std::vector<TrackSlice>>>;

std::string track_of(OpType type) { return is_computation(type) ? "compute" : std::string(to_string(type)); }

TrackSlice slice_of(OpType type, std::int32_t sequence, int microbatch, int chunk, double begin_s,
                    double end_s) {
  if (!(end_s < kCountable_s))
    throw ReplayError(
        "operations of the step end after more than 100 days, which no picture along time shows");
  TrackSlice slice{Time::seconds(begin_s), Time::seconds(end_s),
                   std::string(to_string(type)) + " " + std::to_string(sequence)};
  slice.microbatch = microbatch;
  slice.chunk = chunk;
  return slice;
}

WorkerTracks recorded_tracks(const RecordedTrace& trace, std::int32_t step) {
  double first = 0;
  bool any = false;
  for (const RecordedOp& op : trace.ops) {
    if (op.step != step) continue;
    first = any ? std::min(first, op.start_s) : op.start_s;
    any = true;
  }
  WorkerTracks tracks;
  for (const RecordedOp& op : trace.ops)
    if (op.step == step)
      tracks[{op.data_rank, op.stage}][track_of(op.type)].push_back(
          slice_of(op.type, op.sequence, op.microbatch, op.chunk, op.start_s - first,
                   op.start_s - first + op.duration_s));
  return tracks;
}

WorkerTracks ideal_tracks(const RecordedTrace& trace, std::int32_t step) {
  const ReplayGraph graph = build_replay_graph(trace);
  const std::array<std::int32_t, 1> one = {step};
  const OperationTimes times = operation_times(trace, graph, one);
  Replayer replayer(graph, times);
  replayer.step_times([](const ReplayOp&, int) { return false; });
  WorkerTracks tracks;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const ReplayOp& op = graph.ops[i];
    if (op.no_op) continue;
    const auto ends = replayer.ends_of(static_cast<std::int32_t>(i));
    for (int rank = 0; rank < times.data_ranks; ++rank) {
      const double end = ends[static_cast<std::size_t>(rank)];
      tracks[{rank, op.stage}][track_of(op.type)].push_back(
          slice_of(op.type, op.sequence, op.microbatch, op.chunk,
                   std::max(0.0, end - std::max(0.0, times.ideal[i])), std::max(0.0, end)));
    }
  }
  return tracks;
}

// Clocks of workers are not exact: what overlaps would cross, which viewers drop without a word.
std::vector<StepTrack> without_overlaps(const std::string& name, std::vector<TrackSlice> slices) {
  std::ranges::stable_sort(slices, [](const TrackSlice& a, const TrackSlice& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::vector<StepTrack> lanes;
  for (TrackSlice& slice : slices) {
    auto lane = std::ranges::find_if(
        lanes, [&](const StepTrack& each) { return each.slices.back().end <= slice.begin; });
    if (lane == lanes.end()) {
      const std::string number = lanes.empty() ? "" : ", " + std::to_string(lanes.size() + 1);
      lane = lanes.insert(lanes.end(), StepTrack{name + number, {}});
    }
    lane->slices.push_back(std::move(slice));
  }
  return lanes;
}

std::string worker_name(const RecordedTrace& trace, std::pair<int, int> worker) {
  const auto rank = static_cast<std::size_t>(worker.first);
  const int number = trace.rank_number.empty() ? worker.first : trace.rank_number.at(rank);
  std::string name = "data rank " + std::to_string(number) + ", stage " + std::to_string(worker.second);
  if (!trace.ranks_alike.empty() && trace.ranks_alike.at(rank) > 1)
    name += " and " + std::to_string(trace.ranks_alike[rank] - 1) + " alike";
  return name;
}

void add_group(StepTracks& step, const std::string& name, int stage,
               std::map<std::string, std::vector<TrackSlice>>& tracks) {
  TrackGroup group{name, {}, stage};
  for (auto& [track, slices] : tracks)
    for (StepTrack& lane : without_overlaps(track, std::move(slices)))
      group.tracks.push_back(std::move(lane));
  step.groups.push_back(std::move(group));
}

}  // namespace

StepTracks replay_tracks(const std::string& name, const RecordedTrace& trace, std::int32_t step) {
  WorkerTracks recorded = recorded_tracks(trace, step), ideal = ideal_tracks(trace, step);
  StepTracks tracks{.name = name + ", step " + std::to_string(step), .groups = {}};
  for (auto& [worker, of_worker] : recorded) {
    const std::string who = worker_name(trace, worker);
    add_group(tracks, who + ": recorded", worker.second, of_worker);
    add_group(tracks, who + ": ideal", worker.second, ideal[worker]);
  }
  return tracks;
}

}  // namespace podsim
