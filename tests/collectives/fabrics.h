// Fabrics, groups and sums of loads that the tests of collectives ask for.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "collectives/collective.h"
#include "tests/topology/torus_spec.h"
#include "topology/fabric_spec.h"

namespace podsim {

inline constexpr double kIciRate = kIciBandwidth.value;  // bytes per second, each direction
inline constexpr double kNvlinkRate = 400e9;
inline constexpr double kNicRate = 50e9;
inline constexpr double kDcnRate = 25e9;        // per host of 4 chips
inline constexpr Time kNvlinkLatency{500'000};  // one link; a hop between GPUs of a domain takes two
inline constexpr Time kNicLatency{1'000'000};
inline constexpr Time kDcnLatency{5'000'000};

inline Fabric torus(std::array<int, 3> shape) { return build_fabric(torus_spec(shape)); }

inline Fabric twisted_torus(std::array<int, 3> shape) {
  FabricSpec spec = torus_spec(shape, 4);
  spec.torus->twisted = true;
  return build_fabric(spec);
}

// No dimension closes to a ring.
inline Fabric mesh(std::array<int, 3> shape) { return build_fabric(torus_spec(shape, 0, {1})); }

inline Fabric multislice(std::array<int, 3> shape, int slices) {
  FabricSpec spec = torus_spec(shape);
  spec.chips *= slices;
  spec.slices = slices;
  spec.dcn = {.bandwidth = {kDcnRate}, .efficiency = 1, .latency = kDcnLatency};
  return build_fabric(spec);
}

// Domains of `per_domain` GPUs, rail-optimised leaves of 32 domains, non-blocking above.
inline FabricSpec gpu_spec(int gpus, int per_domain = 8) {
  FabricSpec spec;
  spec.name = "gpu";
  spec.chips = gpus;
  spec.gpu.emplace();
  spec.gpu->gpus_per_domain = per_domain;
  spec.gpu->nvlink = {.bandwidth = {kNvlinkRate}, .efficiency = 1, .latency = kNvlinkLatency};
  spec.gpu->nic = {.bandwidth = {kNicRate}, .efficiency = 1, .latency = kNicLatency};
  spec.gpu->tiers = {{.down = 32}, {.down = 64}, {.down = 64}};
  return spec;
}

inline Fabric gpus(int count, int per_domain = 8, bool nvls = false) {
  FabricSpec spec = gpu_spec(count, per_domain);
  spec.gpu->nvls = nvls;
  return build_fabric(spec);
}

inline std::vector<ChipId> first_chips(int count) {
  std::vector<ChipId> group(count);
  std::iota(group.begin(), group.end(), 0);
  return group;
}

inline std::vector<ChipId> all_chips(const Fabric& fabric) { return first_chips(fabric.chips); }

inline double busiest_bytes(const Fabric& fabric, const Phase& phase, LinkKind kind) {
  double busiest = 0;
  for (const LinkLoad& load : phase.loads)
    if (fabric.links[load.link].kind == kind) busiest = std::max(busiest, load.bytes);
  return busiest;
}

inline double least_bytes(const Fabric& fabric, const Phase& phase, LinkKind kind) {
  double least = 1e300;
  for (const LinkLoad& load : phase.loads)
    if (fabric.links[load.link].kind == kind) least = std::min(least, load.bytes);
  return least;
}

inline int loaded_links(const Fabric& fabric, const Phase& phase, LinkKind kind) {
  return static_cast<int>(std::ranges::count_if(
      phase.loads, [&](const LinkLoad& load) { return fabric.links[load.link].kind == kind; }));
}

// Bytes that chips put on their links, over all phases; relaying chips of a torus count as well.
inline double injected_bytes(const Fabric& fabric, const CollectivePlan& plan) {
  double sum = 0;
  for (const Phase& phase : plan.phases)
    for (const LinkLoad& load : phase.loads)
      if (fabric.links[load.link].from < fabric.chips) sum += load.bytes;
  return sum;
}

}  // namespace podsim
