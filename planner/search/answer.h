// What a search found, and what became of every layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/incumbents.h"

namespace podsim {

// Why a layout needs no closer look, or what that showed.
enum class LayoutVerdict : unsigned char {
  kNoRoomForState,  // weights, gradients and optimizer state of its stem alone do not fit
  kNoRoom,
  kByLighter,
  kByPasses,
  kByStages,
  kByRelaxed,
  kSimulated,
  kTooLong,  // its step may be longer than simulated time
  kOpen      // when the search ended
};
struct LayoutRecord {
  JobLayout layout;
  LayoutVerdict verdict;
  Time time;     // its bound, or its step where it is simulated
  Bytes memory;  // of layouts that do not fit
};

// How far a bound lay below the simulated steps, as shares of them.
struct Tightness {
  std::vector<double> shares;  // ascending
};

struct SearchCounts {
  std::int64_t layouts = 0;     // legal
  std::int64_t no_room = 0;     // do not fit in memory
  std::int64_t by_lighter = 0;  // dropped by the passes of a lighter layout
  std::int64_t by_passes = 0;   // dropped by the passes of their stem, and nothing else
  std::int64_t by_stages = 0;   // dropped by the bound of stages and streams
  std::int64_t by_relaxed = 0;  // dropped by the step without contention
  std::int64_t simulated = 0;   // or known from before
  std::int64_t known = 0;       // of them
  std::int64_t too_long = 0;    // may take longer than simulated time
  std::int64_t open = 0;        // left when the search was stopped
  std::int64_t put_off = 0;     // of all those that took too many events to be simulated at once

  SearchCounts& operator+=(const SearchCounts& other) {
    layouts += other.layouts;
    no_room += other.no_room;
    by_lighter += other.by_lighter;
    by_passes += other.by_passes;
    by_stages += other.by_stages;
    by_relaxed += other.by_relaxed;
    simulated += other.simulated;
    known += other.known;
    too_long += other.too_long;
    open += other.open;
    put_off += other.put_off;
    return *this;
  }
};

// A layout that needs the least memory of those that do not fit.
struct NearestMiss {
  JobLayout layout;
  Bytes needed, room;
};

// A layout that might be better, and cannot be simulated.
struct RefusedLayout {
  JobLayout layout;
  std::string why;
};

struct SearchAnswer {
  std::vector<FoundLayout> best;  // fastest first, ties by layout
  SearchCounts counts;
  Tightness of_lighter, of_passes, of_stages, of_relaxed;  // of simulated layouts
  double gap = 0;                                          // 1 - least open bound / best
  // Nothing open could be better, by more than the gap that was asked for. Of `refused` nothing is said.
  bool proven = false;
  bool may_lack = false;  // open layouts might be in the list, beside the best: a gap ended the search
  std::vector<RefusedLayout> refused;  // ascending, as many as counts.too_long
  std::optional<NearestMiss> miss;     // where nothing fits
  std::optional<FoundLayout> own;     // the scenario's layout, where the space's words can say it and it fits
  std::string asked;                  // of the space, in words: SearchOptions::words
  std::vector<LayoutRecord> records;  // of all layouts, ascending, where they are wanted
};

}  // namespace podsim
