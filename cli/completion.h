// Scripts with which shells complete the words of a podsim command.
#pragma once

#include <string>
#include <vector>

#include "cli/command_text.h"

namespace podsim {

std::vector<std::string> completion_shells();

// REQUIRES: shell is one of completion_shells().
std::string completion_script(const CommandText& command, const std::string& shell);

}  // namespace podsim
