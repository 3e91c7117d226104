// Numbers of the pairs of a group class and a message of its communicator, for tables over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"

namespace podsim {

// By arithmetic from the message alone: of groups there are so many that a look at one is far from the
// processor.
class GroupMessages {
 public:
  // The groups of a communicator follow each other, as fold() numbers them.
  explicit GroupMessages(const System& system) {
    std::vector<std::int64_t> messages;  // [communicator]
    for (const std::int32_t communicator : system.communicator_of) {
      if (static_cast<std::size_t>(communicator) >= messages.size()) messages.resize(communicator + 1, 0);
      rows_.push_back({messages[communicator]++, 0});
    }
    std::vector<std::int64_t> begin(messages.size(), 0);  // [communicator] number of group 0, if it had it
    for (std::size_t g = 0; g < system.groups.size(); ++g) {
      const int communicator = system.groups[g].communicator;
      if (static_cast<std::size_t>(communicator) >= messages.size()) continue;
      const std::int64_t step = messages[communicator];
      if (g == 0 || system.groups[g - 1].communicator != communicator)
        begin[communicator] = size_ - static_cast<std::int64_t>(g) * step;
      size_ += step;
    }
    for (std::size_t m = 0; m < rows_.size(); ++m) {
      rows_[m].first += begin[system.communicator_of[m]];
      rows_[m].step = messages[system.communicator_of[m]];
    }
  }

  std::size_t size() const { return static_cast<std::size_t>(size_); }

  // REQUIRES: the message is of the group's communicator.
  std::size_t operator()(std::int32_t group, std::int32_t message) const {
    return static_cast<std::size_t>(rows_[message].first + group * rows_[message].step);
  }

 private:
  struct Row {
    std::int64_t first, step;  // number = first + group * step
  };
  std::int64_t size_ = 0;
  std::vector<Row> rows_;  // [message]
};

}  // namespace podsim
