// By the catalogue.
#include "cli/usual_machine.h"

#include <algorithm>

#include "cli/batch.h"

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
  if (chips.size() != 1) return;
  stated.chip = chips.front();
  stated.chip_from = "that " + stated.fabric + " is built for (--chip)";
}

}  // namespace podsim
