// All-to-all: the loads of all ordered pairs, by symmetry where there is one, else route by route.
#include <algorithm>
#include <array>
#include <tuple>

#include "collectives/algorithms.h"
#include "collectives/torus_box.h"
#include "engine/check.h"

namespace podsim {
namespace {

// Hops along a dimension from one chip to all of a straight box without ends: a ring of length L has
// floor(L^2 / 4) per line.
double hops_to_all(const TorusBox& box, int d) {
  const int length = box.extent[d];
  const double lines = static_cast<double>(box.extent[0]) * box.extent[1] * box.extent[2] / length;
  return lines * (length * length / 4);
}

// In a straight box every dimension of which is a ring (or two chips), all links of a dimension carry the
// same, and a half-way tie goes half each way: each direction has half of the hops. Two chips have one link
// in either direction.
Time add_straight_torus(const Fabric& fabric, const TorusBox& box, double units_per_pair, LoadSum& sum) {
  std::array<double, 3> units = {};
  for (int d = 0; d < 3; ++d) units[d] = units_per_pair * hops_to_all(box, d) / (box.extent[d] == 2 ? 1 : 2);
  std::array<Time, 3> link_latency = {};
  for (const auto& [link, d] : box_links(fabric, box)) {
    sum.add(link, units[d]);
    link_latency[d] = std::max(link_latency[d], fabric.links[link].latency);
  }
  Time latency;
  for (int d = 0; d < 3; ++d) latency += std::int64_t{box.extent[d] / 2} * link_latency[d];
  return latency;
}

// A whole twisted slice looks the same from every chip and in both directions, so the routes of one chip give
// the mean load of each dimension, and every link of the dimension has it.
Time add_twisted_torus(const Fabric& fabric, const TorusBox& box, double units_per_pair, LoadSum& sum) {
  const std::vector<BoxLink> links = box_links(fabric, box);
  const ChipId source = box.slice->first_chip;
  std::array<double, 3> hops = {};
  Time latency;
  for (ChipId chip = source + 1; chip < source + box.slice->chips(); ++chip) {
    const auto path = route(fabric, source, chip);
    for (const RouteHop& hop : path)
      hops[std::ranges::lower_bound(links, hop.link, {}, &BoxLink::link)->dimension] += hop.share;
    latency = std::max(latency, route_latency(fabric, path));
  }
  for (const auto& [link, d] : links) sum.add(link, units_per_pair * hops[d] / 2);
  return latency;
}

bool has_no_ends(const TorusBox& box) {
  for (int d = 0; d < 3; ++d)
    if (box.extent[d] > 2 && !box.slice->wrap[d]) return false;
  return true;
}

Time add_slice_pairs(const Fabric& fabric, std::span<const ChipId> group, double units_per_pair,
                     LoadSum& sum) {
  const auto box = find_torus_box(fabric, group);
  if (box && has_no_ends(*box) && !box->is_twisted())
    return add_straight_torus(fabric, *box, units_per_pair, sum);
  if (box && box->is_twisted() && box->covers_whole_slice())
    return add_twisted_torus(fabric, *box, units_per_pair, sum);
  Time latency;
  for (const ChipId from : group)
    for (const ChipId to : group) {
      const auto hops = route(fabric, from, to);
      sum.add(fabric, hops, units_per_pair);
      latency = std::max(latency, route_latency(fabric, hops));
    }
  return latency;
}

// Behind the switches of a domain each member sends to the others over one link and receives from them over
// another.
Time add_domain_pairs(const Fabric& fabric, std::span<const ChipId> members, double units_per_pair,
                      LoadSum& sum) {
  Time latency;
  for (std::size_t i = 0; i < members.size() && members.size() > 1; ++i) {
    const auto hops = route(fabric, members[i], members[(i + 1) % members.size()]);
    sum.add(fabric, hops, units_per_pair * static_cast<double>(members.size() - 1));
    latency = std::max(latency, route_latency(fabric, hops));
  }
  return latency;
}

// Members of one block below a node of the tree of switches.
struct Below {
  NodeId node;
  int block;
  double members;
};

// Ordered pairs from below a node to above it whose ends lie in different blocks; as many pairs go down.
double pairs_leaving(std::span<const Below> below, const Blocks& blocks) {
  double inside = 0, same_block = 0;
  for (const Below& part : below) {
    inside += part.members;
    same_block += part.members * (static_cast<double>(blocks[part.block].size()) - part.members);
  }
  return inside * (static_cast<double>(blocks.chips.size()) - inside) - same_block;
}

void merge_parts(std::vector<Below>& parts) {
  std::ranges::sort(parts, {}, [](const Below& part) { return std::tuple(part.node, part.block); });
  std::size_t kept = 0;
  for (const Below& part : parts) {
    if (kept > 0 && parts[kept - 1].node == part.node && parts[kept - 1].block == part.block)
      parts[kept - 1].members += part.members;
    else
      parts[kept++] = part;
  }
  parts.resize(kept);
}

// Pairs of different blocks climb the tree of switches to their lowest common one: counted tier by tier.
Time add_pairs_across(const Fabric& fabric, const Blocks& blocks, double units_per_pair, LoadSum& sum) {
  std::vector<Below> parts;
  for (int b = 0; b < blocks.count(); ++b)
    for (const ChipId chip : blocks[b]) parts.push_back({chip, b, 1});
  merge_parts(parts);
  Time latency;
  while (parts.front().node != parts.back().node) {
    Time tier_latency;
    for (std::size_t i = 0, end; i < parts.size(); i = end) {
      const NodeId node = parts[i].node;
      for (end = i; end < parts.size() && parts[end].node == node;) ++end;
      const LinkId up = fabric.out_first[node + 1] - 1;  // see the invariants of Fabric
      const NodeId above = fabric.links[up].to;
      PODSIM_CHECK(fabric.nodes[above].tier > fabric.nodes[node].tier,
                   "no way up from " + node_name(fabric, node));
      const LinkId down = fabric.link_between(above, node);
      const double pairs = pairs_leaving({parts.data() + i, parts.data() + end}, blocks);
      sum.add(up, pairs * units_per_pair);
      sum.add(down, pairs * units_per_pair);
      tier_latency = std::max(tier_latency, fabric.links[up].latency + fabric.links[down].latency);
      for (std::size_t part = i; part < end; ++part) parts[part].node = above;
    }
    latency += tier_latency;
    merge_parts(parts);
  }
  return latency;
}

}  // namespace

Phase all_to_all_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> group) {
  const Blocks blocks = cut_at_islands(fabric, group);
  const double units_per_pair = 1.0 / static_cast<double>(group.size());
  LoadSum sum;
  Time latency;
  for (int b = 0; b < blocks.count(); ++b) {
    const Time inside = fabric.slices.empty() ? add_domain_pairs(fabric, blocks[b], units_per_pair, sum)
                                              : add_slice_pairs(fabric, blocks[b], units_per_pair, sum);
    latency = std::max(latency, inside);
  }
  if (blocks.count() > 1) latency = std::max(latency, add_pairs_across(fabric, blocks, units_per_pair, sum));
  return {latency, sum.loads(bytes)};
}

}  // namespace podsim
