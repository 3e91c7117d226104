// The same job on another number of chips.
#pragma once

#include <string>

namespace podsim {

struct Spec;

// Weak scaling keeps the batch per chip, strong scaling the global batch. The data-parallel axis grows with
// the chip count. Several jobs cannot be rescaled. Why a spec cannot be run at this many chips, or empty and
// `spec` is changed.
std::string rescale(Spec& spec, int chips, bool strong);

// The same where the batch does not come out even: with the nearest global batch that the job can have,
// within an eighth of it; and where that does not help, with another axis of the mesh two, four or eight
// times as long or as short. `changed` then says so ("pipeline 4 instead of 8, 1,280 sequences instead of
// 1,234"), and is empty otherwise.
std::string rescale_nearly(Spec& spec, int chips, bool strong, std::string& changed);

// The same on this many slices of the shape they have, joined by the DCN; with the nearest global batch, as
// above, where `changed` is there to say so.
std::string rescale_slices(Spec& spec, int slices, bool strong, std::string* changed = nullptr);

}  // namespace podsim
