// How a system is simulated: steps, what is random, what is kept, which shortcuts may be taken.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/question/random_delays.h"

namespace podsim {

struct Adversities;

// Who carries out the rules. All of them give the same figures; only counts of events differ.
enum class Loop : std::uint8_t {
  kReference,  // the definition, which knows nothing ahead
  kOrdered,    // one loop over all events in order of time; collectives alone on their links are known ahead
  kFast,       // the same, but parts of a system that have little to do with each other run one by one
};

const std::vector<std::string>& loop_names();  // "reference", "ordered", "fast"
Loop loop_named(std::string_view name);        // REQUIRES: it is one of them

// A simulation takes more events than it was allowed to.
struct EventBudgetSpent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SimulateOptions {
  Loop loop = Loop::kFast;
  std::uint64_t seed = 1;
  int steps = 1;      // of every job at least
  double jitter = 0;  // coefficient of variation of every computation; REQUIRES: every chip its own class
  StepVariation variation;      // REQUIRES: entities with draws of their own are in different classes
  bool keep_intervals = false;  // of representatives; memory grows with events
  int keep_passes = 0;          // Timeline::passes of so many steps at most; the same
  // Every collective drains on the shared links, phase after phase, even where it meets no other there. The
  // same times to the picosecond, more events: to test those that are known ahead
  // (uncontended_collectives.h).
  bool share_all_links = false;
  // Jumps over periods of loops that have become periodic (docs/theory/steady-state.md): same figures, fewer
  // events. Never with jitter or pauses amid a step, where nothing repeats, or while intervals or passes are
  // kept.
  bool steady = true;

  // After more events a loop gives up (EventBudgetSpent). Not heeded by Loop::kReference.
  std::int64_t most_events = INT64_MAX;

  // Hears now and then which share of the steps is done, at the end 1; may be empty.
  std::function<void(double)> share_done = {};

  // Takes over what is random in the adversities.
  void draw(const Adversities& adversities);
  bool random() const { return jitter > 0 || variation.any(); }
  // With so many chips kFast loads ahead what the next events need (event_prefetch.h). Fewer stay near the
  // processor together.
  std::size_t prefetch_from = 1024;
  // Where nothing repeats, it has parts of a system that have little to do with each other run one by one
  // (logical_processes.h), and their chips go together from launch to launch (in_lockstep.cc).
  bool processes = true, lockstep = true;

  bool may_prefetch(const System& system) const {
    return loop == Loop::kFast && system.chips.size() >= prefetch_from;
  }
  bool may_use_processes(const System& system) const {
    return loop == Loop::kFast && processes && (jitter > 0 || variation.amid_steps()) &&
           system.meshes.size() == 1 && system.profiles.empty() && !keep_intervals && !share_all_links;
  }
  bool may_jump() const {
    return steady && jitter == 0 && !variation.amid_steps() && !keep_intervals && keep_passes == 0;
  }
};

}  // namespace podsim
