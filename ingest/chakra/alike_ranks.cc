// Colours of ranks and of meetings, refined by each other.
#include "ingest/chakra/alike_ranks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/distinct_values.h"

namespace podsim::chakra {
namespace {

// What tells nodes apart but for names, and for whom they meet.
auto work_of(const Node& node) {
  return std::tuple(node.id, node.type, node.collective, node.on_host, node.duration_us, node.bytes,
                    node.operations, node.tensor_bytes);
}

// Groups, and partners of messages, by the order in which a trace first has them.
std::vector<std::size_t> routes_of(const Trace& trace) {
  DistinctValues<std::tuple<NodeType, std::int32_t, std::int64_t>> seen;
  std::vector<std::size_t> routes;
  for (const Node& node : trace.nodes)
    if (node.moves_data()) {
      const std::int32_t partner = node.type == NodeType::kSend      ? node.target
                                   : node.type == NodeType::kReceive ? node.source
                                                                     : node.group;
      const std::int64_t tag = node.type == NodeType::kCollective ? 0 : node.tag;
      routes.push_back(seen.of({node.type, partner, tag}));
    }
  return routes;
}

bool same_lists(const Lists& a, const Lists& b) { return a.first == b.first && a.values == b.values; }

// REQUIRES: the routes are those of the traces.
bool same_work(const RankTrace& a, const std::vector<std::size_t>& routes_a, const RankTrace& b,
               const std::vector<std::size_t>& routes_b) {
  if (a.trace == b.trace) return true;
  return a.summary->used == b.summary->used && a.summary->order == b.summary->order &&
         std::ranges::equal(a.trace->nodes, b.trace->nodes, {}, work_of, work_of) && routes_a == routes_b &&
         same_lists(a.trace->control, b.trace->control) && same_lists(a.trace->data, b.trace->data);
}

// By their traces alone.
std::vector<std::size_t> first_colours(const std::vector<RankTrace>& ranks,
                                       std::span<const std::size_t> apart) {
  struct Kind {
    std::size_t rank, colour;
    std::vector<std::size_t> routes;
  };
  // Traces of as many nodes and as much work are compared with each other.
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::vector<Kind>> kinds;
  std::map<const Trace*, std::size_t> known;
  std::vector<std::size_t> colours(ranks.size());
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankTrace& of = ranks[rank];
    if (std::ranges::count(apart, rank) > 0) {
      colours[rank] = next++;
      continue;
    }
    const auto [same, is_new] = known.try_emplace(of.trace.get(), next);
    colours[rank] = same->second;
    if (!is_new) continue;
    std::vector<Kind>& alike =
        kinds[{of.trace->nodes.size(), of.summary->device_compute_us, of.summary->communication_bytes}];
    std::vector<std::size_t> routes = routes_of(*of.trace);
    const auto found = std::ranges::find_if(
        alike, [&](const Kind& kind) { return same_work(ranks[kind.rank], kind.routes, of, routes); });
    if (found != alike.end()) {
      colours[rank] = same->second = found->colour;
    } else {
      alike.push_back({rank, next, std::move(routes)});
      ++next;
    }
  }
  return colours;
}

}  // namespace

AlikeRanks alike_ranks(const std::vector<RankTrace>& ranks, const std::vector<Meeting>& meetings,
                       const std::vector<Time>& times, std::span<const std::size_t> apart) {
  using Ends = std::vector<std::pair<std::size_t, std::int32_t>>;  // a colour and a node each
  std::vector<std::size_t> colours = first_colours(ranks, apart);
  std::vector<std::size_t> of_meeting(meetings.size());
  for (std::size_t before = 0, count = 1; before != count;) {
    before = count;
    DistinctValues<std::pair<Time, Ends>> kinds_of_meetings;
    std::vector<Ends> met(ranks.size());
    for (std::size_t m = 0; m < meetings.size(); ++m) {
      Ends ends;
      for (const Meeting::End& end : meetings[m].ends) ends.emplace_back(colours[end.rank], end.node);
      std::ranges::sort(ends);
      of_meeting[m] = kinds_of_meetings.of({times[m], std::move(ends)});
      for (const Meeting::End& end : meetings[m].ends) met[end.rank].emplace_back(of_meeting[m], end.node);
    }
    DistinctValues<std::pair<std::size_t, Ends>> kinds_of_ranks;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      std::ranges::sort(met[rank]);
      colours[rank] = kinds_of_ranks.of({colours[rank], std::move(met[rank])});
    }
    count = kinds_of_ranks.count();
  }
  const auto firsts = [](const std::vector<std::size_t>& of) {
    std::map<std::size_t, std::size_t> first;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < of.size(); ++i) found.push_back(first.try_emplace(of[i], i).first->second);
    return found;
  };
  return {firsts(colours), firsts(of_meeting)};
}

}  // namespace podsim::chakra
