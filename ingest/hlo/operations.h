// What HLO operations are, by their names.
#pragma once

#include <string_view>

namespace podsim::hlo {

// exp, log, tanh and the like: counted apart from FLOPs.
bool is_transcendental(std::string_view opcode);

// One FLOP for each element of the result.
bool is_elementwise(std::string_view opcode);

// "all-gather" of "all-gather" and "all-gather-start"; empty for what is no collective, and for ends.
std::string_view collective_kind(std::string_view opcode);

// What the start of something asynchronous begins where it says so itself: "slice" of "slice-start", "call"
// of "call-start". Other names, and starts with rules of their own, stay.
std::string_view started_operation(std::string_view opcode);

// Neither work nor memory traffic: parameters, constants, ends of what is asynchronous.
bool is_free(std::string_view opcode);

// Whether there is a rule for it; what has none counts as memory traffic of operands and result.
bool is_known_operation(std::string_view opcode);

}  // namespace podsim::hlo
