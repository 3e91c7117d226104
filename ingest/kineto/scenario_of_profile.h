// A recorded step as a scenario: layers whose times were measured, between the collectives of the step.
#pragma once

#include <string>
#include <vector>

#include "ingest/imported/imported.h"
#include "ingest/kineto/ranks.h"

namespace podsim::kineto {

// Of the first rank's step of middle length: what it did between two collectives is a layer, with the gaps
// between kernels and without communication that nothing hides. Collectives beside which something was
// computed become those of weight gradients, which nobody waits for before the update; all others are waited
// for. Adds to `needs` what is missing; empty where anything is, or where no step is marked.
std::string scenario_of_profile(const std::vector<RankProfile>& ranks, const Stated& stated,
                                std::vector<Needed>& needs);

}  // namespace podsim::kineto
