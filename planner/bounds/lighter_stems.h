// Bounds of stems before they have tables of their own: by the passes of one that are no longer for each
// sequence.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "planner/bounds/pass_tables.h"
#include "planner/bounds/stage_bound.h"
#include "planner/space/space.h"

namespace podsim {

// What stands for a stem: on clusters whose stems share passes, whole weights and all other chips in a
// pipeline; everywhere, the largest microbatch of the space that is a multiple of the stem's. Nothing where
// weights or gradients are cut and whole ones cannot stand for them: there the partitioner chooses by bytes
// what moves.
class LighterStems {
 public:
  // REQUIRES: the space outlives this object.
  explicit LighterStems(const Space& space);

  // REQUIRES: a stem of the space.
  std::optional<JobLayout> of(const JobLayout& stem) const;

  // All stems of these, those of one mesh together and in it those of one layout.
  std::vector<std::vector<JobLayout>> by_mesh(const std::vector<JobLayout>& stems) const;

 private:
  std::optional<JobLayout> whole(JobLayout stem) const;

  const Space& space_;
  const bool routes_;                                // has experts
  std::map<JobLayout, std::set<int>> microbatches_;  // [lighter layout, but for its microbatch]
};

// Quick where stems of one lighter layout follow one another. Not for several threads at once.
class LighterTables {
 public:
  // REQUIRES: all outlive this object; stems and meshes are of the space.
  LighterTables(const Space& space, const LighterStems& lighter, MeshContexts& contexts)
      : lighter_(lighter), tables_(space, contexts, true) {}

  // A step of any of these layouts of a stem takes at least this long (docs/theory/search.md, "Lighter
  // layouts"); 0 without a lighter one. REQUIRES: there are layouts.
  Time bound(const JobLayout& stem, const std::vector<JobLayout>& leaves);

  // What no piece of the stem takes less than; nothing where it is no layer, since embedding and head may be
  // cut in another way. It holds until the next call. REQUIRES: the stem has a lighter one.
  const StageTimes& times(const JobLayout& stem);

 private:
  const LighterStems& lighter_;
  PassTables tables_;
  JobLayout layout_{};                                  // the last one
  std::map<std::pair<int, bool>, StageTimes> of_stem_;  // [microbatch, weights or gradients are cut]
};

}  // namespace podsim
