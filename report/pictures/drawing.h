// A drawing without axes, as SVG, and what its boxes tell whoever points to them.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct DrawnBox {
  double x = 0, y = 0;
  std::string text;
};

struct Drawing {
  std::string svg;  // a file
  double width = 0, height = 0;
  double box_width = 0, box_height = 0;  // of all of them
  std::vector<DrawnBox> boxes = {};
};

}  // namespace podsim
