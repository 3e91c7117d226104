// Chooses how a network is drawn.
#include "report/pictures/network_drawing.h"

#include "report/pictures/network_canvas.h"

namespace podsim {

Drawing network_drawing(const Fabric& fabric, const Fabric& whole, const NetworkLoad& load) {
  NetworkCanvas canvas(fabric, whole, load);
  if (whole.slices.size() != 1) return tier_drawing(canvas);
  return torus_drawing(canvas, whole.slices.front());
}

}  // namespace podsim
