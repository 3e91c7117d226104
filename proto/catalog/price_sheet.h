// A user's own prices as a table, the same as a prices block of a catalogue file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"

namespace podsim {

// The text of a catalogue file. Of a file *.csv with columns chip, term and usd_per_chip_hour, and any of
// low_usd_per_chip_hour, high_usd_per_chip_hour, provider, region, kind, minimum_days, date and source, a
// price list with the name of the file; of another table nothing. Nothing and its problems where it has some.
std::optional<std::string> as_catalog_text(const std::string& file, const std::string& text,
                                           std::vector<Problem>& problems);

}  // namespace podsim
