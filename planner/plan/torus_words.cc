// Pairs numbers of slices with shapes.
#include "planner/plan/torus_words.h"

#include <algorithm>
#include <cstdint>

#include "topology/fabric_spec.h"

namespace podsim {

std::string TorusWords::name() const {
  std::string words;
  if (slices > 0) words = " in " + std::to_string(slices) + (slices == 1 ? " slice" : " slices");
  if (!shape.empty()) words += " of " + lengths("x");
  return words;
}

std::string TorusWords::lengths(const std::string& between) const {
  std::string text;
  for (const int length : shape) text += (text.empty() ? "" : between) + std::to_string(length);
  return text;
}

std::vector<TorusWords> tori_of(const PlanScenario& scenario, int count) {
  std::vector<TorusWords> all;
  for (const std::vector<int>& shape : scenario.shapes) {
    std::int64_t chips = 1;
    for (const int length : shape) chips = std::min<std::int64_t>(chips * length, kMaxChips + 1);
    if (count % chips != 0) continue;
    const int slices = static_cast<int>(count / chips);
    if (scenario.slices.empty() || std::ranges::count(scenario.slices, slices) > 0)
      all.push_back({slices, shape});
  }
  if (all.empty() && !scenario.shapes.empty())
    return {{scenario.slices.empty() ? 0 : scenario.slices.front(), scenario.shapes.front()}};
  if (!all.empty()) return all;
  for (const int slices : scenario.slices) all.push_back({slices});
  if (all.empty()) all.emplace_back();
  return all;
}

}  // namespace podsim
