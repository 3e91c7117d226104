// How many chips a replica of a model that is served may have: its matrices are cut evenly over them.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct FabricSpec;
struct Model;

// Chips that reach each other without the network between servers or slices, which a replica lies within: an
// NVLink domain, or a slice of a torus.
int chips_per_domain(const FabricSpec& fabric);

// Ascending, from 1 on. Each divides the heads and the widths of the blocks, and the heads of keys, or these
// divide it and lie on several chips; of experts it divides the number or the width.
std::vector<int> replica_sizes(const Model& model, const FabricSpec& fabric);

// Why a replica cannot have so many chips, with the sizes below and above that it can, or empty.
std::string explain_invalid_replica(const Model& model, const FabricSpec& fabric, int chips);

}  // namespace podsim
