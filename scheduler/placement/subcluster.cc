// Cuts a fabric at the borders of NVLink domains or torus slices.
#include "scheduler/placement/subcluster.h"

#include <utility>

#include "engine/check.h"

namespace podsim {

std::string explain_invalid_subcluster(const FabricSpec& fabric, ChipId first, int chips) {
  PODSIM_CHECK(first >= 0 && chips >= 1, "a part of a fabric has chips");
  if (chips > fabric.chips - first)
    return "chips " + std::to_string(first) + " to " + std::to_string(std::int64_t{first} + chips - 1) +
           " are not all there: the cluster has " + std::to_string(fabric.chips);
  const int unit = fabric.gpu ? fabric.gpu->gpus_per_domain : fabric.chips / fabric.slices;
  if (first % unit == 0 && chips % unit == 0) return "";
  if (fabric.torus)
    return "a job has whole slices of " + std::to_string(unit) + " chips, not chips " +
           std::to_string(first) + " to " + std::to_string(first + chips - 1);
  if (first / unit == (first + chips - 1) / unit) return "";
  return "a job begins and ends at borders of NVLink domains of " + std::to_string(unit) +
         " GPUs, or lies inside one; chips " + std::to_string(first) + " to " +
         std::to_string(first + chips - 1) + " do not";
}

FabricSpec subcluster(const FabricSpec& fabric, int chips) {
  PODSIM_CHECK(chips >= 1 && chips <= fabric.chips, "a part of a fabric has some of its chips");
  FabricSpec part = fabric;
  if (fabric.torus) part.slices = chips / (fabric.chips / fabric.slices);
  part.chips = chips;
  return part;
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
