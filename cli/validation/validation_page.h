// The page of a table of training runs: predicted against measured.
#pragma once

#include "cli/validation/validate_output.h"
#include "proto/pages/page.h"

namespace podsim {

Page validation_page(const RunValidation& runs);

}  // namespace podsim
