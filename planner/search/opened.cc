// Bounds stems by passes and layouts by stages.
#include "planner/search/opened.h"

#include "engine/check.h"
#include "planner/bounds/stem_bounds.h"

namespace podsim {

OpenedStems opened_stems(const Space& space, const std::vector<BoundedStem>& stems, PassTables& tables,
                         Bytes room) {
  OpenedStems opened;
  for (const BoundedStem& each : stems) {
    OpenLayouts stem{each.bound, Level::kPasses, each.stem, each.bound, each.bound, each.bound, each.memory};
    std::vector<JobLayout> leaves = space.leaves(each.stem);
    const StemPasses passes = passes_of(tables, each.stem, leaves, room);
    if (passes.might_fit.empty()) {
      opened.full.emplace_back(std::move(leaves), passes.memory);
      continue;
    }
    PODSIM_CHECK(each.bound <= passes.bound,
                 "the passes of " + to_string(each.stem) + " take less than those of a lighter layout");
    stem.bound = stem.pass_bound = stem.stage_bound = passes.bound;
    opened.found.push_back(std::move(stem));
  }
  return opened;
}

OpenedStem opened_stem(const Space& space, const OpenLayouts& stem, MeshContexts& contexts, Bytes room) {
  OpenedStem opened;
  const Spec spec = with_layout(space.spec(), stem.layout);
  const StemBounds bounds(spec, contexts.of(spec));
  for (const JobLayout& leaf : space.leaves(stem.layout)) {
    const Bytes memory = bounds.memory(leaf, true);
    if (memory > room) {
      opened.misses.push_back({leaf, memory, room});
      continue;
    }
    const Time bound = rounded_down(bounds.stage_bound_s(leaf));
    PODSIM_CHECK(stem.bound <= bound,
                 "the passes of " + to_string(leaf) + " take less than those of its key");
    opened.found.push_back({bound, Level::kStages, leaf, stem.lighter_bound, stem.pass_bound, bound, memory});
  }
  return opened;
}

}  // namespace podsim
