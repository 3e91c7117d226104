// A group of chips at regular distances, which takes no room for its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/index_iterator.h"
#include "topology/fabric.h"

namespace podsim {

// From each start on as many rows of chips, a stride apart: what a mesh makes of devices that differ in some
// of its axes. Members ascend. Half a million of them take as much room as the eight of this group:
//
//   starts 3, 40; 2 rows; stride 8; offsets 0, 1:   3 4 . 11 12   40 41 . 48 49
class StridedGroup {
 public:
  using Iterator = IndexIterator<StridedGroup, ChipId>;

  StridedGroup() = default;  // of nobody: to be assigned to
  // `offsets` are those of the chips in a row, from its start. REQUIRES: starts and offsets ascend, the first
  // offset is 0, and no row begins before the one before it has ended.
  StridedGroup(std::vector<ChipId> starts, std::int32_t rows, ChipId stride, std::vector<ChipId> offsets);

  const std::vector<ChipId>& starts() const { return starts_; }
  std::int32_t rows() const { return rows_; }                      // from each start
  ChipId stride() const { return stride_; }                        // chips from a row to the next
  const std::vector<ChipId>& offsets() const { return offsets_; }  // chips of a row, from its first

  std::size_t size() const { return starts_.size() * in_start(); }  // members
  ChipId operator[](std::size_t i) const;                           // REQUIRES: i < size()
  ChipId front() const { return (*this)[0]; }
  ChipId back() const { return (*this)[size() - 1]; }
  // O(1), each.
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<std::ptrdiff_t>(size())}; }
  // The first member that is not below the chip; size() where there is none. O(log(starts + chips of a row)).
  std::size_t lower_bound(ChipId chip) const;

  StridedGroup shifted(ChipId by) const;  // every member by as much
  std::vector<ChipId> list() const;       // O(members)

 private:
  // Members from one start on.
  std::size_t in_start() const { return static_cast<std::size_t>(rows_) * offsets_.size(); }

  std::vector<ChipId> starts_, offsets_;
  std::int32_t rows_ = 0;
  ChipId stride_ = 0;
};

}  // namespace podsim
