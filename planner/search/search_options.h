// What a search is to find, who tells it steps, and what it tells meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "planner/search/incumbents.h"
#include "report/answer/report.h"
#include "report/text/text.h"

namespace podsim {

struct SearchProgress {
  // Stems that have a bound, candidates that were gone through, each of one or several layouts, and the
  // answer; of those that are known to matter. They are equal at the end alone, where the search comes to it.
  std::int64_t done = 0, to_do = 0;
  std::int64_t layouts = 0;  // found so far
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
  // What was asked of the space: two searches of it have the same answer where these are the same.
  std::string words() const {
    return "search --top " + std::to_string(top) + " --within " + shortest(within) + " --gap " +
           shortest(gap) + (pareto ? " --pareto" : "");
  }
  int threads = 1;
  int shard = 1, shards = 1;  // of the layouts only those of this part, of 1 ... shards
  bool record = false;        // what became of every layout is wanted
  // A layout whose step takes more events to simulate is put off until nothing else could be the answer.
  // Assumed: some ten times the events of Megatron 530B on 280 GPUs (0.35 million). The answer depends on it
  // only where it depends on the order, with a gap or where not all are admitted.
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

}  // namespace podsim
