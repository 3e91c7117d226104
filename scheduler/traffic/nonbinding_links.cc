// Compares links between switches with the links below them, in capacity and in every phase's usage.
#include "scheduler/traffic/nonbinding_links.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace podsim {
namespace {

constexpr LinkId kNone = -1;
constexpr double kCapacityRounding = 1e-12;

// The only link of the switch that leads up, or none.
LinkId only_way_up(const Fabric& fabric, NodeId node) {
  LinkId found = kNone;
  for (LinkId l = fabric.out_first[node]; l < fabric.out_first[node + 1]; ++l) {
    if (fabric.nodes[fabric.links[l].to].tier <= fabric.nodes[node].tier) continue;
    if (found != kNone) return kNone;
    found = l;
  }
  return found;
}

// [link] the link up that everything takes which comes over this one from below, or the link down over which
// everything comes that this one takes further down; none for other links.
std::vector<LinkId> find_stems(const Fabric& fabric) {
  std::vector<LinkId> stem(fabric.links.size(), kNone);
  for (NodeId node = fabric.chips; node < static_cast<NodeId>(fabric.nodes.size()); ++node) {
    const LinkId up = only_way_up(fabric, node);
    if (up == kNone) continue;
    const LinkId down = fabric.link_between(fabric.links[up].to, node);
    for (LinkId l = fabric.out_first[node]; l < fabric.out_first[node + 1]; ++l) {
      const NodeId below = fabric.links[l].to;
      if (fabric.nodes[below].tier >= fabric.nodes[node].tier) continue;
      stem[l] = down;
      stem[fabric.link_between(below, node)] = up;
    }
  }
  return stem;
}

// Links that have at least the capacity of the links of which they are the stem.
std::vector<bool> wide_enough(const Fabric& fabric, const std::vector<LinkId>& stem) {
  std::vector<double> below(fabric.links.size(), 0);
  for (std::size_t l = 0; l < stem.size(); ++l)
    if (stem[l] != kNone) below[stem[l]] += fabric.links[l].bandwidth.value;
  std::vector<bool> wide(fabric.links.size());
  for (std::size_t l = 0; l < wide.size(); ++l)
    wide[l] = below[l] > 0 && below[l] <= fabric.links[l].bandwidth.value * (1 + kCapacityRounding);
  return wide;
}

// What the links below a stem have of one phase.
struct Below {
  std::int64_t usage = 0;
  std::int64_t links = 0;
};

// Links that carry more of a phase than the links below them. Leaves `below` empty, as it must find it.
void rule_out(std::span<const Use> uses, const std::vector<LinkId>& stem, std::vector<Below>& below,
              std::vector<bool>& nonbinding) {
  for (const Use& use : uses)
    if (const LinkId above = stem[use.resource]; above != kNone) {
      below[above].usage += use.usage;
      ++below[above].links;
    }
  for (const Use& use : uses) {
    const Below& covers = below[use.resource];
    if (covers.links == 0 || use.usage > covers.usage + covers.links + 1) nonbinding[use.resource] = false;
  }
  for (const Use& use : uses)
    if (stem[use.resource] != kNone) below[stem[use.resource]] = {};
}

}  // namespace

std::vector<bool> find_nonbinding_links(const Fabric& fabric, const Traffic& traffic) {
  const std::vector<LinkId> stem = find_stems(fabric);
  std::vector<bool> nonbinding = wide_enough(fabric, stem);
  std::vector<Below> below(fabric.links.size());
  for (const PatternTraffic& loads : traffic.loads)
    for (const PhaseTraffic& phase : loads.phases) rule_out(loads.of_phase(phase), stem, below, nonbinding);
  return nonbinding;
}

}  // namespace podsim
