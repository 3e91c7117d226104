// By the catalogue.
#include "cli/imports/usual_machine.h"

#include <algorithm>

#include "cli/scenarios/batch.h"

namespace podsim {

void complete_machine(Stated& stated) {
  if (stated.chip.empty() == stated.fabric.empty()) return;
  const auto catalog = open_catalog({});
  if (!catalog) return;
  if (stated.fabric.empty()) {
    const std::vector<std::string> fabrics = catalog->fabrics_of(stated.chip);
    if (fabrics.empty()) return;
    stated.fabric = fabrics.front();
    stated.fabric_from = "usual for " + stated.chip + " (--fabric)";
    return;
  }
  const auto fabric = catalog->canonical(Catalog::Section::kFabrics, stated.fabric);
  std::vector<std::string> chips;
  for (const std::string& chip : catalog->names(Catalog::Section::kChips))
    if (fabric && std::ranges::count(catalog->fabrics_of(chip), *fabric) > 0) chips.push_back(chip);
  const auto named_after =
      std::ranges::find_if(chips, [&](const std::string& chip) { return fabric->ends_with("_" + chip); });
  if (chips.size() != 1 && named_after == chips.end()) return;
  const bool alone = chips.size() == 1;
  stated.chip = alone ? chips.front() : *named_after;
  stated.chip_from =
      "that " + stated.fabric + (alone ? " is built for (--chip)" : " is named after (--chip)");
}

}  // namespace podsim
