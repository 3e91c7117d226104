// Plans that are made to be compared: cheaper than those that are carried out, and of every algorithm.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collectives/collective.h"
#include "collectives/ring_trunks.h"
#include "topology/alike_slices.h"

namespace podsim {

// As the function of that name without `slices`. With the alike slices of the fabric, the plan for a group
// over several of them may have the loads of one slice only: of the same algorithm and time, and far cheaper.
CollectivePlan plan(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
                    const AlikeSlices* slices);

// The algorithm of that plan.
Algorithm fastest_algorithm(const Fabric& fabric, const Collective& collective,
                            std::span<const ChipId> group);
Algorithm fastest_algorithm(const Fabric& fabric, const Collective& collective, const StridedGroup& group);

// That plan for each size, in order, of groups that lie evenly with the loads of one chip only
// (even_group.h): of the same algorithm and time. Transfers are planned once for all sizes. REQUIRES: these
// differ by powers of two, so that loads scale to the last bit.
std::vector<CollectivePlan> plans_of_sizes(const Fabric& fabric, CollectiveKind kind,
                                           std::span<const Bytes> sizes, std::span<const ChipId> group,
                                           const AlikeSlices* slices);

// The plan of each algorithm that applies, in enum order; likewise. REQUIRES: at least two chips.
std::vector<CollectivePlan> every_plan(const Fabric& fabric, const Collective& collective,
                                       std::span<const ChipId> group, const AlikeSlices* slices);

// As GroupPlanner::plan_with; likewise.
std::optional<CollectivePlan> plan_with(Algorithm algorithm, const Fabric& fabric,
                                        const Collective& collective, std::span<const ChipId> group,
                                        const AlikeSlices* slices);

// As GroupPlanner::plan_with, of a group that lies evenly (even_group.h): the links that one chip sends over
// stand for those of all chips, in both directions, and each load between switches for all that are alike.
// Nothing where there is no closed form.
struct EvenPlan {
  CollectivePlan plan;
  std::vector<AlikeTrunks> trunks;  // of each load between switches, in order
};
std::optional<EvenPlan> plan_evenly(Algorithm algorithm, const Fabric& fabric, const Collective& collective,
                                    const StridedGroup& group);

}  // namespace podsim
