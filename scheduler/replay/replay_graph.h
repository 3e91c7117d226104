// Which operation of a training step waits for which: the streams and collectives behind a recorded trace.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler/replay/recorded_trace.h"
#include "scheduler/replay/recorded_types.h"

namespace podsim {

// What keeps a trace from being replayed, in words that name the operation.
struct ReplayError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The same in every step and on every data rank.
struct ReplayOp {
  OpType type = OpType::kForwardCompute;
  std::int32_t sequence = 0;
  std::int32_t microbatch = -1;
  std::int16_t stage = 0;
  std::int16_t chunk = -1;
  // A transfer that was recorded and never launched: before the first or after the last microbatch of a
  // direction, or beyond the first or last chunk of the model.
  bool no_op = false;
};

// Operations that move data together, or one alone. Nobody moves data before the last one has started.
struct ReplayGroup {
  std::int32_t first = 0, count = 0;  // in ReplayGraph::members
  bool transfers = false;             // else one operation that waits for nobody
  bool across_ranks = false;          // the members of all data ranks wait for each other
};

// Operations of one step on one data rank, what each waits for, and which are launched together.
// INVARIANT: the dependencies of a group lie in groups before it.
struct ReplayGraph {
  std::vector<ReplayOp> ops;
  int stages = 0, data_ranks = 0, chunks = 0;  // chunks: of a stage
  RecordedTypes types;
  std::vector<ReplayGroup> groups;             // each op is in one; a group comes after all that it waits for
  std::vector<std::int32_t> members;           // ops, by group
  std::vector<std::int32_t> first_dependency;  // [op], and one more; in `dependencies`
  std::vector<std::int32_t> dependencies;      // ops whose end an op waits for

  std::span<const std::int32_t> members_of(const ReplayGroup& group) const {
    return {members.data() + group.first, static_cast<std::size_t>(group.count)};
  }
  std::span<const std::int32_t> dependencies_of(std::int32_t op) const {
    return {dependencies.data() + first_dependency[op], dependencies.data() + first_dependency[op + 1]};
  }
};

std::string describe(const ReplayOp& op);  // "forward-send 3 of stage 1"

// The graph of the smallest step on data rank 0. Rules (docs/theory/stragglers.md): computations of a stage
// are one stream; each of the four kinds of transfers between stages is one; the collectives over data ranks
// are one; input waits for nothing. A transfer is matched to its computation by order, and to its peer on the
// next stage by order, modulo the stages, so that chunks may be interleaved. Without transfers a computation
// waits for that of the chunk before it. A type that the trace has nowhere is left out. Throws ReplayError
// where an operation that the rules need is missing, where senders and receivers do not pair, and where
// operations wait for each other in a circle.
ReplayGraph build_replay_graph(const RecordedTrace& trace);

}  // namespace podsim
