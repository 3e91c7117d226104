// The page of training runs of weeks.
#pragma once

#include <span>
#include <string>

#include "proto/pages/page.h"
#include "report/answer/reliability.h"

namespace podsim {

// `json` is an object of one report, a list of several.
Page reliability_page(std::span<const ReliabilityReport> reports, const std::string& json,
                      const std::string& text);

}  // namespace podsim
