// The same scenario said otherwise.
#pragma once

#include <string>
#include <vector>

namespace podsim::testing {

// Of a scenario in text format.
std::string as_json(const std::string& text);
std::string as_binary(const std::string& text);

struct ScenarioVariant {
  std::string what;  // is said otherwise: "jobs in another order"
  std::string text;
};

// Those that must take the same time to the picosecond, as far as the scenario has them: another name, an
// axis of one device more, lists and jobs in another order, a pipeline along an axis of another name, and of
// GPUs behind one switch another slow one.
std::vector<ScenarioVariant> equal_variants(const std::string& text);

}  // namespace podsim::testing
