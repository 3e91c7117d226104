// Programs of chips in the form in which a longest path goes through them: what follows from the system alone
// has been looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "scheduler/lowering/instructions.h"
#include "scheduler/simulation/longest_path/solo_spans.h"
#include "scheduler/simulation/loop/system_tables.h"

namespace podsim {

// Operations that a span starts on the chip's rendezvous, and how many.
using SpanLaunches = std::vector<std::pair<std::int32_t, std::int32_t>>;

// An instruction of one chip.
struct alignas(kCacheLine) PathStep {
  Instruction::Kind kind;
  Stream stream;
  Bucket bucket;
  bool between_stages;  // of a launch: a transfer, which only its source has to come to
  bool ends;            // of a launch: it takes a known time as long as it is alone on its links
  bool on_own_links;    // of a launch: no other stream ever loads its links, and it ends
  std::int32_t message, pending;
  std::int32_t rendezvous, run, pattern;  // of a launch; run: of UncontendedCollectives
  Time duration;
  SoloSpan* span;  // that may begin here
  const SpanLaunches* launched;
};
static_assert(sizeof(PathStep) == kCacheLine, "one miss for each");

// A segment of one chip's program.
struct PathSegment {
  std::vector<const PathStep*> steps;  // [instruction] or null, as long as nobody has asked for it
};

// Those of all chips, found when they are first asked for and kept: they are the same however often a system
// is simulated.
class PathPrograms {
 public:
  // REQUIRES: `tables` outlives this object.
  explicit PathPrograms(SystemTables& tables);

  // Stays where it is, here and below.
  PathSegment& segment(std::int32_t chip, std::int32_t segment) {
    std::vector<PathSegment>& all = of_chip_[static_cast<std::size_t>(chip)];
    return all.empty() ? make_room(chip, segment) : all[static_cast<std::size_t>(segment)];
  }
  // REQUIRES: the segment is that of the chip with that number.
  const PathStep& step(std::int32_t chip, std::int32_t number, PathSegment& segment,
                       std::size_t instruction) {
    const PathStep* known = segment.steps[instruction];
    return known ? *known : look(chip, number, segment, instruction);
  }

  SoloSpans& spans() { return spans_; }

 private:
  const StageProgram& program_of(std::int32_t chip) const {
    return tables_.system.step.stages[tables_.system.chips[chip].program];
  }
  PathSegment& make_room(std::int32_t chip, std::int32_t segment);
  const PathStep& look(std::int32_t chip, std::int32_t number, PathSegment& segment, std::size_t instruction);
  void look_at_launch(std::int32_t chip, PathStep& step);
  bool only_source(std::int32_t rendezvous) const;

  SystemTables& tables_;
  SoloSpans spans_;
  std::vector<std::vector<PathSegment>> of_chip_;  // [chip][segment]
  std::deque<PathStep> all_;
  std::deque<SpanLaunches> launches_;
};

}  // namespace podsim
