// A simulated step as tracks of nested slices, for pictures along time: a group of tracks for each class of
// chips, a track for each of its streams.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/units.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"
#include "workload/partition/program.h"

namespace podsim {

// Something that a track shows from `begin` to `end`.
struct TrackSlice {
  Time begin, end;
  std::string name;
  std::string algorithm = {};       // of a collective
  std::int64_t bytes = -1;          // of a collective
  int microbatch = -1, chunk = -1;  // of one pass
  std::string layers = {};          // of a pass: "0-7"
  double flops = -1;                // of a pass, on one chip
  std::string shape = {};           // of its largest matmul
  std::vector<int> sends = {};      // flows of StepTracks that begin here
  int receives = -1;                // the one that ends here
  std::string awaited = {};         // of a wait: the group of whom it was for
};

// Slices from the first to the last; those that begin together from the longest to the shortest. One that
// begins before another has ended ends no later: it lies within it.
struct StepTrack {
  std::string name;
  std::vector<TrackSlice> slices;
};

struct TrackGroup {
  std::string name;  // "stage 3, chip 192 and 63 alike"
  std::vector<StepTrack> tracks;
  int stage = -1;  // none
};

// A quantity along a step: each value holds until the next.
struct StepCounter {
  std::string name;
  std::vector<std::pair<Time, double>> values;
  int stage = -1;  // none
};

struct CounterGroup {
  std::string name, unit;
  std::vector<StepCounter> counters;
};

struct StepTracks {
  std::string name;                // of the scenario
  std::vector<TrackGroup> groups;  // by stage, then by chip
  // Flows lead from a slice to another: the first `transfers` of them from a stage to its neighbour, the
  // others from what the last to come to a collective did before to what those do then who waited for it.
  int transfers = 0, arrivals = 0;
  std::vector<CounterGroup> counters = {};
};

// The first step of a job, whose program has what its passes compute, without counters
// (report/pictures/step_counters.h). Computations of a pass that follow each other without a wait are one
// slice. REQUIRES: the timeline has intervals.
StepTracks step_tracks(const System& system, int job, const StepProgram& program, const std::string& name,
                       const Timeline& timeline);

// Nanoseconds in pictures, which have no smaller unit, to the nearest. Order is kept, so that what nests or
// follows in picoseconds does so here.
constexpr std::int64_t nearest_ns(Time time) { return (time.ps + 500) / 1000; }

// Visits what begins and what ends on a track in order of time, every end before the next begin:
// begins(slice), ends(slice).
template <typename Begins, typename Ends>
void walk(const StepTrack& track, Begins&& begins, Ends&& ends) {
  std::vector<const TrackSlice*> open;
  for (const TrackSlice& slice : track.slices) {
    while (!open.empty() && open.back()->end <= slice.begin) {
      ends(*open.back());
      open.pop_back();
    }
    begins(slice);
    open.push_back(&slice);
  }
  for (; !open.empty(); open.pop_back()) ends(*open.back());
}

}  // namespace podsim
