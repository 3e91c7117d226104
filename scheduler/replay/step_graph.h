// A step of several ranks as other tools record it: operations, what each waits for, and the transfers in
// which ranks meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/collective.h"
#include "engine/units.h"

namespace podsim {

// One operation of one rank.
struct StepOp {
  Time duration;               // of its own; the members of a transfer take as long as that
  std::uint64_t node = 0;      // its number in the trace
  std::int32_t rank = 0;       // among the ranks of the graph
  std::int32_t stream = -1;    // of all ranks; its operations run one at a time. -1: none
  std::int32_t transfer = -1;  // in StepGraph::transfers; -1: none
  bool computes = false;       // its duration belongs to a chip: a slow one takes longer
};

// Operations that move data together once the last of them has come.
struct RecordedTransfer {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;                        // as a Collective has them
  std::vector<std::int32_t> members;  // operations
  std::vector<std::int32_t> group;    // ranks of the run; those that have no trace do as the others
  Time recorded = {};                 // what it took, where the trace says so
  bool lasts_as_recorded = false;     // nothing is known that another fabric could be asked
  std::size_t count = 1;              // of the run, that begin and end together and stand here once
};

// What an operation is spent with where it is no transfer.
enum class WorkKind : std::uint8_t { kComputing, kCopying, kHost };
inline constexpr int kWorkKinds = 3;

// INVARIANT: `first_wait` has an entry for each operation and one more; waits name operations of the graph.
struct StepGraph {
  std::vector<std::int64_t> rank_number;  // [rank] in the run
  std::vector<StepOp> ops;
  std::vector<std::size_t> first_wait = {0};  // [op], and the end
  std::vector<std::int32_t> waits;            // operations whose end an operation waits for
  std::vector<RecordedTransfer> transfers;
  std::int32_t streams = 0;
  std::vector<std::string> notes;  // what was assumed
  // [rank] numbers of other ranks that do the same at the same times and are left out; empty: none are.
  std::vector<std::vector<std::int64_t>> alike;
  // [op] equal for the same work on several ranks, a number of kinds_of_work; empty: not known. Of transfers
  // -1.
  std::vector<std::int32_t> work;
  std::vector<WorkKind> kinds_of_work;
  std::vector<std::int32_t> stage;  // [rank] of the pipeline, -1 where it is not known; empty: of none

  std::size_t rank_of(std::size_t op) const { return static_cast<std::size_t>(ops[op].rank); }
  std::span<const std::int32_t> waits_of(std::size_t op) const {
    return {waits.data() + first_wait[op], waits.data() + first_wait[op + 1]};
  }
};

// How long a transfer takes alone.
using TransferTimer = std::function<Time(CollectiveKind, Bytes, const std::vector<std::int32_t>& group)>;

// Every rank that has a trace by its number, those that are left out too, and the rank of the graph that does
// as it does.
std::vector<std::pair<std::int64_t, std::size_t>> ranks_in_order(const StepGraph& graph);

// "rank 3 node 17"
std::string describe(const StepGraph& graph, std::int32_t op);

}  // namespace podsim
