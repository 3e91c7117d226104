// Which parameters of a row must be moved to know how it answers to all of them.
#pragma once

#include <cstddef>
#include <vector>

namespace podsim {

// Parameters move the numbers of a row, several of them the same ones: a chip's own line and one that all
// chips share. To first order the answer to a parameter is the sum of the answers to independent ones.
struct SlopeBasis {
  std::vector<std::size_t> moved;  // parameters to be moved, in order
  std::vector<std::vector<double>>
      combination;  // [parameter][moved] slope = sum of combination x slope of moved
};

// effect[parameter][number]: by how much an offset of 1 moves each number of the row. A parameter that
// depends on earlier ones is a combination of them; one without effect has slope 0. REQUIRES: all effects
// have the same length.
SlopeBasis slope_basis(const std::vector<std::vector<double>>& effect);

}  // namespace podsim
