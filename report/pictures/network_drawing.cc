// Chooses how a network is drawn.
#include "report/pictures/network_drawing.h"

#include "report/pictures/network_canvas.h"

namespace podsim {

std::optional<Drawing> network_drawing(const Fabric& fabric, const Fabric& whole, const NetworkLoad& load) {
  constexpr int kChipsOfCube = 64;
  NetworkCanvas canvas(fabric, whole, load);
  if (whole.slices.size() != 1) return tier_drawing(canvas);
  if (whole.chips / kChipsOfCube > kMostDrawnCubes) return std::nullopt;
  return torus_drawing(canvas, whole.slices.front());
}

}  // namespace podsim
