// What happened to one job in simulated time: exact totals per chip class, step ends, link bytes, and
// intervals of representatives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/units.h"
#include "scheduler/lowering/bucket.h"
#include "topology/fabric.h"

namespace podsim {

// One communicator and kind whose collectives a compute stream can wait for.
struct CommunicationClass {
  std::string axes;
  std::string kind;
  std::string algorithm;
  Bytes bytes;  // largest message of the class
};

// Where the time of one chip of a class went.
struct ChipTotals {
  ChipId representative = 0;
  std::int64_t chips = 0;     // in the class
  int stage = 0;              // of the pipeline
  double speed = 1;           // < 1: a slow chip
  std::int32_t chance = 0;    // ChipClass::chance
  std::vector<Time> bucket;   // [Bucket], over all steps
  std::vector<Time> exposed;  // [communication class], part of kCommunication
  Time busy;                  // compute + optimizer
  Int128 caused_ps = 0;       // chip-time that others waited for the chips of this class together
  Time waited;                // for peers in collectives, one chip
};

// What one link of a class carried.
struct LinkTotals {
  LinkKind kind;
  std::int64_t links = 0;  // in the class
  Bandwidth bandwidth;
  Bytes bytes;  // of the job, carried by one link over all steps
};

// What a chip does, or waits for, on its compute stream, and operations of its other streams, from their
// start. A transfer between stages is there twice, one right after the other: of the chip that sends, then of
// the one that receives.
struct Interval {
  ChipId chip;
  std::string_view stream;
  Time begin, end;
  std::string_view what;       // of Timeline::names, or of the program's own
  std::int32_t position = -1;  // of the chip in StageProgram::order, where it is of the compute stream
  std::int32_t message = -1;   // of LoweredStep::messages, where it is a collective
  ChipId awaited = -1;         // of a wait: who came last to the collective, or has sent the transfer
};

// The longest time for which a transfer stood still on links that were down.
struct Standstill {
  int entry;        // of Adversities::slow
  Time begin, end;  // when the links came up
};

// Of each entry the longest is kept, of equal ones the first.
inline void keep_longest(std::vector<Standstill>& longest, const Standstill& found) {
  const auto known = std::ranges::find(longest, found.entry, &Standstill::entry);
  if (known == longest.end()) {
    longest.push_back(found);
  } else if (found.end - found.begin > known->end - known->begin) {
    *known = found;
  }
}

// What a chip class did of its own, not waiting for other chips or for input, in one segment of its program's
// order.
struct PassTime {
  Time begin, end;  // of the first and the last of it
  Time own;         // all of it together
};

// A transfer to a neighbouring stage, from its start to its end on the source.
struct SentTransfer {
  Time begin, end;
};

// One step of a chip class.
struct ChipPasses {
  std::vector<PassTime> passes;                      // [position in StageProgram::order]
  Time optimizer;                                    // of its own, in the whole step
  std::vector<SentTransfer> activations, gradients;  // to neighbouring stages, in their order
};

// One step of a job, chip class by chip class.
struct StepPasses {
  Time begin, end;
  Time next_batch;  // when its hosts had the batch of the step to come, in the step or before it
  std::vector<ChipPasses> chips;  // [chip class of the job], as Timeline::chips
};

// All that a simulation says of a job; reports, traces and replays are made of it.
struct Timeline {
  std::vector<Time>
      step_end;  // [step], end of the job's last chip; its steps start together at the previous end
  std::vector<ChipTotals> chips;
  std::vector<CommunicationClass> communication;
  std::vector<LinkTotals> links;
  std::vector<Interval> intervals;  // of representatives, only when asked for; also of a step cut short
  std::shared_ptr<const std::deque<std::string>> names;  // of collectives, which intervals refer to
  std::vector<StepPasses> passes;                        // of the steps that have ended, only when asked for
  std::vector<Standstill> standstills;  // of all jobs, one of each flap that held something up
  int group_classes = 0;                // of all jobs
  std::int64_t events = 0;              // of all jobs, simulated
  std::int64_t periods_skipped = 0;     // of loops that had become periodic, of all jobs together
};

}  // namespace podsim
