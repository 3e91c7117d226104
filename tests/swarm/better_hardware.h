// Drawn jobs on clusters that are better in one thing, and what their steps lose there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/scenario/load.h"
#include "scheduler/question/spec.h"

namespace podsim::testing {

// The job of random_scenario(seed) where nothing goes wrong; nothing where the scenario is refused or has
// several jobs.
std::optional<Spec> drawn_job(const Catalog& catalog, std::uint64_t seed);

// The job of tests/swarm/jobs/drawn_NUMBER.textproto, kept since it once lost on better hardware; what the
// draws make of a seed changes with every field that they draw. Nothing where it does not load.
std::optional<Spec> kept_job(const Catalog& catalog, int number);

// One part of a cluster made better: faster chips, or links of more bandwidth or of no latency.
struct Improvement {
  const char* name;
  void (*make)(Cluster& cluster);
};

std::vector<Improvement> improvements_of(const Cluster& cluster);

// Seconds of a step.
double step_s(const Spec& spec);
double step_s(const Spec& spec, const Improvement& improvement);
// With the shardings and algorithms that are chosen on the hardware as it was.
double step_as_chosen_before_s(const Spec& spec, const Improvement& improvement);

}  // namespace podsim::testing
