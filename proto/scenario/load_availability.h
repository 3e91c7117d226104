// Scenarios that ask how much of a cluster can be used; every problem at once, each with its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/scenario/load.h"
#include "scheduler/reliability/availability/availability.h"

namespace podsim {

struct LoadAvailabilityResult {
  std::optional<AvailabilityQuestion> question;  // present when there are no problems
  std::vector<Problem> problems;
  std::vector<Problem> warnings;
};

// The formats and limits of load_scenario. Of the cluster only the fabric and the number of chips count; a
// pod of a known size may leave the latter out.
LoadAvailabilityResult load_availability(const std::string& file_name, const std::string& text,
                                         const Catalog& catalog, const std::vector<Override>& overrides);

}  // namespace podsim
