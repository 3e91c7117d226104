// What a C++ file declares in its namespaces, as far as names and their collisions go.
#pragma once

#include <string>
#include <vector>

namespace podsim::testing {

// A name that a file declares outside of types and functions.
struct Declared {
  enum class Kind { kType, kAlias, kConstant, kFunction };
  Kind kind;
  std::string name;
  // Of an alias what it stands for, of a function the types of its parameters, else empty.
  std::string meaning;
  std::string in;       // its namespace without the anonymous ones: "podsim::hlo"
  bool hidden = false;  // in an anonymous namespace, at any depth
};

// In the order of the file. Types that are only announced are none, members that are defined outside of their
// class and specializations neither. Enumerators of an enumeration without `class` are constants; so are
// variables.
std::vector<Declared> declared_names(const std::vector<std::string>& lines);

}  // namespace podsim::testing
