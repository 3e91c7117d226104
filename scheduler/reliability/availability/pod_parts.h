// What a pod or a cluster consists of, as far as it can fail: blocks, the hosts in them, cables and switches.
#pragma once

#include <string>

#include "topology/fabric_spec.h"

namespace podsim {

// Blocks are cubes of an OCS pod, NVLink domains of a GPU cluster (hosts where those are larger), and hosts
// of a torus without OCS.
struct PodParts {
  std::string name;   // of the fabric
  std::string block;  // "cube", "NVLink domain", "host"
  int blocks = 0;
  int hosts_per_block = 1;
  int chips_per_host = 1;
  int cube = 0;             // chips along the side of a cube; 0 without OCS
  int cube_dimensions = 0;  // of a cube
  int face_chips = 0;       // of a face of it
  bool any_blocks = false;  // a slice can be made of any of them
  bool any_hosts = false;   // likewise

  int chips_per_block() const { return hosts_per_block * chips_per_host; }
  int hosts() const { return blocks * hosts_per_block; }
  int chips() const { return blocks * chips_per_block(); }
  // Of a cube: links inside are copper cables, and every face chip has an optical link to a switch.
  int copper_cables() const { return optical_switches() * (cube - 1); }
  int optical_links() const { return 2 * optical_switches(); }
  // Of the pod: opposite faces lead to one switch, so that a ring can close.
  int optical_switches() const { return cube_dimensions * face_chips; }
};

// `fabric.chips` counts; the slice shape of a torus does not. REQUIRES: explain_uneven is empty.
PodParts pod_parts(const FabricSpec& fabric);

// Why `fabric.chips` are not whole blocks, or empty.
std::string explain_uneven(const FabricSpec& fabric);

}  // namespace podsim
