// The best layouts of a job on its cluster, and the proof that there are no better ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

#include "planner/search/answer.h"
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
  // A layout whose step takes more events to simulate is put off until nothing else could be the answer.
  std::int64_t most_events = 5'000'000;
  // Called for each layout that is to be simulated, from several threads; may know its step. Empty: all are
  // simulated.
  std::function<EvaluatedStep(const JobLayout&, const std::function<Report()>& simulate)> evaluate = {};
  // Of layouts that are simulated only those can be the answer for which this holds; empty: all. It is asked
  // by one thread at a time. Once so many have been turned away, the search is stopped.
  std::function<bool(const FoundLayout&)> admits = {};
  int most_refused = std::numeric_limits<int>::max();
  const std::atomic<bool>* stop = nullptr;                   // once true, the best so far is the answer
  std::function<void(const SearchProgress&)> progress = {};  // called now and then, from one thread at a time
};

// Best first: the layout of least bound is looked at closer, level by level, and simulated last. One is
// dropped when its bound is above the `top`-th best step, or the best x (1 + within) where that is more; ties
// go to the lesser layout. So the answer does not depend on the number of threads, nor on the order; with a
// gap, or where not all are admitted, layouts are looked at one after another, whatever the threads. Every
// simulated step is held against its bounds. A layout that takes long to simulate waits for all others, by
// which time another may have beaten its bound; otherwise it is simulated to its end.
SearchAnswer search(const Space& space, const SearchOptions& options);

// The part of 1 ... shards that has the layouts of a stem, whoever asks.
int shard_of(const JobLayout& stem, int shards);

}  // namespace podsim
