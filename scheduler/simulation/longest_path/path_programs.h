// Programs of chips in the form in which a longest path goes through them: what follows from the system alone
// has been looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/cache.h"
#include "scheduler/lowering/instructions.h"
#include "scheduler/simulation/longest_path/solo_spans.h"
#include "scheduler/simulation/loop/system_tables.h"

namespace podsim {

// An instruction, for all chips that take the same times for the segment.
struct alignas(kCacheLine) PathInstruction {
  Instruction::Kind kind;
  Stream stream;
  Bucket bucket;
  bool between_stages;  // of a launch: a transfer, which only its source has to come to
  std::int32_t message, pending;
  std::int32_t communicator, pattern;  // of a launch
  Time duration;
  SoloSpan* span;  // that may begin here
};
static_assert(sizeof(PathInstruction) == kCacheLine, "one miss for each");

// A segment, for all chips that take the same times for it.
struct PathSegment {
  std::vector<const PathInstruction*> steps;  // [instruction] or null, as long as nobody has asked for it
};

// Those of all chips, found when they are first asked for and kept: they are the same however often a system
// is simulated.
class PathPrograms {
 public:
  // REQUIRES: `tables` outlives this object.
  explicit PathPrograms(SystemTables& tables);

  // Stays where it is, here and below.
  PathSegment& segment(std::int32_t chip, std::int32_t number) {
    std::vector<PathSegment*>& all = of_chip_[static_cast<std::size_t>(chip)];
    PathSegment* known = all.empty() ? nullptr : all[static_cast<std::size_t>(number)];
    return known ? *known : find(chip, number);
  }
  // REQUIRES: the segment is that of the chip with that number.
  const PathInstruction& step(std::int32_t chip, std::int32_t number, PathSegment& segment,
                              std::size_t instruction) {
    const PathInstruction* known = segment.steps[instruction];
    return known ? *known : look(chip, number, segment, instruction);
  }

  // Whether the rendezvous's message, which is this run of UncontendedCollectives, takes a known time and no
  // other stream ever loads its links.
  bool on_own_links(std::int32_t rendezvous, std::int32_t run, std::int32_t message) {
    const auto place = static_cast<std::size_t>(run);
    if (place < own_links_.size() && own_links_[place]) return *own_links_[place];
    return look_at_links(rendezvous, run, message);
  }

  SoloSpans& spans() { return spans_; }

 private:
  const StageProgram& program_of(std::int32_t chip) const {
    return tables_.system.step.stages[tables_.system.chips[chip].program];
  }
  PathSegment& find(std::int32_t chip, std::int32_t number);
  const PathInstruction& look(std::int32_t chip, std::int32_t number, PathSegment& segment,
                              std::size_t instruction);
  bool look_at_links(std::int32_t rendezvous, std::int32_t run, std::int32_t message);
  bool only_source(std::int32_t rendezvous) const;

  SystemTables& tables_;
  SoloSpans spans_;
  std::vector<std::vector<PathSegment*>> of_chip_;  // [chip][segment]
  std::unordered_map<const SegmentLegs*, PathSegment*> by_legs_;
  std::deque<PathSegment> segments_;
  std::deque<PathInstruction> steps_;
  std::vector<std::optional<bool>> own_links_;  // [run], once looked at
};

}  // namespace podsim
