// Draws of random adversities: which a spec asks for, and all of them simulated on one system.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "report/answer/ensemble.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

struct Adversities;
struct LaidJob;
struct Spec;

// Whether steps with these adversities come out otherwise with another seed: chance has a part in them, or
// the job's documents are drawn.
bool differ_by_seed(const Spec& spec, const Adversities& adversities);

// How to simulate each draw of the adversities, for this many jobs on a fabric: draw k has the spec's seed +
// k (modulo 2^64), so that it is the only draw of the same spec with that seed. Where nothing differs by seed
// there is one draw. What else there is to say of a simulation is as in `how`, but
// intervals are kept of the first draw only.
std::vector<SimulateOptions> draws_of(const Spec& spec, const Adversities& adversities, std::size_t jobs,
                                      const SimulateOptions& how = {});

// How draws are simulated, whatever they are of. None of it changes a figure.
struct DrawOptions {
  bool fold = true;  // as FoldRequest::fold
  int threads = 1;
  std::function<void()> one_done = {};  // of several draws; called from any thread, may be empty
  TrafficPlans* plans = nullptr;        // as in assemble
};

// Jobs on a fabric with what goes wrong there.
struct SimulatedJobs {
  std::optional<Fabric> changed;  // the fabric without what failed, and with slow links; where there are any
  System system;
  std::vector<Ensemble> of_job;  // [job]

  const Fabric& on(const Fabric& healthy) const { return changed ? *changed : healthy; }
};

// Assembles the jobs on the fabric once and simulates all draws. These are added up in their order, so that
// the number of threads makes no difference; at most one finished draw per thread waits for its turn. Throws
// StepTooLong.
SimulatedJobs simulate_draws(const Fabric& healthy, std::span<const LaidJob> jobs,
                             const Adversities& adversities, std::span<const SimulateOptions> draws,
                             const DrawOptions& how = {});

}  // namespace podsim
