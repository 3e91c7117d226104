// Gives every link what one of its class carries.
#include "report/pictures/network_load.h"

namespace podsim {

NetworkLoad network_load(const System& system, const Timeline& timeline, std::vector<LinkUse> kinds) {
  NetworkLoad load{std::move(kinds)};
  std::vector<double> of_class;
  for (const LinkTotals& totals : timeline.links) {
    const double possible = totals.bandwidth.value * timeline.step_end.back().in_seconds();
    of_class.push_back(possible > 0 ? totals.bytes.value / possible : 0);
  }
  for (const std::int32_t link_class : link_classes(system))
    load.share.push_back(link_class < 0 ? 0 : of_class[static_cast<std::size_t>(link_class)]);
  const std::vector<std::int32_t> class_of = chip_classes(system);
  for (std::size_t chip = 0; chip < class_of.size(); ++chip) {
    const std::int32_t chip_class = class_of[chip];
    if (chip_class >= 0 && system.chips[static_cast<std::size_t>(chip_class)].speed < 1)
      load.slow.push_back(static_cast<ChipId>(chip));
  }
  return load;
}

}  // namespace podsim
