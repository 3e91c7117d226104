// Reads blocks and hosts off a fabric's description.
#include "scheduler/reliability/availability/pod_parts.h"

#include "topology/fabric_kind.h"

namespace podsim {
namespace {

PodParts parts_of_one_block(const FabricSpec& fabric) {
  const ReplaceableUnit block = kind_of(fabric).block(fabric);
  PodParts parts;
  parts.name = fabric.name;
  parts.block = block.name;
  parts.hosts_per_block = block.hosts;
  parts.chips_per_host = fabric.chips_per_host;
  parts.cube = block.side;
  parts.cube_dimensions = block.dimensions;
  parts.face_chips = block.face_chips;
  parts.any_blocks = block.any_blocks;
  parts.any_hosts = block.any_hosts;
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
