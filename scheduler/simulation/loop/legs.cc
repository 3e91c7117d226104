// Where hosts are beside legs, and sums of legs.
#include "scheduler/simulation/loop/legs.h"

#include <algorithm>

namespace podsim {
namespace {

// Where it is in the list, to which it is added where it is new.
template <class List, class Same>
std::size_t place_among(List& list, const typename List::value_type& value, Same&& same) {
  const auto found =
      std::ranges::find_if(list, [&](const typename List::value_type& each) { return same(each, value); });
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(value);
  return list.size() - 1;
}

std::size_t place_of(std::vector<std::int32_t>& patterns, std::int32_t pattern) {
  return place_among(patterns, pattern, [](std::int32_t a, std::int32_t b) { return a == b; });
}

std::size_t place_of(std::vector<LegLaunches>& launches, const LegLaunches& launch) {
  return place_among(launches, launch, [](const LegLaunches& a, const LegLaunches& b) {
    return a.stream == b.stream && a.communicator == b.communicator;
  });
}

}  // namespace

void LegOutcome::clear() {
  length = host_add = {};
  host_floor = kNever;
  bucket.fill({});
  exposed.clear();
}

bool HostAhead::in_time(std::span<const HostCall> calls, Time begin, Time& latest) {
  Time least = latest;
  for (const HostCall& call : calls) {
    const Time at = begin + call.at;
    if (call.synchronises) {
      add_ = LegOutcome::kNever;
      floor_ = at;
      continue;
    }
    add_ = LegOutcome::later(add_, call.length);
    floor_ = LegOutcome::later(floor_, call.length);
    if (lead_ < Time::max()) floor_ = std::max(floor_, at - lead_);
    if (add_ != LegOutcome::kNever) least = std::min(least, at - add_ - kRoundingMargin);
    if (floor_ + kRoundingMargin > at) return false;
  }
  latest = least;
  return true;
}

LegSums::LegSums(std::span<const PlacedLeg> legs) : length(1), longest(1), bucket(1), events(1) {
  for (const PlacedLeg& each : legs) {
    for (const auto& [pattern, time] : each.leg->alone.exposed) place_of(patterns, pattern);
    for (const LegLaunches& launch : each.leg->launched) place_of(launches, launch);
  }
  length.reserve(legs.size() + 1);
  longest.reserve(legs.size() + 1);
  events.reserve(legs.size() + 1);
  bucket.reserve(legs.size() + 1);
  exposed.reserve((legs.size() + 1) * patterns.size());
  launched.reserve((legs.size() + 1) * launches.size());
  exposed.resize(patterns.size());
  launched.resize(launches.size());
  for (const PlacedLeg& placed : legs) {
    const Leg& leg = *placed.leg;
    length.push_back(length.back() + leg.alone.length);
    longest.push_back(longest.back() + leg.longest);
    events.push_back(events.back() + leg.events);
    bucket.push_back(bucket.back());
    for (std::size_t b = 0; b < kBuckets; ++b) bucket.back()[b] += leg.alone.bucket[b];
    const std::size_t before_exposed = exposed.size(), before_launched = launched.size();
    for (std::size_t p = 0; p < patterns.size(); ++p)
      exposed.push_back(Time{exposed[before_exposed - patterns.size() + p]});
    for (std::size_t l = 0; l < launches.size(); ++l)
      launched.push_back(std::int32_t{launched[before_launched - launches.size() + l]});
    for (const auto& [pattern, time] : leg.alone.exposed)
      exposed[before_exposed + place_of(patterns, pattern)] += time;
    for (const LegLaunches& each : leg.launched)
      launched[before_launched + place_of(launches, each)] += each.count;
  }
}

}  // namespace podsim
