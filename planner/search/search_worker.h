// What one thread of a search works with.
#pragma once

#include <cstdint>

#include "planner/bounds/lighter_stems.h"
#include "planner/bounds/mesh_contexts.h"
#include "planner/bounds/pass_tables.h"
#include "planner/search/search_options.h"
#include "prediction/evaluator.h"

namespace podsim {

// Remembers meshes, and layouts that it has timed. Not for several threads at once.
struct SearchWorker {
  // REQUIRES: all of them outlive this object.
  SearchWorker(const Space& of, const Fabric& fabric, const LighterStems& lighter)
      : space(of), contexts(fabric), tables(of, contexts), lighter_tables(of, lighter, contexts) {}
  SearchWorker(const SearchWorker&) = delete;
  SearchWorker& operator=(const SearchWorker&) = delete;

  // Its step, simulated or known from before. Throws EventBudgetSpent.
  EvaluatedStep step_of(const JobLayout& layout, const SearchOptions& options, std::int64_t most_events) {
    PredictOptions how;
    how.memory_advice = false;
    how.most_events = most_events;
    const auto simulated = [&] { return evaluator.predict(with_layout(space.spec(), layout), how).report; };
    return options.evaluate ? options.evaluate(layout, simulated)
                            : EvaluatedStep{main_figures(simulated()), false};
  }

  const Space& space;
  MeshContexts contexts;
  PassTables tables;
  LighterTables lighter_tables;
  Evaluator evaluator;
};

}  // namespace podsim
