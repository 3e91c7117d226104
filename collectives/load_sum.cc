// Sums what transfers put on links: sort by link and amount, then add up.
#include "collectives/load_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>

namespace podsim {
namespace {

// Digit by digit of the link's number above the least, lowest digit first; a stable pass each. A digit has no
// more values than there are loads, so that the table does not cost more than they do.
void sort_by_link(std::vector<LinkLoad>& loads) {
  constexpr int kMostBits = 11;
  const int digit_bits = std::clamp(static_cast<int>(std::bit_width(loads.size())) - 1, 1, kMostBits);
  const std::uint32_t mask = (std::uint32_t{1} << digit_bits) - 1;
  const auto [least, most] = std::ranges::minmax(loads, {}, &LinkLoad::link);
  const auto range = static_cast<std::uint32_t>(most.link - least.link);
  std::vector<LinkLoad> sorted(loads.size());
  for (int shift = 0; shift < 32 && range >> shift > 0; shift += digit_bits) {
    const auto digit = [&, base = least.link](const LinkLoad& load) {
      return static_cast<std::uint32_t>(load.link - base) >> shift & mask;
    };
    std::array<std::uint32_t, (1 << kMostBits) + 1> first;
    std::fill_n(first.begin(), mask + 2, 0);
    for (const LinkLoad& load : loads) ++first[digit(load) + 1];
    std::partial_sum(first.begin(), first.begin() + mask + 1, first.begin());
    for (const LinkLoad& load : loads) sorted[first[digit(load)]++] = load;
    loads.swap(sorted);
  }
}

// Many loads are placed by their links, which is several times faster than comparing them.
void sort_by_link_and_bytes(std::vector<LinkLoad>& loads) {
  constexpr std::size_t kMany = 64;
  if (loads.size() < kMany) {
    std::ranges::sort(loads, {}, [](const LinkLoad& load) { return std::tuple(load.link, load.bytes); });
    return;
  }
  sort_by_link(loads);
  for (auto run = loads.begin(); run != loads.end();) {
    auto end = run + 1;
    bool sorted = true;
    for (; end != loads.end() && end->link == run->link; ++end)
      sorted = sorted && end[-1].bytes <= end->bytes;
    if (!sorted) std::ranges::sort(run, end, {}, &LinkLoad::bytes);
    run = end;
  }
}

}  // namespace

Time LoadSum::add(const Fabric& fabric, const std::vector<RouteHop>& hops, double units) {
  for (const RouteHop& hop : hops) add(hop.link, hop.share * units);
  const Time latency = route_latency(fabric, hops);
  longest_latency_ = std::max(longest_latency_, latency);
  if (flows_collide(fabric) && !hops.empty()) {
    transport_ = fabric.transport;
    const NodeId source = fabric.links[hops.front().link].from;
    const NodeId destination = fabric.links[hops.back().link].to;
    for (const RouteHop& hop : hops) flows_.push_back({hop.link, source, destination});
  }
  if (pending_.size() < merge_at_) return latency;
  merge();
  merge_at_ = std::max(merge_at_, 2 * pending_.size());
  return latency;
}

Time LoadSum::add(const Fabric& fabric, ChipId from, ChipId to, double units) {
  constexpr std::size_t kMany = 4096;  // contributions that are counted more quickly than sorted
  const RegularTree* tree = slices_ == nullptr ? fabric.tree() : nullptr;
  if (tree == nullptr || fabric.damaged || flows_collide(fabric))
    return add(fabric, route(fabric, from, to), units);
  if (pending_.size() >= kMany && countable_) begin_counting(fabric.links.size());
  std::optional<std::size_t> amount;
  if (counts_) {
    amount = counts_->amount(units);
    if (!amount) stop_counting();
  }
  const Time latency = amount ? tree->route(from, to, [&](LinkId link) { counts_->add(link, *amount); })
                              : tree->route(from, to, [&](LinkId link) { add(link, units); });
  longest_latency_ = std::max(longest_latency_, latency);
  return latency;
}

void LoadSum::begin_counting(std::size_t links) {
  if (!counts_) counts_ = std::make_unique<LinkCounts>(links);
  if (!count_pending()) stop_counting();
}

// False where some have more amounts than can be counted.
bool LoadSum::count_pending() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const std::optional<std::size_t> amount = counts_->amount(pending_[i].bytes);
    if (!amount) {
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(i));
      return false;
    }
    counts_->add(pending_[i].link, *amount);
  }
  pending_.clear();
  return true;
}

void LoadSum::stop_counting() {
  counts_->take_all(pending_);
  counts_.reset();
  countable_ = false;
}

std::vector<LinkLoad> LoadSum::loads(Bytes per_unit) {
  if (counts_ && !count_pending()) stop_counting();
  if (counts_)
    counts_->take_sums(pending_);
  else
    merge();
  countable_ = true;
  slow_down_collisions();
  for (LinkLoad& load : pending_) load.bytes *= per_unit.value;
  std::erase_if(pending_, [](const LinkLoad& load) { return load.bytes <= 0; });
  std::vector<LinkLoad> result(pending_.begin(), pending_.end());  // leaves the room for the next sum
  pending_.clear();
  longest_latency_ = {};
  return result;
}

void LoadSum::slow_down_collisions() {
  std::ranges::sort(flows_);
  std::vector<NodeId> destinations;
  for (std::size_t i = 0, end; i < flows_.size(); i = end) {
    const LinkId link = flows_[i].link;
    std::size_t sources = 0;
    destinations.clear();
    for (end = i; end < flows_.size() && flows_[end].link == link; ++end) {
      if (end == i || flows_[end].source != flows_[end - 1].source) ++sources;
      destinations.push_back(flows_[end].destination);
    }
    std::ranges::sort(destinations);
    const auto repeated = std::unique(destinations.begin(), destinations.end());
    const auto different = static_cast<std::size_t>(repeated - destinations.begin());
    const auto load = std::ranges::lower_bound(pending_, link, {}, &LinkLoad::link);
    load->bytes /= transport_.collided_share(sources, different);
  }
  flows_.clear();
}

void LoadSum::merge() {
  sort_by_link_and_bytes(pending_);
  std::size_t kept = 0;
  for (const LinkLoad& load : pending_) {
    if (kept > 0 && pending_[kept - 1].link == load.link)
      pending_[kept - 1].bytes += load.bytes;
    else
      pending_[kept++] = load;
  }
  pending_.resize(kept);
}

}  // namespace podsim
