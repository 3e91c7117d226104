// What owning costs as tables and as JSON.
#pragma once

#include <string>

#include "prediction/owning.h"

namespace podsim {

std::string owning_table(const OwningReport& report);
std::string owning_json(const OwningReport& report, const std::string& sha256);  // of what was asked

}  // namespace podsim
