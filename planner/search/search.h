// The best layouts of a job on its cluster, and the proof that there are no better ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/space/space.h"
#include "report/report.h"

namespace podsim {

struct SearchProgress {
  std::int64_t bounded = 0, layouts = 0;  // layouts with a bound; of those that are open or done
  std::int64_t simulated = 0;
  Time incumbent, bound;  // of the best so far and of the least that is open; 0 = none yet
};

struct SearchOptions {
  int top = 10;
  double within = 0;    // all layouts whose step is longer than the best by this share at most, too
  double gap = 0;       // stop where nothing can be better by more than this share
  bool pareto = false;  // of step time and memory: all that no other beats in both
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;                   // once true, the best so far is the answer
  std::function<void(const SearchProgress&)> progress = {};  // called now and then, from one thread at a time
};

struct FoundLayout {
  JobLayout layout;
  Report report;
  Bytes memory;  // of the fullest chip
};

// How far a bound lay below the simulated steps, as shares of them.
struct Tightness {
  std::vector<double> shares;  // ascending
};

struct SearchCounts {
  std::int64_t layouts = 0;     // legal
  std::int64_t no_room = 0;     // do not fit in memory
  std::int64_t by_stages = 0;   // dropped by the bound of stages and streams
  std::int64_t by_relaxed = 0;  // dropped by the step without contention
  std::int64_t simulated = 0;
  std::int64_t open = 0;  // left when the search was stopped
};

// A layout that needs the least memory of those that do not fit.
struct NearestMiss {
  JobLayout layout;
  Bytes needed, room;
};

struct SearchAnswer {
  std::vector<FoundLayout> best;  // fastest first, ties by layout
  SearchCounts counts;
  Tightness of_stages, of_relaxed;  // of simulated layouts
  double gap = 0;                   // 1 - least open bound / best
  bool proven = false;              // nothing open could be better, by more than the gap that was asked for
  std::optional<NearestMiss> miss;  // where nothing fits
  std::optional<FoundLayout> own;   // the scenario's layout, where the space's words can say it and it fits
};

// Best first: the layout of least bound is looked at closer, level by level, and simulated last. One is
// dropped when its bound is above the `top`-th best step, or the best x (1 + within) where that is more; ties
// go to the lesser layout. So the answer does not depend on the number of threads, nor on the order. Every
// simulated step is held against its bounds.
SearchAnswer search(const Space& space, const SearchOptions& options);

}  // namespace podsim
