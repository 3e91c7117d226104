// Members by division.
#include "collectives/strided_group.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"

namespace podsim {

StridedGroup::StridedGroup(std::vector<ChipId> starts, std::int32_t rows, ChipId stride,
                           std::vector<ChipId> offsets)
    : starts_(std::move(starts)), offsets_(std::move(offsets)), rows_(rows), stride_(stride) {
  PODSIM_CHECK(!starts_.empty() && !offsets_.empty() && rows >= 1, "a group has members");
  PODSIM_CHECK(offsets_.front() == 0 && (rows == 1 || offsets_.back() < stride), "rows follow each other");
}

ChipId StridedGroup::operator[](std::size_t i) const {
  const std::size_t row = i / offsets_.size(), rows = static_cast<std::size_t>(rows_);
  return starts_[row / rows] + static_cast<ChipId>(row % rows) * stride_ + offsets_[i % offsets_.size()];
}

std::size_t StridedGroup::lower_bound(ChipId chip) const {
  const auto after = std::ranges::upper_bound(starts_, chip);
  if (after == starts_.begin()) return 0;
  const auto start = static_cast<std::size_t>(after - starts_.begin()) - 1;
  const ChipId from_start = chip - starts_[start];
  const std::int32_t row = rows_ == 1 ? 0 : std::min(from_start / stride_, rows_ - 1);
  const auto in_row = std::ranges::lower_bound(offsets_, from_start - row * stride_) - offsets_.begin();
  return start * in_start() + static_cast<std::size_t>(row) * offsets_.size() +
         static_cast<std::size_t>(in_row);
}

StridedGroup StridedGroup::shifted(ChipId by) const {
  StridedGroup group = *this;
  for (ChipId& start : group.starts_) start += by;
  return group;
}

std::vector<ChipId> StridedGroup::list() const {
  std::vector<ChipId> chips;
  chips.reserve(size());
  for (const ChipId start : starts_)
    for (std::int32_t row = 0; row < rows_; ++row)
      for (const ChipId offset : offsets_) chips.push_back(start + row * stride_ + offset);
  return chips;
}

}  // namespace podsim
