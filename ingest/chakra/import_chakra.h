// Chakra traces of one rank or of all ranks of a step, for podsim import.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

// A trace; the list of process groups that lies beside traces, {"1": [0, 1], "2": [2, 3]}; or what PyTorch
// records, which is told from Chakra's format in order to be refused.
bool is_chakra(std::string_view text);

// One file is told with all that it says; several are ranks of one step, named PREFIX.RANK.et. A text is let
// go once it is read: a thousand of them are larger than what is made of them.
std::optional<Imported> import_chakra(std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems);

}  // namespace podsim
