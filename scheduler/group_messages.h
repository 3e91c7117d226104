// Numbers of the pairs of a group class and a message of its communicator, for tables over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/system.h"

namespace podsim {

class GroupMessages {
 public:
  explicit GroupMessages(const System& system) {
    std::vector<std::size_t> messages;  // [communicator]
    for (const std::int32_t communicator : system.communicator_of) {
      if (static_cast<std::size_t>(communicator) >= messages.size()) messages.resize(communicator + 1, 0);
      place_.push_back(messages[communicator]++);
    }
    for (const GroupClass& group : system.groups) {
      first_.push_back(size_);
      size_ += messages[group.communicator];
    }
  }

  std::size_t size() const { return size_; }

  // REQUIRES: the message is of the group's communicator.
  std::size_t operator()(std::int32_t group, std::int32_t message) const {
    return first_[group] + place_[message];
  }

 private:
  std::size_t size_ = 0;
  std::vector<std::size_t> place_;  // [message] among those of its communicator
  std::vector<std::size_t> first_;  // [group]
};

}  // namespace podsim
