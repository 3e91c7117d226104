// What becomes of a job when a link or a switch fails, beside the step that goes round it.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct Spec;

// A sentence or two, empty where no part is named. `failed` are parts as `podsim whatif --fail` takes them,
// without those whose chips are lost with them.
std::string told_of_failed_links(const Spec& spec, const std::vector<std::string>& failed);

}  // namespace podsim
