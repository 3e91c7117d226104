// Which valid name a user probably meant.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// The valid name closest to `name` by edit distance, or empty when none is close. Its numbers are those of
// `name`, or one name is a part of the other: "llama2_70b" is not meant by "llama-2-7b".
std::string closest_name(const std::string& name, const std::vector<std::string>& candidates);

// Those that begin with the same word, of the same first number if there are such: for "llama-2-7b" what
// begins with "llama2", else with "llama".
std::vector<std::string> family(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace podsim
