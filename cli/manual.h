// Manual pages of podsim and its verbs, for man.
#pragma once

#include <string>

#include "cli/command_text.h"

namespace podsim {

std::string program_page(const CommandText& command);
std::string verb_page(const VerbText& verb);

}  // namespace podsim
