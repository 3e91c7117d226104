// The operations of one step on one data rank, found by stage and type; what rules of the replay ask for.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "scheduler/replay/recorded_types.h"
#include "scheduler/replay/replay_graph.h"

namespace podsim {

// An index of rows: by stage, type and sequence number.
class StageOps {
 public:
  // The ops of the smallest step on data rank 0, in the order of rows; of the types that are used. Throws
  // ReplayError.
  StageOps(const RecordedTrace& trace, const RecordedTypes& types);

  int stages() const { return stages_; }
  int data_ranks() const { return data_ranks_; }
  int chunks() const { return chunks_; }
  const std::vector<const RecordedOp*>& rows() const { return rows_; }
  const RecordedOp& row(std::int32_t op) const { return *rows_[static_cast<std::size_t>(op)]; }
  double end_s(std::int32_t op) const { return trace_.end_s(row(op)); }

  // By start, then number, then name of the type: the order of every stream.
  std::vector<std::int32_t> sorted(int stage, std::initializer_list<OpType> types) const;
  const std::vector<std::int32_t>& of_type(int stage, OpType type) const {
    return of(stage, type);
  }  // by number
  int count(int stage, OpType type) const { return static_cast<int>(of(stage, type).size()); }
  // -1 where there is none.
  std::int32_t find(int stage, OpType type, int sequence) const;
  // Throws ReplayError where there is none.
  std::int32_t need(int stage, OpType type, int sequence) const;

  // Of the ops, the one that ends latest; of several the first in the order of rows. REQUIRES: there is one.
  std::int32_t latest_ending(std::vector<std::int32_t> ops) const;

 private:
  const std::vector<std::int32_t>& of(int stage, OpType type) const {
    return by_type_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(type)];
  }

  const RecordedTrace& trace_;
  std::vector<const RecordedOp*> rows_;
  std::vector<std::array<std::vector<std::int32_t>, kOpTypes>> by_type_;  // [stage][type], by sequence
  int stages_ = 0, data_ranks_ = 0, chunks_ = 0;
};

}  // namespace podsim
