// What a search finds below a candidate that it opens, by the bounds of the next level.
#pragma once

#include <utility>
#include <vector>

#include "planner/bounds/mesh_contexts.h"
#include "planner/bounds/pass_tables.h"
#include "planner/search/ledger.h"
#include "planner/search/open_layouts.h"
#include "planner/space/space.h"

namespace podsim {

// Stems of a timed layout, by their passes.
struct OpenedStems {
  std::vector<OpenLayouts> found;
  std::vector<std::pair<std::vector<JobLayout>, Bytes>> full;  // layouts of a stem, and the least they need
};
OpenedStems opened_stems(const Space& space, const std::vector<BoundedStem>& stems, PassTables& tables,
                         Bytes room);

// All layouts of a stem, by the times of their own pieces and by the memory of their ends.
struct OpenedStem {
  std::vector<OpenLayouts> found;
  std::vector<NearestMiss> misses;
};
OpenedStem opened_stem(const Space& space, const OpenLayouts& stem, MeshContexts& contexts, Bytes room);

}  // namespace podsim
