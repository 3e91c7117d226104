// Sums of shell scripts: $((8 * NODES + 1)).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace podsim {

bool is_of_variable(char c);  // part of a name: a letter, a digit or "_"

// Whole numbers with + - * / % and brackets. Nothing where a name in it is not known, or it is too large.
std::optional<std::int64_t> shell_sum(std::string_view text,
                                      const std::map<std::string, std::string>& variables);

}  // namespace podsim
