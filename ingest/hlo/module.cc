// Looks up computations by their names.
#include "ingest/hlo/module.h"

#include <algorithm>
#include <array>

namespace podsim::hlo {

int Module::find(std::string_view reference) const {
  if (reference.starts_with('%')) reference.remove_prefix(1);
  const auto found = by_name.find(reference);
  return found == by_name.end() ? -1 : found->second;
}

std::vector<int> Module::find_all(std::string_view references) const {
  std::vector<int> found;
  if (!references.starts_with('{')) return {find(references)};
  std::size_t begin = 1;
  while (begin < references.size()) {
    const std::size_t end = std::min(references.find_first_of(",}", begin), references.size());
    std::string_view called = references.substr(begin, end - begin);
    while (called.starts_with(' ')) called.remove_prefix(1);
    while (called.ends_with(' ')) called.remove_suffix(1);
    if (!called.empty()) found.push_back(find(called));
    begin = end + 1;
  }
  return found;
}

std::vector<int> called_by(const Module& module, const Instruction& instruction) {
  constexpr std::array<std::string_view, 9> kCalls = {"to_apply",
                                                      "calls",
                                                      "body",
                                                      "condition",
                                                      "branch_computations",
                                                      "true_computation",
                                                      "false_computation",
                                                      "scatter",
                                                      "called_computations"};
  std::vector<int> called;
  for (const auto& [key, value] : instruction.attributes) {
    const bool select = key == "select" && instruction.opcode == "select-and-scatter";
    if (std::ranges::count(kCalls, key) == 0 && !select) continue;
    for (const int each : module.find_all(value)) called.push_back(each);
  }
  return called;
}

}  // namespace podsim::hlo
