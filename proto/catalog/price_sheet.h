// A user's own prices as a table, the same as a prices block of a catalogue file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/problem.h"

namespace podsim {

// The text of a catalogue file. Of a file *.csv with columns chip, term and usd_per_chip_hour, and any of
// low_usd_per_chip_hour, high_usd_per_chip_hour, provider, region, kind, minimum_days, date and source, a
// price list with the name of the file, whose chips have the names of these entries; of another table
// nothing. A chip that no entry has is a problem where the name of one is near. Nothing and its problems
// where it has some.
std::optional<std::string> as_catalog_text(const std::string& file, const std::string& text,
                                           const Catalog::Entries& entries, std::vector<Problem>& problems);

}  // namespace podsim
