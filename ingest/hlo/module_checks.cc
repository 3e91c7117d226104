// Checks of an HLO module as a whole, after its text was read.
#include "ingest/hlo/module_checks.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ingest/hlo/collective_checks.h"
#include "ingest/hlo/operations.h"
#include "ingest/hlo/scanner.h"
#include "ingest/hlo/shape_checks.h"

namespace podsim::hlo {

namespace {

void check_calls(const std::string& file, const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions)
      for (const int called : called_by(module, instruction))
        if (called < 0)
          fail_in_line(file, instruction.line,
                       "\"" + instruction.name + "\" calls a computation that is not in the module");
}

// What an operation cannot be without: attributes, and as many operands at least.
struct Needs {
  std::string_view opcode;
  std::size_t operands;
  std::vector<std::string_view> attributes;
};

const std::vector<Needs>& needs() {
  static const std::vector<Needs> kNeeds = {
      {"while", 1, {"condition", "body"}},
      {"fusion", 0, {"calls"}},
      {"async-start", 0, {}},
      {"async-done", 1, {}},
      {"async-update", 1, {}},
      {"custom-call", 0, {"custom_call_target"}},
      {"dot", 2, {}},  // without dimensions an outer product, as its shape has to say
      {"ragged-dot", 3, {"lhs_contracting_dims", "rhs_contracting_dims"}},
      {"convolution", 2, {"dim_labels"}},
      {"reduce", 2, {"dimensions", "to_apply"}},
      {"reduce-window", 2, {"to_apply"}},
      {"select-and-scatter", 3, {"select", "scatter"}},
      {"map", 1, {"to_apply"}},
      {"scatter", 3, {"to_apply"}},
      {"sort", 1, {"to_apply"}},
      {"slice", 1, {"slice"}},
      {"dynamic-slice", 2, {"dynamic_slice_sizes"}},
      {"dynamic-update-slice", 3, {}},
      {"gather", 2, {"slice_sizes"}},
      {"concatenate", 1, {}},
      {"pad", 2, {"padding"}},
      {"get-tuple-element", 1, {"index"}},
      {"compare", 2, {"direction"}},
      {"all-reduce", 1, {"to_apply"}},
      {"all-gather", 1, {"dimensions"}},
      {"reduce-scatter", 1, {"dimensions", "to_apply"}},
      {"collective-permute", 1, {"source_target_pairs"}},
  };
  return kNeeds;
}

void check_parts(const std::string& file, const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& each : computation.instructions) {
      std::string_view opcode = each.opcode;
      if (!collective_kind(opcode).empty()) opcode = collective_kind(opcode);
      const auto found = std::ranges::find(needs(), opcode, &Needs::opcode);
      if (found == needs().end()) continue;
      if (each.operands.size() < found->operands)
        fail_in_line(file, each.line,
                     "\"" + each.name + "\": " + each.opcode.text() + " has " +
                         std::to_string(each.operands.size()) + " operands",
                     "expected " + std::to_string(found->operands) + " or more");
      for (const std::string_view attribute : found->attributes)
        if (!each.has(attribute))
          fail_in_line(file, each.line,
                       "\"" + each.name + "\": " + each.opcode.text() + " has no " + std::string(attribute));
    }
}

// No computation calls itself, be it through others; chains of calls end.
void check_depth(const std::string& file, const Module& module) {
  constexpr int kDeepest = 500, kOpen = -1;
  std::vector<int> depth(module.computations.size(), 0);
  const auto refuse = [&](const Computation& computation) {
    fail_in_line(file, computation.instructions.front().line,
                 "computation " + computation.name + " calls itself, or calls are nested too deep");
  };
  const auto visit = [&](const auto& self, std::size_t number_of, int above) -> int {
    const Computation& computation = module.computations[number_of];
    if (depth[number_of] == kOpen || above >= kDeepest) refuse(computation);
    if (depth[number_of] > 0) return depth[number_of];
    depth[number_of] = kOpen;
    int below = 0;
    for (const Instruction& instruction : computation.instructions)
      for (const int called : called_by(module, instruction))
        below = std::max(below, self(self, static_cast<std::size_t>(called), above + 1));
    if (below >= kDeepest) refuse(computation);
    return depth[number_of] = below + 1;
  };
  for (std::size_t c = 0; c < depth.size(); ++c) visit(visit, c, 0);
}

}  // namespace

void check_module(const std::string& file, const Module& module) {
  check_parts(file, module);
  check_calls(file, module);
  check_depth(file, module);
  check_collectives(file, module);
  check_shapes(file, module);
}

}  // namespace podsim::hlo
