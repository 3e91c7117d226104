// The partitioner's decisions as text and as JSON.
#pragma once

#include <string>

#include "prediction/explain.h"

namespace podsim {

// Operations whose name contains `op` (all when empty).
std::string explanation_text(const Explanation& explanation, const std::string& op);
std::string explanation_json(const Explanation& explanation, const std::string& op);

}  // namespace podsim
