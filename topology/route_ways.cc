// Shortest ways to one chip round missing links, found from the chip backwards.
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "topology/route_parts.h"

namespace podsim {
namespace {

bool is_ici(const Link& link) { return link.kind == LinkKind::kIci || link.kind == LinkKind::kIciOptical; }

}  // namespace

Ways::Ways(const Fabric& fabric, ChipId to, bool within_slice)
    : fabric_(&fabric),
      to_(to),
      nodes_(static_cast<NodeId>(fabric.nodes.size())),
      within_slice_(within_slice),
      cost_(within_slice ? fabric.chips : 2 * fabric.nodes.size(), kUnreached) {
  cost_[to] = 0;
}

Ways Ways::in_slice(const Fabric& fabric, ChipId to, ChipId until) {
  Ways ways(fabric, to, true);
  ways.search_slice(until);
  return ways;
}

Ways Ways::anywhere(const Fabric& fabric, ChipId to, ChipId until) {
  Ways ways(fabric, to, false);
  ways.search_all(until);
  return ways;
}

int Ways::hops_from(ChipId chip) const { return static_cast<int>(cost_[chip] % kRelay / kHop); }

// Where a link leads to: a switch that is reached from above can only go on downwards.
Place Ways::landing(NodeId from, NodeId to) const {
  const bool down = to >= fabric_->chips && fabric_->nodes[from].tier > fabric_->nodes[to].tier;
  return down ? to + nodes_ : to;
}

std::int64_t Ways::cost(const Link& link) const {
  const bool relayed = !within_slice_ && link.to < fabric_->chips && link.to != to_;
  return kHop + (relayed ? kRelay : 0) + (link.kind == LinkKind::kNic ? kNic : 0);
}

bool Ways::may_take(Place place, const Link& link) const {
  if (within_slice_) return is_ici(link);
  return place < nodes_ || fabric_->nodes[link.to].tier < fabric_->nodes[link.from].tier;
}

// All links cost the same, so chips are reached in the order of their distance.
void Ways::search_slice(ChipId until) {
  order_.push_back(to_);
  for (std::size_t i = 0; i < order_.size() && order_[i] != until; ++i)
    for (const Link& link : fabric_->out(order_[i])) {
      if (!is_ici(link) || lead_from(link.to)) continue;
      cost_[link.to] = cost_[order_[i]] + kHop;
      order_.push_back(link.to);
    }
}

void Ways::search_all(ChipId until) {
  using Reached = std::pair<std::int64_t, Place>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
  queue.push({0, to_});
  while (!queue.empty()) {
    const auto [so_far, place] = queue.top();
    queue.pop();
    if (so_far > cost_[place]) continue;
    order_.push_back(place);
    if (place == until) return;
    for (LinkId id = fabric_->out_first[node(place)]; id < fabric_->out_first[node(place) + 1]; ++id) {
      const Link& onward = fabric_->links[id];
      if (landing(onward.to, onward.from) != place) continue;
      const Link back = {onward.to, onward.from, onward.kind, {}, {}};  // each link has its reverse
      for (const Place before : {onward.to, onward.to + nodes_}) {
        if ((before >= nodes_ && onward.to < fabric_->chips) || !may_take(before, back)) continue;
        const std::int64_t total = so_far + cost(back);
        if (total >= cost_[before]) continue;
        cost_[before] = total;
        queue.push({total, before});
      }
    }
  }
}

void Ways::next(Place place, std::vector<NextHop>& hops) const {
  if (place == to_) return;
  for (LinkId id = fabric_->out_first[node(place)]; id < fabric_->out_first[node(place) + 1]; ++id) {
    const Link& link = fabric_->links[id];
    if (!may_take(place, link)) continue;
    const Place there = within_slice_ ? link.to : landing(link.from, link.to);
    if (cost_[there] < kUnreached && cost_[there] + cost(link) == cost_[place]) hops.push_back({id, there});
  }
}

}  // namespace podsim
