// Compares slices with the first one, node by node and link by link.
#include "topology/alike_slices.h"

#include <algorithm>

namespace podsim {

AlikeSlices::AlikeSlices(const Fabric& fabric)
    : fabric_(&fabric), slice_chips_(fabric.slices.front().chips()) {
  const auto slices = static_cast<NodeId>(fabric.slices.size());
  core_ = static_cast<NodeId>(fabric.nodes.size()) - 1;
  first_switch_ = core_ - slices;
  hosts_ = (first_switch_ - fabric.chips) / slices;
}

NodeId AlikeSlices::in_first_slice(NodeId node) const {
  if (node < fabric_->chips) return node % slice_chips_;
  if (node < first_switch_) return fabric_->chips + (node - fabric_->chips) % hosts_;
  return node < core_ ? first_switch_ : core_;
}

LinkId AlikeSlices::in_first(LinkId link) const {
  const NodeId from = fabric_->links[link].from;
  if (from == core_) return fabric_->out_first[core_];
  return fabric_->out_first[in_first_slice(from)] + (link - fabric_->out_first[from]);
}

bool AlikeSlices::alike() const {
  const auto& out = fabric_->out_first;
  for (NodeId node = 0; node < core_; ++node) {
    const NodeId first = in_first_slice(node);
    if (out[node + 1] - out[node] != out[first + 1] - out[first]) return false;
  }
  const auto as_in_first = [&](LinkId id) {
    const Link link = fabric_->links[id], first = fabric_->links[in_first(id)];
    return in_first_slice(link.to) == in_first_slice(first.to) && link.kind == first.kind &&
           link.bandwidth == first.bandwidth && link.latency == first.latency;
  };
  for (LinkId id = 0; id < static_cast<LinkId>(fabric_->links.size()); ++id)
    if (!as_in_first(id)) return false;
  return true;
}

std::optional<AlikeSlices> AlikeSlices::of(const Fabric& fabric) {
  if (fabric.slices.size() < 2 || fabric.damaged || fabric.routing != Routing::kAdaptive) return std::nullopt;
  const AlikeSlices slices(fabric);
  return slices.alike() ? std::optional(slices) : std::nullopt;
}

std::size_t AlikeSlices::ranks_in_first(std::span<const ChipId> group) const {
  const ChipId slice = group.front() / slice_chips_;
  std::size_t ranks = 1;
  while (ranks < group.size() && group[ranks] / slice_chips_ == slice) ++ranks;
  if (ranks == group.size() || group.size() % ranks != 0) return group.size();
  const ChipId shift = group[ranks] - group.front();
  if (shift % slice_chips_ != 0) return group.size();
  for (std::size_t i = ranks; i < group.size(); ++i)
    if (group[i] - group[i - ranks] != shift) return group.size();
  return ranks;
}

}  // namespace podsim
