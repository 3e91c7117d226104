// Sorts instructions by what is known of them.
#include "ingest/hlo/account.h"

#include <vector>

#include "ingest/hlo/cost.h"
#include "ingest/hlo/operations.h"

namespace podsim::hlo {
namespace {

// Computations that the entry calls, loops over or applies, and so on.
std::vector<bool> reached(const Module& module) {
  std::vector<bool> found(module.computations.size(), false);
  std::vector<int> open = {module.entry};
  found[static_cast<std::size_t>(module.entry)] = true;
  while (!open.empty()) {
    const Computation& computation = module.computations[static_cast<std::size_t>(open.back())];
    open.pop_back();
    for (const Instruction& instruction : computation.instructions)
      for (const int called : called_by(module, instruction)) {
        if (found[static_cast<std::size_t>(called)]) continue;
        found[static_cast<std::size_t>(called)] = true;
        open.push_back(called);
      }
  }
  return found;
}

void sort_in(Account& account, const Computation& computation, const Instruction& instruction, bool runs) {
  if (!runs) {
    ++account.passed_over["in computations that nothing calls"];
  } else if (instruction.opcode == "custom-call") {
    const CustomCall call = custom_call(computation, instruction);
    if (call.kind == CustomCall::Kind::kUnknown)
      ++account.unknown["custom call " + call_target(instruction)];
    else if (call.kind == CustomCall::Kind::kMove)
      ++account.passed_over["annotations, and moves between memories"];
    else
      ++account.used;
  } else if (instruction.opcode == "send" || instruction.opcode == "recv") {
    ++account.passed_over["sends and receives, to which a step gives no time"];
  } else if (!is_known_operation(instruction.opcode)) {
    ++account.unknown["operation " + instruction.opcode.text()];
  } else {
    ++account.used;
  }
}

}  // namespace

Account account_of(const Module& module) {
  Account account;
  account.of = "instructions";
  const std::vector<bool> runs = reached(module);
  for (std::size_t c = 0; c < module.computations.size(); ++c)
    for (const Instruction& instruction : module.computations[c].instructions) {
      ++account.read;
      sort_in(account, module.computations[c], instruction, runs[c]);
    }
  account.check();
  return account;
}

}  // namespace podsim::hlo
