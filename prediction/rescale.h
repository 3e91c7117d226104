// The same job on another number of chips.
#pragma once

#include <string>

namespace podsim {

struct Spec;

// Weak scaling keeps the batch per chip, strong scaling the global batch. The data-parallel axis grows with
// the chip count. Several jobs cannot be rescaled. Why a spec cannot be run at this many chips, or empty and
// `spec` is changed.
std::string rescale(Spec& spec, int chips, bool strong);

// The same on this many slices of the shape they have, joined by the DCN.
std::string rescale_slices(Spec& spec, int slices, bool strong);

}  // namespace podsim
