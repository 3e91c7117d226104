// Divides chips by what is below a switch.
#include "topology/switch_runs.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

std::vector<SwitchRun> one_by_one(const RegularTree& tree, std::size_t t, ChipId first, std::int32_t count,
                                  ChipId stride) {
  std::vector<SwitchRun> runs;
  for (std::int32_t i = 0; i < count; ++i) {
    const NodeId above = tree.above(t, first + i * stride);
    if (!runs.empty() && runs.back().first == above)
      ++runs.back().chips;
    else
      runs.push_back({above, 1, 1});
  }
  return runs;
}

}  // namespace

std::vector<SwitchRun> switches_above(const RegularTree& tree, std::size_t t, ChipId first,
                                      std::int32_t count, ChipId stride) {
  PODSIM_CHECK(stride % tree.domain() == 0, "chips at whole domains from each other are of one rail");
  if (!tree.rails_stay_together() || tree.chips_below(t) % stride != 0)
    return one_by_one(tree, t, first, count, stride);
  const auto full = static_cast<std::int32_t>(tree.chips_below(t) / stride);
  std::vector<SwitchRun> runs;
  const auto add = [&](std::int32_t switches, std::int32_t chips) {
    if (switches == 0 || chips == 0) return;
    runs.push_back({tree.above(t, first), switches, chips});
    first += switches * chips * stride;
    count -= switches * chips;
  };
  const std::int32_t before = first / stride % full;  // below the first switch
  if (before > 0) add(1, std::min(count, full - before));
  add(count / full, full);
  add(1, count);
  return runs;
}

}  // namespace podsim
