// The software that is assumed of a job where nobody names it: scenarios/stacks/assumed.csv.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// What is known of the job: the network of its chips, its launcher, or its compiler.
enum class KnownOfSoftware { kGpu, kTorus, kMegatron, kMaxText, kXla, kXlaOnGpus };

// Names of the catalogue, most usual first: the next one is for chips that lack the kernels of one. ENSURES:
// there is one.
std::vector<std::string> assumed_stacks(KnownOfSoftware known);
std::string assumed_stack(KnownOfSoftware known);  // the first

}  // namespace podsim
