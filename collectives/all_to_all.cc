// All-to-all: the loads of all ordered pairs, by symmetry where there is one, else route by route.
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "collectives/algorithms.h"
#include "collectives/torus_box.h"
#include "engine/check.h"
#include "topology/gather_loads.h"

namespace podsim {
namespace {

// Hops along a dimension from one chip to all of a straight box without ends: a ring of length L has
// floor(L^2 / 4) per line.
double hops_to_all(const TorusBox& box, int d) {
  const std::int64_t length = box.extent[d];
  const double lines =
      static_cast<double>(box.extent[0]) * box.extent[1] * box.extent[2] / static_cast<double>(length);
  return lines * static_cast<double>(length * length / 4);
}

// In a straight box every dimension of which is a ring (or two chips), all links of a dimension carry the
// same, and a half-way tie goes half each way: each direction has half of the hops. Two chips have one link
// in either direction.
Time add_straight_torus(const Fabric& fabric, const TorusBox& box, double units_per_pair, LoadSum& sum) {
  std::array<double, 3> units = {};
  for (int d = 0; d < 3; ++d) units[d] = units_per_pair * hops_to_all(box, d) / (box.extent[d] == 2 ? 1 : 2);
  std::array<Time, 3> link_latency = {};
  for (const auto& [link, d] : box_ways(fabric, box).links) {
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
  const std::vector<BoxLink> links = box_ways(fabric, box).links;
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

// Do the chips lie evenly round every ring, so that the slice looks the same from each of them?
bool is_even(const TorusBox& box) {
  for (int d = 0; d < 3; ++d)
    if (box.extent[d] > 1 && !(box.slice->wrap[d] && box.closes(d))) return false;
  return true;
}

// The link from the same place and the same way in the corner of an even box.
LinkId in_corner(const Fabric& fabric, const TorusBox& box, const Link& link) {
  const TorusSlice& slice = *box.slice;
  std::array<int, 3> at = slice.coordinate(link.from);
  for (int d = 0; d < 3; ++d)
    if (box.extent[d] > 1) at[d] %= box.stride[d];
  const ChipId chip = slice.chip(at);
  for (int d = 0; d < 3; ++d)
    for (const int way : {+1, -1})
      if (slice.neighbour(link.from, d, way) == link.to)
        return fabric.link_between(chip, slice.neighbour(chip, d, way));
  return -1;
}

// What links carry towards one member is shifted to what they carry towards any other: over all of them each
// link carries what all that are shifted to it carry towards one.
Time add_even_box(const Fabric& fabric, const TorusBox& box, std::span<const ChipId> group,
                  double units_per_pair, LoadSum& sum) {
  LoadSum corner;
  Time latency;
  for (const ChipId from : group) {
    const auto hops = route(fabric, from, group[0]);
    for (const RouteHop& hop : hops) corner.add(in_corner(fabric, box, fabric.links[hop.link]), hop.share);
    latency = std::max(latency, route_latency(fabric, hops));
  }
  const std::vector<LinkLoad> loads = corner.loads({1.0});
  const ChipId first = box.slice->first_chip;
  for (LinkId id = fabric.out_first[first]; id < fabric.out_first[first + box.slice->chips()]; ++id) {
    const Link& link = fabric.links[id];
    if (link.to >= fabric.chips) continue;
    const LinkId like = in_corner(fabric, box, link);
    const auto load = std::ranges::lower_bound(loads, like, {}, &LinkLoad::link);
    if (load != loads.end() && load->link == like) sum.add(id, units_per_pair * load->bytes);
  }
  return latency;
}

bool has_no_ends(const TorusBox& box) {
  for (int d = 0; d < 3; ++d)
    if (box.extent[d] > 2 && !box.slice->wrap[d]) return false;
  return true;
}

// Does the routing of the fabric load all links of a dimension alike? Half-way ties do not balance where they
// go one way only, unless half of the chips on any stretch of a ring take each.
bool balances_rings(const Fabric& fabric, const TorusBox& box) {
  if (fabric.damaged) return false;
  if (fabric.routing == Routing::kAdaptive) return true;
  return fabric.routing == Routing::kDimensionOrder &&
         std::ranges::all_of(box.extent, [](int length) { return length < 3 || length % 4 != 2; });
}

// Every pair on its own way.
Time add_pairs_by_route(const Fabric& fabric, std::span<const ChipId> group, double units_per_pair,
                        LoadSum& sum) {
  Time latency;
  for (const ChipId from : group)
    for (const ChipId to : group) {
      const auto hops = route(fabric, from, to);
      sum.add(fabric, hops, units_per_pair);
      latency = std::max(latency, route_latency(fabric, hops));
    }
  return latency;
}

Time add_gathered(const Fabric& fabric, const GatherLoads& gathered, double units_per_pair, LoadSum& sum) {
  for (LinkId link = 0; link < static_cast<LinkId>(fabric.links.size()); ++link)
    if (gathered.units(link) > 0) sum.add(link, units_per_pair * gathered.units(link));
  return gathered.longest_latency();
}

// One destination after another.
Time add_pairs_by_destination(const Fabric& fabric, std::span<const ChipId> group, double units_per_pair,
                              LoadSum& sum) {
  GatherLoads gathered(fabric);
  for (const ChipId to : group) gathered.add(group, to);
  return add_gathered(fabric, gathered, units_per_pair, sum);
}

constexpr std::size_t kManyMembers = 64;  // from which on a route for each pair takes long

// Boxes of a slice that a closed form tells.
enum class SliceForm : std::uint8_t { kNone, kEven, kStraight, kTwisted };

SliceForm form_of(const Fabric& fabric, const TorusBox& box, std::size_t members) {
  const bool spread = fabric.routing == Routing::kAdaptive && !fabric.damaged;
  if (!box.covers_whole_dimensions())
    return spread && members > kManyMembers && !box.is_twisted() && is_even(box) ? SliceForm::kEven
                                                                                 : SliceForm::kNone;
  if (has_no_ends(box) && !box.is_twisted() && balances_rings(fabric, box)) return SliceForm::kStraight;
  return spread && box.is_twisted() && box.covers_whole_slice() ? SliceForm::kTwisted : SliceForm::kNone;
}

Time add_slice_pairs(const Fabric& fabric, std::span<const ChipId> group, double units_per_pair,
                     LoadSum& sum) {
  const auto box = find_torus_box(fabric, group);
  switch (box ? form_of(fabric, *box, group.size()) : SliceForm::kNone) {
    case SliceForm::kEven:
      return add_even_box(fabric, *box, group, units_per_pair, sum);
    case SliceForm::kStraight:
      return add_straight_torus(fabric, *box, units_per_pair, sum);
    case SliceForm::kTwisted:
      return add_twisted_torus(fabric, *box, units_per_pair, sum);
    case SliceForm::kNone:
      break;
  }
  const bool many = group.size() > kManyMembers && fabric.routing == Routing::kAdaptive;
  return fabric.damaged || many ? add_pairs_by_destination(fabric, group, units_per_pair, sum)
                                : add_pairs_by_route(fabric, group, units_per_pair, sum);
}

// Behind the switches of a domain each member sends to the others over one link and receives from them over
// another.
Time add_domain_pairs(const Fabric& fabric, std::span<const ChipId> members, double units_per_pair,
                      LoadSum& sum) {
  if (fabric.nvlink_mesh) return add_pairs_by_route(fabric, members, units_per_pair, sum);
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
  const auto place = [](const Below& part) { return std::tuple(part.node, part.block); };
  // As it is where chips and blocks ascend.
  if (!std::ranges::is_sorted(parts, {}, place)) std::ranges::sort(parts, {}, place);
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

// Does nothing miss between the chip and the top tier of the tree of switches?
bool climbs_to(const Fabric& fabric, int top, ChipId chip) {
  NodeId node = chip;
  while (fabric.nodes[node].tier < top) {
    if (fabric.out(node).empty()) return false;
    const Link& last = fabric.out(node).back();
    if (fabric.nodes[last.to].tier <= fabric.nodes[node].tier || last.kind == LinkKind::kNvlink) return false;
    node = last.to;
  }
  return true;
}

Blocks select(const Blocks& blocks, const std::vector<bool>& wanted) {
  Blocks selected;
  for (int b = 0; b < blocks.count(); ++b) {
    selected.first.push_back(selected.chips.size());
    for (const ChipId chip : blocks[b])
      if (wanted[chip]) selected.chips.push_back(chip);
  }
  selected.first.push_back(selected.chips.size());
  return selected;
}

// Where something is missing above a chip, its pairs take their ways one by one; all others are counted.
Time add_pairs_round_damage(const Fabric& fabric, const Blocks& blocks, double units_per_pair, LoadSum& sum) {
  const int top = std::ranges::max(fabric.nodes, {}, &Node::tier).tier;
  std::vector<bool> climbs(fabric.chips), stuck(fabric.chips);
  for (const ChipId chip : blocks.chips) {
    climbs[chip] = climbs_to(fabric, top, chip);
    stuck[chip] = !climbs[chip];
  }
  const Blocks above = select(blocks, climbs), below = select(blocks, stuck);
  GatherLoads gathered(fabric);
  for (int b = 0; b < blocks.count() && !below.chips.empty(); ++b) {
    const auto others = [b](const Blocks& all) {
      std::vector<ChipId> chips = all.chips;
      const auto own = chips.begin() + static_cast<std::ptrdiff_t>(all.first[b]);
      chips.erase(own, own + static_cast<std::ptrdiff_t>(all[b].size()));
      return chips;
    };
    const std::vector<ChipId> anyone = others(blocks), stuck_ones = others(below);
    for (const ChipId to : below[b]) gathered.add(anyone, to);
    for (const ChipId to : above[b]) gathered.add(stuck_ones, to);
  }
  const Time detours = add_gathered(fabric, gathered, units_per_pair, sum);
  return above.chips.empty() ? detours
                             : std::max(detours, add_pairs_across(fabric, above, units_per_pair, sum));
}

}  // namespace

bool adds_flow_by_flow(const Fabric& fabric, std::span<const ChipId> group) {
  if (fabric.damaged) return false;
  const auto box = find_torus_box(fabric, group);
  return !box || form_of(fabric, *box, group.size()) == SliceForm::kNone;
}

Phase all_to_all_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> group,
                       const AlikeSlices* slices) {
  const Blocks blocks = cut_at_domains(fabric, group);
  const double units_per_pair = 1.0 / static_cast<double>(group.size());
  LoadSum sum;
  if (fabric.individual_switches) {
    // Only flows that are added one by one can collide.
    const auto add = fabric.transport.is_ideal() ? add_pairs_by_destination : add_pairs_by_route;
    const Time longest = add(fabric, group, units_per_pair, sum);
    return {longest, sum.loads(bytes)};
  }
  Time latency;
  for (int b = 0; b < (slices == nullptr ? blocks.count() : 1); ++b) {
    const Time inside = fabric.slices.empty() ? add_domain_pairs(fabric, blocks[b], units_per_pair, sum)
                                              : add_slice_pairs(fabric, blocks[b], units_per_pair, sum);
    latency = std::max(latency, inside);
  }
  if (blocks.count() > 1) {
    const auto add = fabric.damaged ? add_pairs_round_damage : add_pairs_across;
    latency = std::max(latency, add(fabric, blocks, units_per_pair, sum));
  }
  return {latency, sum.loads(bytes)};
}

}  // namespace podsim
