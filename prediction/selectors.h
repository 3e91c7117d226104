// Parts of a fabric in a word, as podsim whatif takes them: "chip:137", "nic:node17/nic3", "link:4-5".
#pragma once

#include <string>

namespace podsim {

struct Spec;

// The one grammar of selectors. WHERE is a chip N, or the I-th chip of host H as nodeH/nicI (or gpuI, chipI):
//   slow:  chip:WHERE=SPEED  node:H=SPEED (all chips of the host)  nic:WHERE=SPEED  nvlink:WHERE=SPEED
//          ici:WHERE=SPEED, and by number dcn:N=SPEED (of host N)  leaf:N=SPEED  leaf_uplink:N=SPEED
//          spine:N=SPEED  spine_uplink:N=SPEED  core:N=SPEED  nvswitch:N=SPEED; SPEED is a share of the
//          healthy speed, "0.5", "0.5x" or "50%", 0.0001 at least
//   fail:  link:A-B (the cable between two neighbouring chips)  nic:WHERE  nvlink:WHERE  ici:WHERE
//          nvswitch:N  leaf:N  spine:N  core:N  ocs:D/I/J (dimension x, y or z, place on the cubes' faces)
// Each adds one adversity to the spec. What is wrong with the text, or with this fabric, or empty.
std::string add_slow(Spec& spec, const std::string& text);
std::string add_failure(Spec& spec, const std::string& text);

}  // namespace podsim
