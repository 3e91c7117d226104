// build_fabric: from what a user says of a network to its graph.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "topology/builders.h"
#include "topology/fabric_kind.h"

namespace podsim {

namespace {

// Links to their places by `from`, in the order in which they are; then those of each node, few, by `to`.
std::vector<Link> sorted(const std::vector<Link>& links, const std::vector<LinkId>& out_first) {
  std::vector<Link> placed(links.size());
  std::vector<LinkId> next(out_first.begin(), out_first.end() - 1);
  for (const Link& link : links) placed[next[link.from]++] = link;
  for (std::size_t v = 0; v + 1 < out_first.size(); ++v) {
    const auto own = std::span(placed).subspan(out_first[v], out_first[v + 1] - out_first[v]);
    if (!std::ranges::is_sorted(own, {}, &Link::to)) std::ranges::sort(own, {}, &Link::to);
  }
  return placed;
}

}  // namespace

void index_links(Fabric& fabric) {
  std::vector<Link>& links = fabric.links.stored();
  std::vector<LinkId>& out_first = fabric.out_first.stored();
  out_first.assign(fabric.nodes.size() + 1, 0);
  for (const Link& link : links) ++out_first[link.from + 1];
  for (std::size_t v = 1; v < out_first.size(); ++v) out_first[v] += out_first[v - 1];
  const auto ends = [](const Link& link) { return std::tuple(link.from, link.to); };
  if (!std::ranges::is_sorted(links, {}, ends)) links = sorted(links, out_first);
}

void add_chips(Fabric& fabric, int count) {
  fabric.nodes.assign(static_cast<std::size_t>(count), {NodeKind::kChip, 0});
}

NodeId add_node(Fabric& fabric, NodeKind kind, int tier) {
  fabric.nodes.push_back({kind, static_cast<std::int8_t>(tier)});
  return static_cast<NodeId>(fabric.nodes.size()) - 1;
}

void add_cable(Fabric& fabric, NodeId a, NodeId b, LinkKind kind, const LinkSpec& cable, double count) {
  const Bandwidth bandwidth = cable.payload() * count;
  fabric.links.push_back({a, b, kind, bandwidth, cable.latency});
  fabric.links.push_back({b, a, kind, bandwidth, cable.latency});
}

namespace {

// All but nodes and links.
Fabric name_fabric(const FabricSpec& spec) {
  Fabric fabric;
  fabric.name = spec.name;
  fabric.chips = spec.chips;
  fabric.collective_launch = spec.collective_launch;
  fabric.channels = channels_of_payload(spec);
  fabric.library = library_of_payload(spec);
  fabric.routing = spec.routing;
  fabric.routing_seed = spec.routing_seed;
  fabric.transport = spec.transport;
  return fabric;
}

}  // namespace

TooManyChips::TooManyChips(int chips)
    : std::runtime_error(
          "this looks at each of " + std::to_string(chips) + " chips, and podsim at " +
          std::to_string(kMaxChips) +
          " at most; of more it runs one job without adversities that fills them in order, below "
          "switches without oversubscription") {}

Fabric build_fabric(const FabricSpec& spec) {
  if (spec.chips > kMaxChips) throw TooManyChips(spec.chips);
  Fabric fabric = name_fabric(spec);
  kind_of(spec).add(fabric, spec);
  index_links(fabric);
  return fabric;
}

Fabric build_fabric_by_rule(const FabricSpec& spec) {
  std::optional<RegularTree> tree = RegularTree::of(spec);
  if (!tree) return build_fabric(spec);
  Fabric fabric = name_fabric(spec);
  set_domains(fabric, *spec.gpu);
  const auto rule = std::make_shared<const RegularTree>(*std::move(tree));
  fabric.nodes = FabricTable<Node, &RegularTree::node, &RegularTree::nodes>(rule);
  fabric.links = FabricTable<Link, &RegularTree::link, &RegularTree::links>(rule);
  fabric.out_first = FabricTable<LinkId, &RegularTree::first_out, &RegularTree::first_outs>(rule);
  return fabric;
}

}  // namespace podsim
