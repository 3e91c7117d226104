// Which slice shape a torus generation makes of a number of chips.
#pragma once

#include <array>
#include <optional>

#include "topology/fabric_spec.h"

namespace podsim {

// The makeable shape with the smallest longest side (ties: the largest shortest side), sides in ascending
// order: 512 chips of an OCS pod are 8 x 8 x 8, 32 chips of a 2D torus 4 x 8. Nothing when no shape has that
// many chips. `torus` gives dimensions, cube and limits; its shape is ignored.
std::optional<std::array<int, 3>> most_cubic_shape(const TorusSpec& torus, int chips);

// The largest slice of at most this many cubes that is no longer than four times its shortest side, most
// cubic first; with `powers_of_two`, all sides are. Nothing without OCS or cubes.
std::optional<std::array<int, 3>> largest_shape(const TorusSpec& torus, int cubes, bool powers_of_two);

}  // namespace podsim
