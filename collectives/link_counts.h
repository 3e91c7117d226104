// How often each of a few amounts was put on each link: sums of many equal contributions without a sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/collective.h"
#include "engine/zero_array.h"

namespace podsim {

// Takes memory where links are loaded only: pages that nobody touches are not there.
class LinkCounts {
 public:
  explicit LinkCounts(std::size_t links);

  // Which of the amounts this is; nothing where it would be one too many.
  std::optional<std::size_t> amount(double units);

  // REQUIRES: a link of the fabric, and an amount by amount().
  void add(LinkId link, std::size_t amount) {
    const auto at = static_cast<std::size_t>(link), word = at / kBits;
    ++counts_[amount][at];
    named_[word] |= std::uint64_t{1} << at % kBits;
    first_word_ = std::min(first_word_, word);
    last_word_ = std::max(last_word_, word);
  }

  bool empty() const { return first_word_ > last_word_; }

  // Appends each link once, in ascending order, with what was put on it, summed from the least amount up.
  // Leaves none.
  void take_sums(std::vector<LinkLoad>& loads);
  // Appends every contribution by itself. Leaves none.
  void take_all(std::vector<LinkLoad>& loads);

 private:
  static constexpr std::size_t kMostAmounts = 4;
  static constexpr std::size_t kBits = 64;  // of a word of named_

  double sum(LinkId link) const;  // from the least amount up
  template <class Visit>
  void take_each(Visit&& visit);

  std::size_t links_;
  std::vector<double> amounts_;                        // as they came
  std::vector<std::size_t> ascending_;                 // of amounts_
  std::vector<ZeroArray<std::int32_t>> counts_;        // [amount][link]
  ZeroArray<std::uint64_t> named_;                     // a bit for each link
  std::size_t first_word_ = SIZE_MAX, last_word_ = 0;  // of named_
  bool exact_ = true;                                  // products and sums of the amounts round nothing
};

}  // namespace podsim
