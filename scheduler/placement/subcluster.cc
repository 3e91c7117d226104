// Cuts a fabric at the borders of NVLink domains or torus slices.
#include "scheduler/placement/subcluster.h"

#include <utility>

#include "engine/check.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"

namespace podsim {

std::string explain_invalid_subcluster(const FabricSpec& fabric, ChipId first, int chips) {
  PODSIM_CHECK(first >= 0 && chips >= 1, "a part of a fabric has chips");
  if (chips > fabric.chips - first)
    return "chips " + std::to_string(first) + " to " + std::to_string(std::int64_t{first} + chips - 1) +
           " are not all there: the cluster has " + std::to_string(fabric.chips);
  return kind_of(fabric).explain_cut(fabric, first, chips);
}

FabricSpec subcluster(const FabricSpec& fabric, int chips) {
  PODSIM_CHECK(chips >= 1 && chips <= fabric.chips, "a part of a fabric has some of its chips");
  return kind_of(fabric).cut(fabric, chips);
}

Spec spec_of_job(const Spec& spec, const PlacedJob& job) {
  Spec own = spec;
  own.jobs.clear();
  own.name += "/" + job.name;
  own.job = job.job;
  own.placement = job.placement;
  own.cluster.fabric = subcluster(spec.cluster.fabric, job.chips);
  std::erase_if(own.adversities.degradations, [&](const Degradation& slow) {
    const bool own_chip = slow.chip >= job.first_chip && slow.chip < job.first_chip + job.chips;
    return !slow.by_selector() && !own_chip;
  });
  return own;
}

}  // namespace podsim
