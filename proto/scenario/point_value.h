// The number that a scenario has at a path, written there or meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/override.h"
#include "proto/text/problem.h"
#include "scheduler/question/spec.h"

namespace podsim {

// What the text says; where it says nothing, the price, the price of power, its carbon and the PUE that its
// lists have, and 1 of failure_factor. Nothing where neither says it. REQUIRES: the text can be parsed, and a
// field is at the path.
std::optional<double> point_value(const std::string& text, const std::string& path, const Spec& spec);

// What keeps a field of the scenario from having this value, or nothing: no such field, no number, out of
// range. REQUIRES: the text can be parsed with the overrides.
std::optional<Problem> wrong_setting(const std::string& text, const std::vector<Override>& overrides,
                                     const Override& setting);

}  // namespace podsim
