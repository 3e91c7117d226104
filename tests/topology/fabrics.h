// Fabrics that several topology tests ask for.
#pragma once

#include "tests/topology/torus_spec.h"
#include "topology/fabric.h"
#include "topology/fabric_spec.h"

namespace podsim {

// An OCS pod of 4x4x4 cubes, such as v4 or v5p.
inline FabricSpec ocs_spec(std::array<int, 3> shape, bool twisted = false) {
  FabricSpec spec = torus_spec(shape, 4);
  spec.torus->twisted = twisted;
  return spec;
}

// A 2D torus that closes to rings of 16 only, such as v5e or v6e.
inline FabricSpec flat_spec(int x, int y) {
  FabricSpec spec = torus_spec({x, y, 1}, 0, {16});
  spec.torus->dimensions = 2;
  spec.torus->max_chips = 256;
  return spec;
}

// `slices` OCS slices over a DCN of 25 GB/s per host of 4 chips.
inline FabricSpec multislice_spec(std::array<int, 3> shape, int slices) {
  FabricSpec spec = ocs_spec(shape);
  spec.chips *= slices;
  spec.slices = slices;
  spec.dcn = {.bandwidth = {25e9}, .efficiency = 1, .latency = Time::seconds(5e-6)};
  return spec;
}

// Nodes of 8 GPUs, 50 GB/s of NIC per GPU; leaves of 32 NICs, spines of 64 leaves, cores of 16 spines.
inline FabricSpec gpu_spec(int gpus, bool rail_optimised = true) {
  FabricSpec spec;
  spec.name = "gpu";
  spec.chips = gpus;
  spec.gpu.emplace();
  spec.gpu->rail_optimised = rail_optimised;
  spec.gpu->nvlink = {.bandwidth = {450e9}, .efficiency = 0.8, .latency = Time::seconds(1e-6)};
  spec.gpu->nic = {.bandwidth = {50e9}, .efficiency = 1, .latency = Time::seconds(2e-6)};
  spec.gpu->tiers = {{.down = 32}, {.down = 64}, {.down = 16}};
  return spec;
}

}  // namespace podsim
