// Reads the text form of XLA's HLO modules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/hlo/module.h"
#include "proto/text/problem.h"

namespace podsim::hlo {

// The modules of a text, one after another: what --xla_dump_hlo_as_text writes and hand-written tests hold.
// Nothing, and problems with places, where it cannot be read, ends amid a computation, or names what is not
// there; `seen` then has what stands before the first problem. O(text).
std::optional<std::vector<Module>> parse_modules(const std::string& file, std::string_view text,
                                                 std::vector<Problem>& problems,
                                                 std::vector<Module>* seen = nullptr);

}  // namespace podsim::hlo
