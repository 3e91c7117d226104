// Counts by link, and reads them off in order.
#include "collectives/link_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

// Whether up to 2^30 of them add up exactly, in any order.
bool adds_up_exactly(double units) {
  constexpr double kLeast = 1.0 / (1 << 12), kMost = 1 << 10;
  return units <= kMost && units / kLeast == std::floor(units / kLeast);
}

}  // namespace

LinkCounts::LinkCounts(std::size_t links) : links_(links), named_(links / kBits + 1) {}

std::optional<std::size_t> LinkCounts::amount(double units) {
  const auto known = std::ranges::find(amounts_, units);
  if (known != amounts_.end()) return static_cast<std::size_t>(known - amounts_.begin());
  if (amounts_.size() == kMostAmounts) return std::nullopt;
  counts_.emplace_back(links_);
  amounts_.push_back(units);
  ascending_.push_back(ascending_.size());
  std::ranges::sort(ascending_, {}, [&](std::size_t a) { return amounts_[a]; });
  exact_ = exact_ && adds_up_exactly(units);
  return amounts_.size() - 1;
}

double LinkCounts::sum(LinkId link) const {
  double sum = 0;
  for (const std::size_t a : ascending_) {
    const std::int32_t count = counts_[a][static_cast<std::size_t>(link)];
    if (exact_)
      sum += count * amounts_[a];
    else
      for (std::int32_t i = 0; i < count; ++i) sum += amounts_[a];
  }
  return sum;
}

template <class Visit>
void LinkCounts::take_each(Visit&& visit) {
  for (std::size_t word = first_word_; word <= last_word_; ++word) {
    for (std::uint64_t bits = named_[word]; bits != 0; bits &= bits - 1) {
      const auto link = static_cast<LinkId>(word * kBits + static_cast<std::size_t>(std::countr_zero(bits)));
      visit(link);
      for (ZeroArray<std::int32_t>& counts : counts_) counts[static_cast<std::size_t>(link)] = 0;
    }
    named_[word] = 0;
  }
  first_word_ = SIZE_MAX;
  last_word_ = 0;
}

void LinkCounts::take_sums(std::vector<LinkLoad>& loads) {
  PODSIM_CHECK(loads.empty(), "links are counted or listed, not both");
  if (empty()) return;
  take_each([&](LinkId link) { loads.push_back({link, sum(link)}); });
}

void LinkCounts::take_all(std::vector<LinkLoad>& loads) {
  if (empty()) return;
  take_each([&](LinkId link) {
    for (std::size_t a = 0; a < amounts_.size(); ++a)
      loads.insert(loads.end(), static_cast<std::size_t>(counts_[a][static_cast<std::size_t>(link)]),
                   {link, amounts_[a]});
  });
}

}  // namespace podsim
