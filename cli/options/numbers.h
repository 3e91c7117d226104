// Numbers on the command line, as strictly as those of scenarios.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace CLI {
class Option;
}

namespace podsim {

// The option takes decimal whole numbers of this range and nothing else: the command-line library by itself
// reads -1 as 2^64 - 1, 2^64 as the same, and 010 as 8.
CLI::Option* whole_number(CLI::Option* option, std::uint64_t least = 0,
                          std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// The option takes decimal numbers of this range: nan, which the library lets through, is in none.
CLI::Option* real_number(CLI::Option* option, double least, double most);

// The whole text as a decimal number of this range; nothing for anything else, nan among it.
std::optional<double> number_between(const std::string& text, double least, double most);

}  // namespace podsim
