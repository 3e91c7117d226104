// Names of catalogue entries: how they are compared, and what can be one.
#pragma once

#include <string>

namespace podsim {

// "meta-llama/Meta-Llama-3-70B" without what stands before the last slash.
std::string without_organisation(const std::string& name);

// Names with the same key are one name: in lower case, and without hyphens, underscores, points, spaces and
// slashes but for those between two digits, which keep "Qwen2.5-7B" apart from "qwen2_57b".
std::string entry_key(const std::string& name);

// Whether a file can call an entry so: not empty, without quotes, backslashes and control characters.
bool can_name_entry(const std::string& name);

}  // namespace podsim
