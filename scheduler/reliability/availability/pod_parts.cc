// Reads blocks and hosts off a fabric's description.
#include "scheduler/reliability/availability/pod_parts.h"

#include <algorithm>

namespace podsim {
namespace {

PodParts parts_of_one_block(const FabricSpec& fabric) {
  PodParts parts;
  parts.name = fabric.name;
  parts.chips_per_host = fabric.chips_per_host;
  if (fabric.torus && fabric.torus->cube > 0) {
    const int side = fabric.torus->cube;
    parts.block = "cube";
    parts.cube = side;
    parts.hosts_per_block = std::max(1, side * side * side / fabric.chips_per_host);
    parts.any_blocks = true;
  } else if (fabric.gpu) {
    const int hosts = fabric.gpu->gpus_per_domain / fabric.chips_per_host;
    parts.block = hosts > 0 ? "NVLink domain" : "host";
    parts.hosts_per_block = std::max(1, hosts);
    parts.any_hosts = true;
  } else {
    parts.block = "host";
  }
  return parts;
}

}  // namespace

PodParts pod_parts(const FabricSpec& fabric) {
  PodParts parts = parts_of_one_block(fabric);
  parts.blocks = fabric.chips / parts.chips_per_block();
  return parts;
}

std::string explain_uneven(const FabricSpec& fabric) {
  const PodParts parts = parts_of_one_block(fabric);
  if (fabric.chips > 0 && fabric.chips % parts.chips_per_block() == 0) return {};
  return std::to_string(fabric.chips) + " chips are not a whole number of " + parts.block + "s of " +
         std::to_string(parts.chips_per_block()) + " chips";
}

}  // namespace podsim
