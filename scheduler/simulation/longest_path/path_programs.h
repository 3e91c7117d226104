// Programs of chips in the form in which a longest path goes through them: what follows from the system alone
// has been looked up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "scheduler/lowering/instructions.h"
#include "scheduler/simulation/longest_path/solo_spans.h"
#include "scheduler/simulation/loop/link_users.h"
#include "scheduler/simulation/loop/solo_legs.h"
#include "scheduler/simulation/loop/system_tables.h"

namespace podsim {

// An instruction, for all chips that take the same times for the segment.
struct alignas(kCacheLine) PathInstruction {
  Instruction::Kind kind;
  Stream stream;
  Bucket bucket;
  bool between_stages;  // of a launch: a transfer, which only its source has to come to
  bool awaited;         // of such a launch: what comes next waits for all on its stream
  std::int32_t message, pending;
  std::int32_t communicator, pattern;  // of a launch
  Time duration;
  SoloSpan* span;        // that may begin here
  SoloSpan* with_peers;  // that the chip and its peers may begin here
};
static_assert(sizeof(PathInstruction) == kCacheLine, "one miss for each");

// How long a chip computes at least before it launches on a stream.
struct LaunchBound {
  const TimesToLaunch* times = nullptr;  // null as long as nobody has asked for it
  std::size_t until = 0;  // instructions of the segment, the last that launches and those before
};

// A segment, for all chips that take the same times for it.
struct PathSegment {
  std::vector<const PathInstruction*> steps;  // [instruction] or null, as long as nobody has asked for it
  std::array<LaunchBound, kNetworkStreams> launches;
};

// A message of a group as it runs alone.
struct alignas(kCacheLine) PathRun {
  bool looked_at = false;
  bool own_links = false;   // it takes a known time, and no other stream ever loads its links
  bool few_others = false;  // the same but for a few streams
  std::uint8_t others = 0;
  std::int32_t first_other = 0;
  std::int32_t rendezvous = -1, pattern = -1;
  std::int32_t last_member = -1;  // of a transfer between stages: who receives it
  Time arrival;                   // after its start
  std::span<const TransferEdge> edges;
  Time drains, drained;  // the first two edges
};
static_assert(sizeof(PathRun) == kCacheLine, "one miss for each");

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

  // The rendezvous's message, which is this run of UncontendedCollectives. Stays where it is.
  const PathRun& run(std::int32_t rendezvous, std::int32_t run, std::int32_t message) {
    const auto place = static_cast<std::size_t>(run);
    if (place < runs_.size() && runs_[place].looked_at) return runs_[place];
    return look_at_run(rendezvous, run, message);
  }

  // Who may launch what loads links of the run. REQUIRES: few_others.
  std::span<const LinkUsers::Launcher> others(const PathRun& run) const {
    return {others_.data() + run.first_other, run.others};
  }
  // REQUIRES: the segment is that of the chip with that number.
  const LaunchBound& launches(std::int32_t chip, std::int32_t number, PathSegment& segment, Stream stream) {
    LaunchBound& bound = segment.launches[static_cast<std::size_t>(stream)];
    return bound.times ? bound : look_at_launches(chip, number, stream, bound);
  }

  SoloSpans& spans() { return spans_; }

 private:
  const StageProgram& program_of(std::int32_t chip) const {
    return tables_.system.step.stages[tables_.system.chips[chip].program];
  }
  PathSegment& find(std::int32_t chip, std::int32_t number);
  const PathInstruction& look(std::int32_t chip, std::int32_t number, PathSegment& segment,
                              std::size_t instruction);
  const PathRun& look_at_run(std::int32_t rendezvous, std::int32_t run, std::int32_t message);
  const LaunchBound& look_at_launches(std::int32_t chip, std::int32_t number, Stream stream,
                                      LaunchBound& bound);
  bool only_source(std::int32_t rendezvous) const;

  SystemTables& tables_;
  SoloSpans spans_;
  std::vector<std::vector<PathSegment*>> of_chip_;                                     // [chip][segment]
  std::map<std::pair<const SegmentLegs*, const SegmentLegs*>, PathSegment*> by_legs_;  // with peers too
  std::deque<PathSegment> segments_;
  std::deque<PathInstruction> steps_;
  std::deque<PathRun> runs_;  // [run]
  std::vector<LinkUsers::Launcher> others_;
};

}  // namespace podsim
