// A number for each different value.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace podsim {

// Numbers from 0 on, in the order in which values first come. O(log n) comparisons for each.
template <class Value>
class DistinctValues {
 public:
  // ENSURES: equal values have the same number, different ones do not.
  std::size_t of(Value value) { return known_.try_emplace(std::move(value), known_.size()).first->second; }
  std::size_t count() const { return known_.size(); }

 private:
  std::map<Value, std::size_t> known_;
};

}  // namespace podsim
