// A job that loses all chips of a server or of a cube: what it does, as podsim whatif tells it.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct Spec;

// "node:17" and "cube:12": parts whose failure takes chips away, not links.
bool names_lost_chips(const std::string& part);

struct LostChips {
  std::string why;   // the job cannot go on, or a part is wrong; then the spec is unchanged
  std::string note;  // what the job does, a sentence or two
};

// All parts at once. On GPUs the job goes on with as many replicas as the chips that are left make, with its
// global batch if that divides, else with its batch per chip. A slice of an OCS pod is made of other cubes
// while there are enough. Otherwise a job of several slices goes on with those that are whole. What was slow
// or had failed at chips that are gone is gone with them; chips that are left keep their order. REQUIRES: one
// job, and each part passes names_lost_chips.
LostChips lose_chips(Spec& spec, const std::vector<std::string>& parts);

}  // namespace podsim
