// Tori as tests of networks and of collectives ask for them.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "topology/fabric_spec.h"

namespace podsim {

inline constexpr Bandwidth kIciBandwidth{50e9};  // each direction
inline constexpr Time kIciLatency{1'000'000};    // 1 us

// Every dimension closes to a ring where `cube` = 0 and `wrap_lengths` is empty.
inline FabricSpec torus_spec(std::array<int, 3> shape, int cube = 0, std::vector<int> wrap_lengths = {}) {
  FabricSpec spec;
  spec.name = "torus";
  spec.chips = shape[0] * shape[1] * shape[2];
  spec.torus.emplace();
  spec.torus->shape = shape;
  spec.torus->cube = cube;
  spec.torus->wrap_lengths = std::move(wrap_lengths);
  spec.torus->ici = {.bandwidth = kIciBandwidth, .efficiency = 1, .latency = kIciLatency};
  return spec;
}

}  // namespace podsim
