// A step by one chip per pipeline stage, on links that nobody shares: what no step can beat.
//
// Every instruction ends no earlier in a simulated step than here: each time is a sum and a maximum of
// earlier ones (of the stream before it, of the transfer that it waits for, of the host), computation takes
// at least its time at full speed, and an operation on a stream at least its least time alone. The order on
// every stream is that of the program, so nothing that is left out could make a step shorter
// (docs/theory/search.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/lowering/instructions.h"

namespace podsim {

class AloneTimes;

// An instruction with the least time that it takes.
struct LoneOp {
  Instruction::Kind kind;
  Stream stream;
  std::int16_t neighbour = 0;  // stages from here to whom a launch sends
  std::int32_t pending = 0;
  double seconds = 0;
};
// `messages`: none where nothing is sent to other stages.
std::vector<LoneOp> lone_ops(const std::vector<Instruction>& instructions,
                             std::span<const CollectiveCall> messages, const std::vector<double>& alone_s,
                             double skew);

// Seconds that the instructions of one chip take from idle streams on, which receives nothing. Its host is
// taken to be ahead.
double lone_seconds(const std::vector<LoneOp>& ops);

// Seconds of these in which the chip surely computes nothing: pauses, and operations that it launches and
// waits for with no computation between.
double blocked_seconds(const std::vector<LoneOp>& ops);

// Least time of each message. [message]
std::vector<double> alone_seconds(const std::vector<CollectiveCall>& messages, const AloneTimes& alone);

// Seconds of the step of one job. REQUIRES: `alone_s` is of its messages.
double relaxed_step_s(const LoweredStep& step, const std::vector<double>& alone_s);

}  // namespace podsim
