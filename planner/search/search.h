// The best layouts of a job on its cluster, and the proof that there are no better ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/incumbents.h"
#include "planner/space/space.h"

namespace podsim {

struct SearchProgress {
  std::int64_t bounded = 0, layouts = 0;  // layouts with a bound; of those that are open or done
  std::int64_t simulated = 0;
  Time incumbent, bound;  // of the best so far and of the least that is open; 0 = none yet
};

// A step that was simulated, or was known before.
struct EvaluatedStep {
  MainFigures figures;
  bool known = false;
};

struct SearchOptions {
  int top = 10;
  double within = 0;    // all layouts whose step is longer than the best by this share at most, too
  double gap = 0;       // stop where nothing can be better by more than this share
  bool pareto = false;  // of step time and memory: all that no other beats in both
  int threads = 1;
  int shard = 1, shards = 1;  // of the layouts only those of this part, of 1 ... shards
  bool record = false;        // what became of every layout is wanted
  // Called for each layout that is to be simulated, from several threads; may know its step. Empty: all are
  // simulated.
  std::function<EvaluatedStep(const JobLayout&, const std::function<Report()>& simulate)> evaluate = {};
  const std::atomic<bool>* stop = nullptr;                   // once true, the best so far is the answer
  std::function<void(const SearchProgress&)> progress = {};  // called now and then, from one thread at a time
};

// Why a layout needs no closer look, or what that showed.
enum class LayoutVerdict : unsigned char {
  kNoRoomForState,  // weights, gradients and optimizer state of its stem alone do not fit
  kNoRoom,
  kByLighter,
  kByPasses,
  kByStages,
  kByRelaxed,
  kSimulated,
  kOpen  // when the search ended
};
struct LayoutRecord {
  JobLayout layout;
  LayoutVerdict verdict;
  Time time;     // its bound, or its step
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
  std::int64_t open = 0;        // left when the search was stopped

  SearchCounts& operator+=(const SearchCounts& other) {
    layouts += other.layouts;
    no_room += other.no_room;
    by_lighter += other.by_lighter;
    by_passes += other.by_passes;
    by_stages += other.by_stages;
    by_relaxed += other.by_relaxed;
    simulated += other.simulated;
    known += other.known;
    open += other.open;
    return *this;
  }
};

// A layout that needs the least memory of those that do not fit.
struct NearestMiss {
  JobLayout layout;
  Bytes needed, room;
};

struct SearchAnswer {
  std::vector<FoundLayout> best;  // fastest first, ties by layout
  SearchCounts counts;
  Tightness of_lighter, of_passes, of_stages, of_relaxed;  // of simulated layouts
  double gap = 0;                                          // 1 - least open bound / best
  bool proven = false;                // nothing open could be better, by more than the gap that was asked for
  std::optional<NearestMiss> miss;    // where nothing fits
  std::optional<FoundLayout> own;     // the scenario's layout, where the space's words can say it and it fits
  std::vector<LayoutRecord> records;  // of all layouts, ascending, where they are wanted
};

// Best first: the layout of least bound is looked at closer, level by level, and simulated last. One is
// dropped when its bound is above the `top`-th best step, or the best x (1 + within) where that is more; ties
// go to the lesser layout. So the answer does not depend on the number of threads, nor on the order; with a
// gap layouts are looked at one after another, whatever the threads. Every simulated step is held against its
// bounds.
SearchAnswer search(const Space& space, const SearchOptions& options);

// The part of 1 ... shards that has the layouts of a stem, whoever asks.
int shard_of(const JobLayout& stem, int shards);

}  // namespace podsim
