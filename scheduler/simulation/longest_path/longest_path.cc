// Whether a step is a longest path, and what a timeline says of it.
#include "scheduler/simulation/longest_path/longest_path.h"

#include <algorithm>

#include "scheduler/simulation/longest_path/sweep.h"
#include "scheduler/simulation/state/timeline_parts.h"

namespace podsim {
namespace {

using longest_path::PathAccounts;
using longest_path::Program;
using longest_path::SharedSlots;
using longest_path::Sweep;

bool has_copies(const StageProgram& stage) {
  return std::ranges::any_of(stage.segments, [](const std::vector<Instruction>& segment) {
    return std::ranges::any_of(segment,
                               [](const Instruction& each) { return each.kind == Instruction::Kind::kCopy; });
  });
}

bool is_a_path(const System& system, const SimulateOptions& options) {
  if (options.random() || options.steps != 1 || options.keep_intervals || options.keep_passes > 0 ||
      options.share_all_links || system.meshes.size() != 1 || !system.profiles.empty())
    return false;
  return std::ranges::none_of(system.step.stages, has_copies);
}

void tell(const PathAccounts& chip, const std::vector<std::int32_t>& patterns, ChipTotals& totals) {
  totals.bucket.assign(chip.bucket.begin(), chip.bucket.end());
  for (std::size_t p = 0; p < patterns.size(); ++p) totals.exposed[p] = chip.exposed[patterns[p]];
  totals.busy =
      totals.bucket[static_cast<int>(Bucket::kCompute)] + totals.bucket[static_cast<int>(Bucket::kOptimizer)];
  totals.caused_ps = chip.caused_ps;
  totals.waited = chip.waited;
}

// Operations of a group of several chips count once, whoever launches them.
Timeline timeline_of(const System& system, const SharedSlots& slots, const Sweep& sweep) {
  const JobParts parts = parts_of_jobs(system).front();
  Timeline timeline = blank_timeline(system, parts);
  timeline.step_end = {sweep.step_end()};
  std::vector<std::int64_t> started = sweep.started();
  for (std::size_t i = 0; i < parts.chips.size(); ++i) {
    const std::int32_t c = parts.chips[i];
    const PathAccounts totals = sweep.chips()[c].totals();
    for (std::size_t index = 0; index < started.size(); ++index) started[index] += totals.started[index];
    tell(totals, parts.patterns, timeline.chips[i]);
  }
  std::vector<double> bytes(system.links.size(), 0);
  for (std::size_t g = 0; g < system.groups.size(); ++g)
    for (std::size_t m = 0; m < system.step.messages.size(); ++m) {
      if (system.communicator_of[m] != system.groups[g].communicator) continue;
      const auto group = static_cast<std::int32_t>(g), message = static_cast<std::int32_t>(m);
      if (const std::int64_t times = started[slots.index(group, message)]; times > 0)
        add_link_bytes(system, group, message, times, bytes);
    }
  for (std::size_t l = 0; l < bytes.size(); ++l) timeline.links[l].bytes = {bytes[l]};
  timeline.events = sweep.moves();
  return timeline;
}

}  // namespace

std::optional<std::vector<Timeline>> simulate_longest_path(const System& system,
                                                           const SimulateOptions& options) {
  if (!is_a_path(system, options)) return std::nullopt;
  const SharedSlots slots(system);
  if (!slots.all_end()) return std::nullopt;
  if (options.share_done) options.share_done(0);
  std::vector<Program> programs;
  for (const ChipClass& chip : system.chips) programs.push_back(program_of(system, slots, chip));
  Sweep sweep(system, slots, programs, false);
  std::optional<Sweep> served;
  if (!sweep.run()) return std::nullopt;
  if (!sweep.all_alone()) {
    served.emplace(system, slots, programs, true);
    if (!served->run()) return std::nullopt;
  }
  if (options.share_done) options.share_done(1);
  return std::vector<Timeline>{timeline_of(system, slots, served ? *served : sweep)};
}

}  // namespace podsim
