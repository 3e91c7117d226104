// Names of collectives and algorithms as users type them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.h"
#include "engine/check.h"

namespace podsim {

// The spelling of nccl-tests and of papers: "all-reduce". Underscores are accepted too.
inline std::string hyphenated(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

// Names of every value of an enumeration whose values run from 0 to `last`.
template <class Enum>
std::vector<std::string> names_up_to(Enum last) {
  std::vector<std::string> names;
  for (int value = 0; value <= static_cast<int>(last); ++value)
    names.emplace_back(to_string(static_cast<Enum>(value)));
  return names;
}

// REQUIRES: `name` passed the check against names_up_to(last).
template <class Enum>
Enum value_named(const std::string& name, Enum last) {
  const std::vector<std::string> names = names_up_to(last);
  const auto found = std::find(names.begin(), names.end(), hyphenated(name));
  PODSIM_CHECK(found != names.end(), "the command line admits only known names");
  return static_cast<Enum>(found - names.begin());
}

}  // namespace podsim
