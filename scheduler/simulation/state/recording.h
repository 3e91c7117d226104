// What is kept of a simulation beside its totals, where it is asked for: intervals and passes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/lowering/lower.h"
#include "scheduler/simulation/state/timeline.h"
#include "scheduler/simulation/state/timeline_parts.h"

namespace podsim {

// What a chip that has come to the instruction waits for by itself; null where it computes.
constexpr const char* waits_by_itself(Instruction::Kind kind) {
  if (kind == Instruction::Kind::kInput) return "wait for input";
  const bool paused = kind == Instruction::Kind::kHost || kind == Instruction::Kind::kPause;
  return paused ? "wait for the host" : nullptr;
}

// A chip class at a position of its program's order.
struct Whereabouts {
  std::int32_t chip, position;
};

// Timeline::intervals and Timeline::passes of all jobs, from what loops tell of chips as they book it.
class Recording {
 public:
  // REQUIRES: `system` outlives this object.
  Recording(const System& system, bool keep_intervals, int keep_passes);

  // Otherwise nothing that it is told has an effect.
  bool any() const { return keep_intervals_ || keeps_passes(); }
  bool keeps_passes() const { return !passes_.empty(); }

  // Spent [begin, end) in a bucket; of a wait for another chip class `awaited` says which.
  void keep(Whereabouts at, Bucket bucket, Time begin, Time end, const char* what, std::int32_t awaited = -1);

  // An operation of a stream of the chip ran from `begin` to `end`; `message` is -1 for a copy.
  void show(std::int32_t chip, Stream stream, std::int32_t message, Time begin, Time end);

  // Has sent to a neighbouring stage on this stream.
  void sent(std::int32_t chip, Stream stream, const SentTransfer& transfer);

  // In a wait for the operations of a stream, one that is not the last of them stood still for its peers.
  // That is no work of the chip's own.
  void waited_before(Whereabouts at, Time begin, Time end);

  // A job has ended a step; its hosts had the batch of the one to come at `next_batch`.
  void end_step(int job, Time begin, Time end, Time next_batch);

  // Hands over what there is of the job.
  void tell(int job, Timeline& timeline);

 private:
  struct JobRecord {
    std::vector<std::int32_t> chips;
    std::vector<Interval> intervals;
    std::vector<StepPasses> passes;
  };
  const StageProgram& program_of(std::int32_t chip) const {
    return system_.step.stages[system_.chips[chip].program];
  }
  JobRecord& job_of(std::int32_t chip) { return jobs_[program_of(chip).job]; }
  PassTime& pass_of(Whereabouts at);
  std::string_view name_of(std::int32_t message);  // "all-gather over tensor"
  void keep_pass(Whereabouts at, Bucket bucket, Time begin, Time end);

  const System& system_;
  const bool keep_intervals_;
  const int keep_passes_;           // steps
  std::vector<ChipPasses> passes_;  // [chip class] of the step under way; empty where none are kept
  std::vector<JobRecord> jobs_;
  std::shared_ptr<std::deque<std::string>> names_;   // of messages that were shown
  std::vector<const std::string*> name_of_message_;  // [message] of these; null for others
};

}  // namespace podsim
