// Draws everything from one generator, in a fixed order.
#include "tests/scheduler/simulation/random_overlap.h"

#include <algorithm>

namespace podsim::testing {

RandomOverlap random_overlap(int round) {
  Draw draw(1000 + round);
  const bool torus = draw.below(2);
  const int jobs = torus ? 1 : 1 + draw.below(2), stages = 1 << draw.below(3), data = 1 + draw.below(3);
  const int tensor = 1 << draw.below(3), chips = stages * data * tensor;
  FabricSpec spec;
  if (torus) {
    spec = ring_fabric(chips);
    spec.torus->dimensions = 3;
    spec.torus->shape = {tensor, data, stages};
  } else {
    spec = gpu_fabric(jobs * chips, tensor, tensor * (1 + draw.below(2)));
    spec.gpu->rail_optimised = false;
    spec.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  }
  if (draw.below(2)) spec.collective_launch = Time::seconds(1e-6 * draw.below(20));
  Adversities adversities = random_adversities(draw, spec);
  if (draw.below(2)) adversities.jitter.coefficient_of_variation = 0.1;
  const Fabric fabric = with_slow_links(build_fabric(spec), adversities.slow_links);
  std::vector<LaidJob> laid;
  for (int j = 0; j < jobs; ++j) {
    const RandomJob job = random_job(draw, stages, data, tensor);
    laid.push_back(lay(job.spec, job.program, fabric, j * chips));
  }
  RandomOverlap result{assemble(fabric, laid, adversities, draw.below(4) > 0), {}};
  result.options.seed = static_cast<std::uint64_t>(round);
  result.options.steps = 1 + draw.below(3);
  result.options.jitter = adversities.jitter.coefficient_of_variation;
  return result;
}

Figures figures(const Timeline& timeline) {
  Figures result;
  result.step_end = timeline.step_end;
  for (const ChipTotals& chip : timeline.chips)
    result.chips.emplace_back(chip.representative, chip.bucket, chip.exposed, chip.caused_ps, chip.waited);
  for (const LinkTotals& link : timeline.links) result.link_bytes.push_back(link.bytes.value);
  for (const Interval& each : timeline.intervals)
    result.intervals.emplace_back(each.chip, each.stream, each.begin, each.end, each.what, each.position);
  std::sort(result.intervals.begin(), result.intervals.end());
  return result;
}

}  // namespace podsim::testing
