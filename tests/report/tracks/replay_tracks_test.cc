// Recorded steps as tracks: what was recorded, and the ideal step that the analysis speaks of.
#include "report/tracks/replay_tracks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/what_if.h"

namespace podsim::replay_tracks_test {
namespace {

// Two data ranks of one stage; that of number 1 computes half as fast. Its clock runs ahead by `ahead_s`.
RecordedTrace two_ranks(double ahead_s = 0) {
  RecordedTrace trace;
  trace.single_precision = false;
  for (const int rank : {0, 1}) {
    const double slow = rank == 0 ? 1 : 2;
    const auto add = [&](OpType type, double start, double duration, int microbatch) {
      RecordedOp op;
      op.start_s = 100 + start;
      op.duration_s = duration;
      op.step = 7;
      op.data_rank = rank;
      op.microbatch = op.chunk = op.global_chunk = static_cast<std::int16_t>(microbatch);
      op.type = type;
      trace.ops.push_back(op);
    };
    add(OpType::kForwardCompute, 0, slow, 0);
    add(OpType::kBackwardCompute, slow - ahead_s, 2 * slow, 0);
    add(OpType::kGradsReduceScatter, 3 * slow, 6.5 - 3 * slow, -1);
    add(OpType::kOptimizer, 6.5, 0.25, -1);
  }
  return trace;
}

std::vector<TrackSlice> slices_of(const StepTracks& step, const std::string& kind) {
  std::vector<TrackSlice> slices;
  for (const TrackGroup& group : step.groups)
    for (const StepTrack& track : group.tracks)
      if (group.name.ends_with(kind)) slices.insert(slices.end(), track.slices.begin(), track.slices.end());
  return slices;
}

TEST(ReplayTracks, hold_every_operation_as_it_was_recorded_from_the_start_of_the_step) {
  const RecordedTrace trace = two_ranks();
  const StepTracks step = replay_tracks("trace", trace, 7);
  ASSERT_EQ(step.groups.size(), 4u);
  EXPECT_EQ(step.groups[2].name, "data rank 1, stage 0: recorded");
  EXPECT_EQ(step.groups[3].name, "data rank 1, stage 0: ideal");
  const auto recorded = slices_of(step, "recorded");
  ASSERT_EQ(recorded.size(), trace.ops.size());
  Time sum;
  double expected = 0;
  for (const TrackSlice& slice : recorded) sum += slice.end - slice.begin;
  for (const RecordedOp& op : trace.ops) expected += op.duration_s;
  EXPECT_NEAR(sum.in_seconds(), expected, 1e-9);
  EXPECT_EQ(step.groups[2].tracks[0].slices[1].begin.ps, 2'000'000'000'000) << "behind its forward pass";
}

TEST(ReplayTracks, end_with_the_ideal_step_of_the_analysis) {
  const RecordedTrace trace = two_ranks();
  const WhatIf result = what_if(trace, {});
  Time last;
  for (const TrackSlice& slice : slices_of(replay_tracks("trace", trace, 7), "ideal"))
    last = std::max(last, slice.end);
  EXPECT_NEAR(last.in_seconds(), result.T_ideal_s, 1e-9);
  EXPECT_LT(result.T_ideal_s, result.T_s);
}

TEST(ReplayTracks, a_step_that_is_longer_than_picoseconds_can_count_is_refused) {
  RecordedTrace trace = two_ranks();
  trace.ops[0].duration_s = 1e8;
  EXPECT_THROW(replay_tracks("trace", trace, 7), ReplayError);
}

TEST(ReplayTracks, what_overlaps_by_a_clock_lies_on_a_track_of_its_own) {
  const StepTracks step = replay_tracks("trace", two_ranks(0.5), 7);
  EXPECT_EQ(step.groups[0].tracks[0].name, "compute");
  EXPECT_EQ(step.groups[0].tracks[1].name, "compute, 2");
  for (const TrackGroup& group : step.groups)
    for (const StepTrack& track : group.tracks)
      for (std::size_t i = 1; i < track.slices.size(); ++i)
        EXPECT_GE(track.slices[i].begin, track.slices[i - 1].end) << group.name << " " << track.name;
}

}  // namespace
}  // namespace podsim::replay_tracks_test
