// The table of pipeline schedules: what each is, by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/job/pipeline_schedule.h"

namespace podsim {

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  int stages = 1;
  int chunks = 1;  // per stage
  int microbatches = 1;
};

// What a stage does with one microbatch of one chunk.
enum class Pass : unsigned char {
  kForward,
  kBackward,        // gradients of inputs and of weights in one
  kInputGradient,   // the part of backward that the piece before waits for; "B" of the zero-bubble schedules
  kWeightGradient,  // the part that nobody waits for; "W"
};

struct PipelineTask {
  Pass pass;
  int microbatch;
  int chunk;
  // This task and the next, one forward and one backward, run in turns: while one waits for a collective the
  // other computes (DualPipe).
  bool with_next = false;
};

// How the pieces of the model lie on the places of the stages.
enum class PieceLayout : unsigned char {
  kRoundAndRound,  // chunk 0 of every stage, then chunk 1 of every stage, and so on
  kDownAndUp,      // chunk 0 down the stages, chunk 1 up again
  kFromBothEnds,   // every piece twice: chunk 0 down the stages, the same with chunk 1 up
};

struct ScheduleTraits {
  std::string_view name;                     // in scenarios
  std::optional<int> chunks = std::nullopt;  // per stage, where it leaves no choice
  PieceLayout layout = PieceLayout::kRoundAndRound;
  bool shifts = false;  // every stage computes in every iteration, on padding too; then all shift their
                        // activation at once
  bool passes_as_recorded = false;  // recordings of training runs have an operation for each of its passes
  bool splits_backward = false;     // gradients of weights may come apart from those of inputs
  bool takes_turns = false;         // a pass forward and one backward may run in turns
  bool holds_all = false;      // all passes forward before the first backward: what they keep is held at once
  bool tried_unasked = false;  // by planners
  // What it is with one chunk per stage; planners tell the two apart by the number of chunks, and choose
  // that.
  std::optional<PipelineSchedule> of_one_chunk = std::nullopt;

  // Why it cannot run in a shape that has its chunks, or empty; null: it always can.
  std::string (*explain_invalid)(const PipelineShape& shape) = nullptr;

  // pipeline_order, workload/pipeline/pipeline.h.
  std::vector<PipelineTask> (*order)(const PipelineShape& shape, int stage) = nullptr;
};

std::span<const ScheduleTraits> all_schedules();  // in the order of PipelineSchedule
const ScheduleTraits& schedule_traits(PipelineSchedule schedule);

// Nothing for a name that no schedule has.
std::optional<PipelineSchedule> schedule_named(std::string_view name);

// Of a schedule that shifts: which pass of the stage an iteration is, chunk after chunk; padding before and
// after counts as the pass next to it.
int shifting_pass(const PipelineShape& shape, int stage, int iteration);

}  // namespace podsim
