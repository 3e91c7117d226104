// Choices in a plane of what they take, time and money: size = chips, shape = kind of chip, colour = the
// memory that they leave free; the front of those that no other beats in both is joined.
#pragma once

#include <string>
#include <vector>

#include "report/pictures/picture.h"

namespace podsim {

struct PlaneChoice {
  std::string chip;
  int chips = 0;
  double time = 0, usd = 0;
  double memory_free = 0;                                  // share of the fullest chip's memory
  std::string label = {}, text = {}, row = {}, more = {};  // as those of PictureMark
};

// Axes, title and lines are the caller's.
std::vector<PictureSeries> plane_series(const std::vector<PlaneChoice>& choices);

}  // namespace podsim
