// Takes failed links and switches out of a fabric.
#include "topology/failures.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/check.h"
#include "topology/builders.h"
#include "topology/route_parts.h"

namespace podsim {
namespace {

std::string among(int count) { return count == 1 ? "only 0" : "from 0 to " + std::to_string(count - 1); }

// What is lost of each link, as its cables and as the parallel switches at its ends.
class Losses {
 public:
  explicit Losses(const Fabric& fabric)
      : fabric_(fabric), cables_(fabric.links.size(), 0), switches_(fabric.nodes.size(), 0) {}

  // Each says why it cannot fail, or nothing and it has.
  std::string fail(const FailedCable& cable);
  std::string fail(const FailedPort& port);
  std::string fail(const FailedSwitch& failed);
  std::string fail(const FailedOcs& ocs);

  Fabric apply(Fabric fabric) const;

 private:
  std::string explain_chip(ChipId chip) const;
  bool lose(NodeId a, NodeId b);
  double left(LinkId link) const;

  const Fabric& fabric_;
  std::vector<int> cables_;    // by link
  std::vector<int> switches_;  // by node
};

// False where they are not joined (any more).
bool Losses::lose(NodeId a, NodeId b) {
  const LinkId there = fabric_.link_between(a, b);
  if (there < 0) return false;
  ++cables_[there];
  ++cables_[fabric_.link_between(b, a)];
  return true;
}

std::string Losses::explain_chip(ChipId chip) const {
  if (chip >= 0 && chip < fabric_.chips) return {};
  return "there is no chip " + std::to_string(chip) + ": chips are " + among(fabric_.chips);
}

std::string Losses::fail(const FailedCable& cable) {
  const auto nodes = static_cast<NodeId>(fabric_.nodes.size());
  for (const NodeId node : {cable.a, cable.b})
    if (node < 0 || node >= nodes)
      return "there is no node " + std::to_string(node) + ": nodes are " + among(nodes);
  if (lose(cable.a, cable.b)) return {};
  std::string why = "no cable joins " + node_name(fabric_, cable.a) + " and " + node_name(fabric_, cable.b);
  std::string neighbours;
  for (const Link& out : fabric_.out(cable.a))
    neighbours += (neighbours.empty() ? "" : ", ") + node_name(fabric_, out.to);
  if (neighbours.empty()) return why;
  return why + ": " + node_name(fabric_, cable.a) + " is joined to " + neighbours;
}

std::string Losses::fail(const FailedPort& port) {
  if (auto why = explain_chip(port.chip); !why.empty()) return why;
  bool any = false;
  for (const Link& link : fabric_.out(port.chip))
    if (is_of_kind(link, port.kind)) any = lose(link.from, link.to);
  if (any) return {};
  return "chip " + std::to_string(port.chip) + " has no " + std::string(to_string(port.kind)) + " link";
}

std::string Losses::fail(const FailedSwitch& failed) {
  const std::string kind(to_string(failed.kind));
  if (failed.kind == NodeKind::kChip) return "a chip is not a switch: fail its ports";
  const auto first = std::ranges::lower_bound(fabric_.nodes, failed.kind, {}, &Node::kind);
  const auto count = static_cast<int>(std::ranges::count(fabric_.nodes, failed.kind, &Node::kind));
  if (count == 0) return "this fabric has no " + kind;
  if (failed.index < 0 || failed.index >= count)
    return "there is no " + kind + " " + std::to_string(failed.index) + ": they are " + among(count);
  ++switches_[first - fabric_.nodes.begin() + failed.index];
  return {};
}

std::string Losses::fail(const FailedOcs& ocs) {
  const int cube = fabric_.slices.empty() ? 0 : fabric_.slices[0].cube;
  if (cube == 0) return "this fabric has no optical circuit switches";
  if (ocs.dimension < 0 || ocs.dimension > 2)
    return "there is no dimension " + std::to_string(ocs.dimension) + ": dimensions are " + among(3);
  for (const int at : ocs.position)
    if (at < 0 || at >= cube)
      return "a cube's face has no position " + std::to_string(at) + ": positions are " + among(cube);
  const int d = ocs.dimension, lower = d == 0 ? 1 : 0, higher = d == 2 ? 1 : 2;
  bool any = false;
  for (const TorusSlice& slice : fabric_.slices)
    for (ChipId chip = slice.first_chip; chip < slice.first_chip + slice.chips(); ++chip) {
      const auto at = slice.coordinate(chip);
      const bool here = at[d] % cube == cube - 1 && at[lower] % cube == ocs.position[0] &&
                        at[higher] % cube == ocs.position[1];
      const ChipId next = here ? slice.neighbour(chip, d, +1) : -1;
      if (next >= 0 && lose(chip, next)) any = true;
    }
  return any ? "" : "no link of this fabric passes this optical circuit switch";
}

// The share of a link that is left: parallel switches and the cables to them carry equal parts.
double Losses::left(LinkId id) const {
  const auto& [from, to, kind, bandwidth, latency] = fabric_.links[id];
  const auto low = std::min(from, to), high = std::max(from, to);  // the lower tier has the lower number
  const double below = fabric_.nodes[low].parallel, above = fabric_.nodes[high].parallel;
  return std::max(0.0, 1 - switches_[low] / below) *
         std::max(0.0, 1 - (switches_[high] + cables_[id]) / above);
}

Fabric Losses::apply(Fabric fabric) const {
  std::vector<Link> links;
  for (LinkId id = 0; id < static_cast<LinkId>(fabric.links.size()); ++id) {
    const double share = left(id);
    if (share > 0) links.push_back(fabric.links[id]);
    if (share > 0 && share < 1) links.back().bandwidth = links.back().bandwidth * share;
  }
  if (links.size() < fabric.links.size()) fabric.damaged = true;
  fabric.links = std::move(links);
  for (std::size_t node = 0; node < fabric.nodes.size(); ++node)
    fabric.nodes[node].parallel = std::max(1, fabric.nodes[node].parallel - switches_[node]);
  index_links(fabric);
  return fabric;
}

// Two chips that cannot reach each other any more; inside a slice, over its ICI.
std::optional<std::array<ChipId, 2>> find_cut(const Fabric& fabric) {
  const auto cut_from = [&](const Ways& ways, ChipId first,
                            ChipId end) -> std::optional<std::array<ChipId, 2>> {
    for (ChipId chip = first; chip < end; ++chip)
      if (!ways.lead_from(chip)) return {{first, chip}};
    return std::nullopt;
  };
  for (const TorusSlice& slice : fabric.slices) {
    const ChipId first = slice.first_chip;
    if (const auto cut = cut_from(Ways::in_slice(fabric, first), first, first + slice.chips())) return cut;
  }
  return cut_from(Ways::anywhere(fabric, 0), 0, fabric.chips);
}

}  // namespace

std::string describe(const Fabric& fabric, const Failure& failure) {
  struct Words {
    const Fabric& fabric;
    std::string operator()(const FailedCable& cable) const {
      return "cable " + node_name(fabric, cable.a) + " - " + node_name(fabric, cable.b);
    }
    std::string operator()(const FailedPort& port) const {
      return std::string(to_string(port.kind)) + " of chip " + std::to_string(port.chip);
    }
    std::string operator()(const FailedSwitch& failed) const {
      return std::string(to_string(failed.kind)) + ' ' + std::to_string(failed.index);
    }
    std::string operator()(const FailedOcs& ocs) const {
      return std::string("ocs ") + "xyz"[ocs.dimension] + " (" + std::to_string(ocs.position[0]) + ", " +
             std::to_string(ocs.position[1]) + ")";
    }
  };
  return std::visit(Words{fabric}, failure);
}

std::string explain_impossible(const Fabric& fabric, std::span<const Failure> failures) {
  Losses losses(fabric);
  for (const Failure& failure : failures) {
    const std::string why = std::visit([&](const auto& failed) { return losses.fail(failed); }, failure);
    if (!why.empty()) return why;
  }
  if (failures.empty()) return {};
  const auto cut = find_cut(losses.apply(fabric));
  if (!cut) return {};
  return "nothing leads from chip " + std::to_string((*cut)[0]) + " to chip " + std::to_string((*cut)[1]) +
         " any more";
}

Fabric with_failures(Fabric fabric, std::span<const Failure> failures) {
  Losses losses(fabric);
  for (const Failure& failure : failures) {
    const std::string why = std::visit([&](const auto& failed) { return losses.fail(failed); }, failure);
    PODSIM_CHECK(why.empty(), why);
  }
  return losses.apply(fabric);
}

}  // namespace podsim
