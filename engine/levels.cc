// Scanning while it pays, then a heap.
#include "engine/levels.h"

#include <algorithm>
#include <functional>

namespace podsim {

void Levels::push(double level, std::int32_t resource) {
  if (entries_.empty()) heaped_ = false;
  entries_.emplace_back(level, resource);
  if (heaped_) std::push_heap(entries_.begin(), entries_.end(), std::greater<>());
}

double Levels::pop(std::vector<std::int32_t>& due) {
  if (!heaped_) return scan(due);
  const double level = entries_.front().first;
  while (!entries_.empty() && entries_.front().first == level) {
    due.push_back(entries_.front().second);
    std::pop_heap(entries_.begin(), entries_.end(), std::greater<>());
    entries_.pop_back();
  }
  return level;
}

double Levels::scan(std::vector<std::int32_t>& due) {
  // A scan that takes less than this part of the entries costs more than their share of a heap.
  constexpr std::size_t kProductive = 8;
  double level = entries_.front().first;
  for (const Entry& entry : entries_) level = std::min(level, entry.first);
  std::size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (entry.first == level) {
      due.push_back(entry.second);
    } else {
      entries_[kept++] = entry;
    }
  }
  heaped_ = (entries_.size() - kept) * kProductive < entries_.size();
  entries_.resize(kept);
  if (heaped_) std::make_heap(entries_.begin(), entries_.end(), std::greater<>());
  return level;
}

}  // namespace podsim
