// A group of chips at regular distances, which takes no room for its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/index_iterator.h"
#include "topology/fabric.h"

namespace podsim {

// From each start on as many rows of chips, a stride apart. Members ascend.
class StridedGroup {
 public:
  using Iterator = IndexIterator<StridedGroup, ChipId>;

  StridedGroup() = default;
  // `offsets` are those of the chips in a row, from its start. REQUIRES: starts and offsets ascend, the first
  // offset is 0, and no row begins before the one before it has ended.
  StridedGroup(std::vector<ChipId> starts, std::int32_t rows, ChipId stride, std::vector<ChipId> offsets);

  const std::vector<ChipId>& starts() const { return starts_; }
  std::int32_t rows() const { return rows_; }
  ChipId stride() const { return stride_; }
  const std::vector<ChipId>& offsets() const { return offsets_; }

  std::size_t size() const { return starts_.size() * in_start(); }
  ChipId operator[](std::size_t i) const;
  ChipId front() const { return (*this)[0]; }
  ChipId back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<std::ptrdiff_t>(size())}; }
  // The first member that is not below the chip; size() where there is none.
  std::size_t lower_bound(ChipId chip) const;

  StridedGroup shifted(ChipId by) const;  // every member by as much
  std::vector<ChipId> list() const;

 private:
  std::size_t in_start() const { return static_cast<std::size_t>(rows_) * offsets_.size(); }

  std::vector<ChipId> starts_, offsets_;
  std::int32_t rows_ = 0;
  ChipId stride_ = 0;
};

}  // namespace podsim
