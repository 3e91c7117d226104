// Matches communication kernels by group and order.
#include "ingest/kineto/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/check.h"

namespace podsim::kineto {
namespace {

struct End {
  std::size_t rank = 0;  // among the profiles
  const DeviceEvent* event = nullptr;
};
using Joined = std::vector<End>;
using GroupName = std::pair<std::string, std::string>;  // its name, its ranks

const CollectiveCall& call_of(const RankProfile& rank, const DeviceEvent& event) {
  return rank.profile.calls[static_cast<std::size_t>(event.call)];
}

std::string name_without_parameters(const RankProfile& rank, const DeviceEvent& event) {
  const std::string& name = rank.profile.name_at(event.name);
  return name.substr(0, name.find('('));
}

// Of those that one rank has at least; sorted by their first beginning.
std::vector<Joined> matched(const std::vector<RankProfile>& ranks, std::int64_t& unmatched) {
  std::map<GroupName, std::map<std::size_t, std::vector<const DeviceEvent*>>> calls;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const DeviceEvent& event : ranks[rank].profile.device_events) {
      if (event.call < 0) continue;
      const CollectiveCall& call = call_of(ranks[rank], event);
      calls[{call.group.value_or(""), call.group ? call.ranks.value_or("") : ""}][rank].push_back(&event);
    }
  std::vector<Joined> all;
  for (const auto& [group, of_ranks] : calls) {
    std::size_t least = of_ranks.begin()->second.size(), sum = 0;
    for (const auto& [rank, events] : of_ranks) {
      least = std::min(least, events.size());
      sum += events.size();
    }
    if (of_ranks.size() < 2 && ranks.size() > 1) least = 0;
    unmatched += static_cast<std::int64_t>(sum - least * of_ranks.size());
    for (std::size_t k = 0; k < least; ++k) {
      Joined& joined = all.emplace_back();
      for (const auto& [rank, events] : of_ranks) joined.push_back({rank, events[k]});
    }
  }
  const auto first_begin = [](const Joined& joined) {
    return std::ranges::min(joined, {}, [](const End& end) { return end.event->begin_ns; }).event->begin_ns;
  };
  std::ranges::stable_sort(all, {}, first_begin);
  return all;
}

// Of collectives in which nobody is done before all have come.
bool waits_for_all(const std::string& kind) {
  return kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" || kind == "barrier";
}

// The lower of the two in the middle. REQUIRES: there are some.
std::int64_t lower_median(std::vector<std::int64_t> values) {
  PODSIM_CHECK(!values.empty(), "a median is of values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// [rank] what to add to its clock; zeros where the clocks can be one.
std::vector<std::int64_t> shifts(const std::vector<RankProfile>& ranks, const std::vector<Joined>& all) {
  std::vector<std::int64_t> shift(ranks.size(), 0);
  bool impossible = false;
  std::vector<std::vector<std::int64_t>> behind(ranks.size());  // the last end
  for (const Joined& joined : all) {
    if (!waits_for_all(call_of(ranks[joined.front().rank], *joined.front().event).kind)) continue;
    std::int64_t last_begin = joined.front().event->begin_ns, first_end = joined.front().event->end_ns;
    std::int64_t last_end = first_end;
    for (const End& end : joined) {
      last_begin = std::max(last_begin, end.event->begin_ns);
      first_end = std::min(first_end, end.event->end_ns);
      last_end = std::max(last_end, end.event->end_ns);
    }
    impossible = impossible || first_end < last_begin;
    for (const End& end : joined) behind[end.rank].push_back(last_end - end.event->end_ns);
  }
  if (!impossible) return shift;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (!behind[rank].empty()) shift[rank] = lower_median(behind[rank]);
  return shift;
}

JoinedCollective collective_of(const std::vector<RankProfile>& ranks, const Joined& joined,
                               JoinedRanks& result) {
  JoinedCollective collective;
  const CollectiveCall& call = call_of(ranks[joined.front().rank], *joined.front().event);
  collective.kind = call.kind;
  collective.group = call.group.value_or("");
  std::set<std::string> names;
  const auto begin = [&](const End& end) { return end.event->begin_ns + result.shift_ns[end.rank]; };
  const auto finish = [&](const End& end) { return end.event->end_ns + result.shift_ns[end.rank]; };
  const auto lasts = [](const End& end) { return end.event->end_ns - end.event->begin_ns; };
  const End& first = *std::ranges::min_element(joined, {}, begin);
  const End& last = *std::ranges::max_element(joined, {}, begin);
  const std::int64_t last_end = finish(*std::ranges::max_element(joined, {}, finish));
  const std::int64_t first_end = finish(*std::ranges::min_element(joined, {}, finish));
  collective.last_end_ns = last_end;
  for (const End& end : joined) {
    const DeviceEvent* all = ranks[end.rank].profile.device_events.data();
    collective.events.emplace_back(end.rank, static_cast<std::size_t>(end.event - all));
    names.insert(name_without_parameters(ranks[end.rank], *end.event));
    const std::int64_t waited = std::max<std::int64_t>(std::min(begin(last), finish(end)) - begin(end), 0);
    collective.waited_ns += waited;
    result.ranks[end.rank].waited_ns += waited;
    result.ranks[last.rank].waited_for_ns += waited;
  }
  ++result.ranks[last.rank].last;
  collective.kernels.assign(names.begin(), names.end());
  if (names.size() > 1) ++result.mixed;
  collective.shortest_ns = lasts(*std::ranges::min_element(joined, {}, lasts));
  collective.longest_ns = lasts(*std::ranges::max_element(joined, {}, lasts));
  collective.first_arrival = ranks[first.rank].rank;
  collective.last_arrival = ranks[last.rank].rank;
  collective.spread_of_begins_ns = begin(last) - begin(first);
  collective.transfer_ns = last_end - begin(last);
  if (waits_for_all(collective.kind)) result.residual_ns = std::max(result.residual_ns, last_end - first_end);
  return collective;
}

}  // namespace

JoinedRanks join(const std::vector<RankProfile>& ranks) {
  JoinedRanks result;
  std::vector<std::int64_t> compute_ns;
  for (const RankProfile& rank : ranks) compute_ns.push_back(rank.summary.whole.compute);
  const auto middle_ns = static_cast<double>(std::max<std::int64_t>(lower_median(compute_ns), 1));
  for (const RankProfile& rank : ranks)
    result.ranks.push_back({rank.rank, 0, 0, 0, static_cast<double>(rank.summary.whole.compute) / middle_ns});
  const std::vector<Joined> all = matched(ranks, result.unmatched);
  result.shift_ns = shifts(ranks, all);
  for (const Joined& joined : all) result.collectives.push_back(collective_of(ranks, joined, result));
  return result;
}

}  // namespace podsim::kineto
