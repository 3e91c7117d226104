// Simulates the forward passes of a job by themselves.
#include "planner/evaluate.h"

#include "report/summarize.h"
#include "scheduler/simulate.h"

namespace podsim {

Time evaluation_time(const LaidJob& job, const Fabric& fabric, const Adversities& adversities, bool fold) {
  const double passes = job.spec.job.evaluation_passes();
  if (passes == 0) return {};
  const LaidJob forward{job.spec, evaluation_of(job.program), job.placement};
  SimulateOptions options;
  options.seed = job.spec.seed;
  options.jitter = adversities.jitter.coefficient_of_variation;
  if (options.jitter > 0) options.steps = job.spec.steps;
  const System system = assemble(fabric, {&forward, 1}, adversities, fold);
  return Time::seconds(passes * mean_step_time(simulate(system, options).front()).in_seconds());
}

}  // namespace podsim
