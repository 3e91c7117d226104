// Adds up computations of each segment from its end on.
#include "scheduler/simulation/logical_processes/lookahead.h"

#include <functional>

namespace podsim {
namespace {

using Kind = Instruction::Kind;

bool looks_at_others(const Instruction& instruction, const LogicalProcesses& processes) {
  const bool waits = instruction.kind == Kind::kWait || instruction.kind == Kind::kReceive;
  return waits && !processes.inner(instruction.stream);
}

// Whether the computation may go on over a wait for others, as soon as it begins.
bool goes_on_over_others(const std::vector<Instruction>& segment, std::size_t i,
                         const LogicalProcesses& processes) {
  const Instruction& first = segment[i];
  if (first.kind != Kind::kCompute) return false;
  for (++i; i < segment.size(); ++i) {
    const bool waits = segment[i].kind == Kind::kWait;
    if (waits && !processes.inner(segment[i].stream)) return true;
    if (!waits && (segment[i].kind != Kind::kCompute || segment[i].bucket != first.bucket)) return false;
  }
  return false;
}

bool concerns_others(const std::vector<Instruction>& segment, std::size_t i,
                     const LogicalProcesses& processes) {
  const bool launches = segment[i].kind == Kind::kLaunch && !processes.inner(segment[i].stream);
  return launches || looks_at_others(segment[i], processes) || goes_on_over_others(segment, i, processes);
}

std::vector<Lookahead::Work> add_up(const std::vector<Instruction>& segment,
                                    const LogicalProcesses& processes) {
  std::vector<Lookahead::Work> after(segment.size());
  for (std::size_t i = segment.size(); i-- > 1;) {
    if (concerns_others(segment, i, processes)) continue;
    after[i - 1] = after[i];
    if (segment[i].kind != Kind::kCompute) continue;
    after[i - 1].duration += segment[i].duration;
    ++after[i - 1].computations;
  }
  return after;
}

}  // namespace

Lookahead::Lookahead(const System& system, const LogicalProcesses& processes) : system_(system) {
  if (!processes.any()) return;
  for (const StageProgram& program : system.step.stages) {
    std::vector<std::vector<Work>>& segments = work_.emplace_back();
    for (const std::vector<Instruction>& segment : program.segments)
      segments.push_back(add_up(segment, processes));
  }
}

Lookahead::Work Lookahead::after(const RunningChip& chip) const {
  const StageProgram& program = system_.step.stages[chip.program];
  if (chip.position < 0 || static_cast<std::size_t>(chip.position) >= program.order.size()) return {};
  const std::int32_t segment = program.order[chip.position];
  const std::vector<Instruction>& instructions = program.segments[segment];
  const Instruction *begin = instructions.data(), *end = begin + instructions.size();
  const std::less<> before;
  if (before(chip.at, begin) || !before(chip.at, end)) return {};  // in a pause
  return work_[chip.program][segment][chip.at - begin];
}

}  // namespace podsim
