// Levels still to come in progressive filling, lowest first.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace podsim {

// A queue of (level, resource). While every call of `pop` takes a good part of all entries, as in symmetric
// traffic, it scans a plain list; from the first that does not, it keeps a heap.
// Nothing is ever taken out but by `pop`: an entry whose resource has moved on is for the caller to skip.
class Levels {
 public:
  bool empty() const { return entries_.empty(); }

  void push(double level, std::int32_t resource);

  // Moves the resources of the lowest level, bit-equal levels counting as one, to `due`. The level.
  // REQUIRES: !empty(). O(1) per entry taken while they are many, else O(log n).
  double pop(std::vector<std::int32_t>& due);

 private:
  using Entry = std::pair<double, std::int32_t>;

  double scan(std::vector<std::int32_t>& due);

  std::vector<Entry> entries_;  // in no order until heaped_, then a heap with the lowest level first
  bool heaped_ = false;
};

}  // namespace podsim
