// Walks what a module calls, and gathers its collectives by kind and groups.
#include "ingest/hlo/collectives.h"

#include <algorithm>
#include <string_view>

#include "engine/check.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"

namespace podsim::hlo {
namespace {

class Walk {
 public:
  Walk(const Module& module, const LoopCounts& loops, Branches branches)
      : module_(module), loops_(loops), branches_(branches), costs_(module, &loops) {
    result_.of_computation.assign(module.computations.size(), 0);
  }

  // Callers before what they call: each computation is entered once, with all of its runs known.
  Executions run(const std::vector<int>& from) {
    std::vector<int> order;
    std::vector<bool> seen(module_.computations.size(), false);
    for (const int computation : from) {
      sort(computation, seen, order);
      ++result_.of_computation[static_cast<std::size_t>(computation)];
    }
    for (auto c = order.rbegin(); c != order.rend(); ++c) enter(*c);
    return std::move(result_);
  }

 private:
  void sort(int computation, std::vector<bool>& seen, std::vector<int>& order) {
    if (seen[static_cast<std::size_t>(computation)]) return;
    seen[static_cast<std::size_t>(computation)] = true;
    for (const Instruction& each : module_.computations[static_cast<std::size_t>(computation)].instructions)
      for (const int called : runs_of(each)) sort(called, seen, order);
    order.push_back(computation);
  }

  // What runs when the instruction does.
  std::vector<int> runs_of(const Instruction& instruction) {
    const std::string_view opcode = started_operation(instruction.opcode);
    if (opcode == "while") return {module_.find(instruction.attribute("body"))};
    if (opcode == "conditional" && branches_ == Branches::kDearest) {
      const int dearest = costs_.dearer_branch(instruction);
      return dearest < 0 ? std::vector<int>{} : std::vector<int>{dearest};
    }
    if (opcode == "call" || opcode == "fusion" || opcode == "async-start" || opcode == "conditional")
      return called_by(module_, instruction);
    return {};
  }

  void enter(int computation) {
    const auto number = static_cast<std::size_t>(computation);
    const std::int64_t times = result_.of_computation[number];
    for (const Instruction& each : module_.computations[number].instructions) {
      result_.opcodes[each.opcode] = saturating_add(result_.opcodes[each.opcode], times);
      if (each.opcode == "custom-call") {
        std::int64_t& runs = result_.custom_calls[call_target(each)];
        runs = saturating_add(runs, times);
      }
      for (const int called : runs_of(each)) {
        std::int64_t& runs = result_.of_computation[static_cast<std::size_t>(called)];
        runs = saturating_add(runs, saturating_multiply(times, trips(each)));
      }
    }
  }

  std::int64_t trips(const Instruction& instruction) const {
    const auto loop = loops_.of.find(&instruction);
    return loop == loops_.of.end() ? 1 : loop->second.trips;
  }

  const Module& module_;
  const LoopCounts& loops_;
  const Branches branches_;
  CostAnalysis costs_;
  Executions result_;
};

// Of one run. A start's result follows from the kind: its own tuple holds more.
std::int64_t result_bytes(std::string_view kind, const Instruction& collective, std::int64_t operands,
                          std::int64_t members) {
  if (!collective.opcode.ends_with("-start")) return collective.shape.bytes();
  if (kind == "all-gather") return saturating_multiply(operands, members);
  if (kind == "reduce-scatter") return operands / std::max<std::int64_t>(1, members);
  return operands;
}

}  // namespace

Executions executions(const Module& module, const LoopCounts& loops) {
  return executions(module, loops, {module.entry}, Branches::kAll);
}

Executions executions(const Module& module, const LoopCounts& loops, const std::vector<int>& from,
                      Branches branches) {
  return Walk(module, loops, branches).run(from);
}

std::vector<CollectiveUse> collective_uses(const Module& module, const Executions& executions) {
  PODSIM_CHECK(executions.of_computation.size() == module.computations.size(),
               "executions are of this module");
  std::vector<CollectiveUse> uses;
  for (std::size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    const std::int64_t times = executions.of_computation[c];
    for (const Instruction& each : computation.instructions) {
      const std::string_view kind = times > 0 ? collective_kind(each.opcode) : std::string_view();
      if (kind.empty()) continue;
      Groups groups = groups_of(module, each).value();
      auto use = std::ranges::find_if(
          uses, [&](const CollectiveUse& other) { return other.kind == kind && other.groups == groups; });
      if (use == uses.end()) use = uses.insert(uses.end(), {std::string(kind), std::move(groups)});
      std::int64_t operands = 0;
      for (std::size_t i = 0; i < each.operands.size(); ++i)
        operands += computation.operand(each, i).shape.bytes();
      const std::int64_t result = result_bytes(kind, each, operands, use->groups.size);
      ++use->instructions;
      use->executed = saturating_add(use->executed, times);
      use->operand_bytes = saturating_add(use->operand_bytes, saturating_multiply(times, operands));
      use->result_bytes = saturating_add(use->result_bytes, saturating_multiply(times, result));
      use->tensors = saturating_add(
          use->tensors, saturating_multiply(times, static_cast<std::int64_t>(each.operands.size())));
    }
  }
  return uses;
}

}  // namespace podsim::hlo
