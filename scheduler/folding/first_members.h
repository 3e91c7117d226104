// Classes of one kind of thing, numbered by their first members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace podsim {

// Classes by any numbers of their own, renumbered in the order of their first members.
class FirstMembers {
 public:
  // Of the class `own`: `count` members of which the first is `thing`, which lies at `where`. REQUIRES:
  // numbers of classes below some few times the classes.
  void add(std::int32_t own, std::int64_t thing, std::int64_t count, std::int32_t where) {
    if (static_cast<std::size_t>(own) >= all_.size()) all_.resize(static_cast<std::size_t>(own) + 1);
    Class& of = all_[static_cast<std::size_t>(own)];
    of.count += count;
    if (thing < of.first) of.first = thing, of.where = where;
  }

  struct Class {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), count = 0;
    std::int32_t where = 0;  // of its first member
  };
  // In order; leaves in `number_of` the number of each own one, -1 = it has no members.
  std::vector<Class> number(std::vector<std::int32_t>& number_of) const {
    std::vector<std::size_t> order;
    for (std::size_t own = 0; own < all_.size(); ++own)
      if (all_[own].count > 0) order.push_back(own);
    std::ranges::sort(order, {}, [&](std::size_t own) { return all_[own].first; });
    number_of.assign(all_.size(), -1);
    std::vector<Class> result;
    for (const std::size_t own : order) {
      number_of[own] = static_cast<std::int32_t>(result.size());
      result.push_back(all_[own]);
    }
    return result;
  }

 private:
  std::vector<Class> all_;
};

}  // namespace podsim
