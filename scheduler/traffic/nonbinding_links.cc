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

// Finds links that carry more of a phase than the links below them, at their places in a group.
class Overfull {
 public:
  Overfull(const Fabric& fabric, const std::vector<LinkId>& stem)
      : fabric_(fabric), stem_(stem), below_(fabric.links.size()) {}

  // Adds those that a phase of a group with these links makes so. Links of chips are left out: they have none
  // below them.
  void add(std::span<const Use> uses, std::span<const LinkId> links, std::vector<bool>& overfull) {
    for (const Use& use : uses)
      if (const LinkId above = stem_[links[use.resource]]; above != kNone) {
        below_[above].usage += use.usage;
        ++below_[above].links;
      }
    for (const Use& use : uses) {
      const Link& link = fabric_.links[links[use.resource]];
      if (link.from < fabric_.chips || link.to < fabric_.chips) continue;
      const Below& covers = below_[links[use.resource]];
      if (covers.links == 0 || use.usage > covers.usage + covers.links + 1) overfull[use.resource] = true;
    }
    for (const Use& use : uses)
      if (const LinkId above = stem_[links[use.resource]]; above != kNone) below_[above] = {};
  }

 private:
  const Fabric& fabric_;
  const std::vector<LinkId>& stem_;
  std::vector<Below> below_;  // [link], empty between phases
};

// [form][place among the links of its groups]
std::vector<std::vector<bool>> overfull_places(const Traffic& traffic, std::size_t c, Overfull& overfull) {
  const Communicator& communicator = traffic.communicators[c];
  std::vector<std::vector<bool>> places;
  for (std::size_t form = 0; form < communicator.first_of_form.size(); ++form) {
    const std::span<const LinkId> links =
        communicator.links_of(static_cast<std::size_t>(communicator.first_of_form[form]));
    places.emplace_back(links.size());
    for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
      if (traffic.patterns[p].communicator != static_cast<int>(c)) continue;
      for (const PhaseTraffic& phase : traffic.loads[p].of_form(form))
        overfull.add(traffic.loads[p].of_phase(phase), links, places.back());
    }
  }
  return places;
}

}  // namespace

std::vector<bool> find_nonbinding_links(const Fabric& fabric, const Traffic& traffic) {
  const std::vector<LinkId> stem = find_stems(fabric);
  std::vector<bool> nonbinding = wide_enough(fabric, stem);
  Overfull overfull(fabric, stem);
  for (std::size_t c = 0; c < traffic.communicators.size(); ++c) {
    const Communicator& communicator = traffic.communicators[c];
    std::vector<std::vector<std::size_t>> places;  // [form]
    for (const std::vector<bool>& all : overfull_places(traffic, c, overfull)) {
      places.emplace_back();
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i]) places.back().push_back(i);
    }
    for (std::size_t g = 0; g < communicator.groups.size(); ++g)
      for (const std::size_t i : places[communicator.form_of[g]])
        nonbinding[communicator.links_of(g)[i]] = false;
  }
  return nonbinding;
}

}  // namespace podsim
