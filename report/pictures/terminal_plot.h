// Pictures in letters, for terminals.
#pragma once

#include <string>

#include "report/pictures/picture.h"

namespace podsim {

struct TerminalLook {
  int columns = 80;
  bool colour = false;
  bool unicode = false;  // else ASCII alone
};

// Boxes as bars, one a line, as long as they are; dots and lines on a plane. Pictures of cells or areas have
// no such drawing: nothing.
std::string terminal_plot(const Picture& picture, const TerminalLook& look);

}  // namespace podsim
