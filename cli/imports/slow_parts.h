// --slow: ranks and links of an imported step that are slower than recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/fabric.h"

namespace podsim {

// Ranks whose computations take so many times as long as recorded.
using SlowedRanks = std::vector<std::pair<std::int64_t, double>>;

// Of words such as "3=1.5", links left out; nothing where one is none, which is said.
std::optional<SlowedRanks> slowed_ranks(const std::vector<std::string>& words);

// Of words such as "nic:3=0.5x", the kind of links, their chip and the share of bandwidth that is left, as
// podsim whatif has them; ranks left out. Nothing where one is none, which is said.
std::optional<std::vector<SlowLink>> slow_links_in(const std::vector<std::string>& words);

// Whether the fabric has each of these; says which it lacks.
bool are_of(const Fabric& fabric, const std::vector<SlowLink>& links);

}  // namespace podsim
