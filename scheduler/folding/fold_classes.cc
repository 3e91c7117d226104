// Chips, groups and links as one graph, whose equitable partition is the folding.
#include "scheduler/folding/fold_classes.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <unordered_map>

#include "engine/random.h"
#include "scheduler/folding/equitable.h"
#include "scheduler/traffic/nonbinding_links.h"

namespace podsim {
namespace {

using Colour = std::uint64_t;

Colour bits(double value) { return std::bit_cast<Colour>(value); }

Colour colour_of(const Link& link) { return mix(static_cast<Colour>(link.kind), bits(link.bandwidth.value)); }

// What a group puts on a link in one phase of a pattern, whose two numbers are mixed. Never zero in practice,
// as hashes go.
Colour label_of(const Use& use, Colour numbers) { return mix(numbers, static_cast<Colour>(use.usage)); }

// Vertices: chips, then groups, communicator by communicator, then links.
struct Vertices {
  std::vector<std::int32_t> first_group;  // [communicator]
  std::int32_t first_link;
  std::size_t count;

  Vertices(const Fabric& fabric, const Traffic& traffic) : first_link(fabric.chips) {
    for (const Communicator& communicator : traffic.communicators) {
      first_group.push_back(first_link);
      first_link += static_cast<std::int32_t>(communicator.groups.size());
    }
    count = first_link + fabric.links.size();
  }
};

// An edge joins a group with each of its members and with each link that it loads, unless the link is slack:
// those follow what loads them.
class Incidence {
 public:
  Incidence(const Fabric& fabric, const Traffic& traffic, const Vertices& vertices,
            const std::vector<bool>& nonbinding)
      : traffic_(traffic),
        vertices_(vertices),
        nonbinding_(nonbinding),
        patterns_of_(traffic.communicators.size()),
        colours_(vertices.count),
        label_(fabric.links.size(), 0) {
    for (std::size_t l = 0; l < fabric.links.size(); ++l)
      colours_[vertices.first_link + l] = colour_of(fabric.links[l]);
    for (std::size_t p = 0; p < traffic.patterns.size(); ++p)
      patterns_of_[traffic.patterns[p].communicator].push_back(p);
    for (std::size_t c = 0; c < traffic.communicators.size(); ++c)
      for (std::size_t g = 0; g < traffic.communicators[c].groups.size(); ++g) add_group(c, g);
  }

  // Profiles and flaps tell chips and links apart.
  void colour_profiles(const DrawnDegradations& degradations) {
    const auto colour = [&](const std::vector<std::int32_t>& number, std::size_t first) {
      for (std::size_t i = 0; i < number.size(); ++i)
        if (number[i] >= 0) colours_[first + i] = mix(colours_[first + i], static_cast<Colour>(number[i]));
    };
    colour(degradations.chip_profile, 0);
    colour(degradations.link_profile, static_cast<std::size_t>(vertices_.first_link));
    colour(degradations.link_flap, static_cast<std::size_t>(vertices_.first_link));
  }

  void colour_chips(const std::vector<int>& program_of, const std::vector<double>& speed_of,
                    const std::vector<std::int32_t>& told_apart) {
    for (std::size_t c = 0; c < program_of.size(); ++c) {
      colours_[c] = mix(static_cast<Colour>(program_of[c]), bits(speed_of[c]));
      if (!told_apart.empty()) colours_[c] = mix(colours_[c], static_cast<Colour>(told_apart[c]) + 1);
    }
  }

  // [vertex]
  std::vector<std::int32_t> classes() const { return equitable_partition(colours_, edges_); }

 private:
  // Members count as a multiset for collectives: who arrives last decides, not where it sits. A transfer has
  // two ends.
  void add_group(std::size_t c, std::size_t g) {
    const Communicator& communicator = traffic_.communicators[c];
    const std::int32_t group = vertices_.first_group[c] + static_cast<std::int32_t>(g);
    const std::vector<ChipId>& members = communicator.groups[g];
    for (std::size_t i = 0; i < members.size(); ++i)
      edges_.push_back({group, members[i], mix(1, communicator.point_to_point() ? i + 1 : 0)});
    Colour colour = c + 1;
    for (const std::size_t p : patterns_of_[c]) {
      const PatternTraffic& loads = traffic_.loads[p];
      std::size_t f = 0;
      for (const PhaseTraffic& phase : loads.of_group(g)) {
        const Colour numbers = mix(p, f++);
        colour = mix(mix(colour, numbers), static_cast<Colour>(phase.latency.ps));
        colour = mix(colour, bits(phase.work_per_byte));
        for (const ProtocolRamp& ramp : phase.ramp.protocols()) {
          colour = mix(mix(colour, static_cast<Colour>(ramp.fixed.ps)), bits(ramp.s_per_byte));
          colour = mix(colour, static_cast<Colour>(ramp.chunks.most.ps));
          colour = mix(colour, bits(ramp.chunks.full.value));
        }
        for (const Use& use : loads.of_phase(phase))
          if (!nonbinding_[use.resource]) load(use.resource, label_of(use, numbers));
      }
    }
    colours_[group] = colour;
    for (const LinkId link : loaded_) {
      edges_.push_back({group, vertices_.first_link + link, label_[link]});
      label_[link] = 0;
    }
    loaded_.clear();
  }

  // A group that loads a link several times has one edge to it.
  void load(LinkId link, Colour label) {
    if (label_[link] == 0) loaded_.push_back(link);
    label_[link] += label;
  }

  const Traffic& traffic_;
  const Vertices& vertices_;
  const std::vector<bool>& nonbinding_;
  std::vector<std::vector<std::size_t>> patterns_of_;  // [communicator]
  std::vector<Colour> colours_;
  std::vector<LabelledEdge> edges_;
  std::vector<Colour> label_;  // [link] of the edge from the group that is being added
  std::vector<LinkId> loaded_;
};

// Numbers the classes of some things, whose classes among things of all kinds are `classes`, after those that
// the list has already. What is `left_out` is in no class.
template <class LeftOut>
void number(std::span<const std::int32_t> classes, ClassList& list, LeftOut&& left_out) {
  const auto most = std::ranges::max_element(classes);
  std::vector<std::int32_t> number_of(most == classes.end() ? 0 : *most + 1, -1);  // [class]
  list.class_of.resize(classes.size(), -1);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (left_out(i)) continue;
    std::int32_t& own = number_of[classes[i]];
    if (own < 0) {
      own = static_cast<std::int32_t>(list.first.size());
      list.first.push_back(static_cast<std::int32_t>(i));
    }
    list.class_of[i] = own;
  }
}

// Slack links are alike when they carry the same of groups of the same classes.
std::vector<std::int32_t> nonbinding_classes(const Fabric& fabric, const Traffic& traffic,
                                             const std::vector<ClassList>& groups,
                                             const std::vector<bool>& nonbinding) {
  std::vector<Colour> carried(fabric.links.size(), 0);
  for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
    const PlannedCollective& pattern = traffic.patterns[p];
    const PatternTraffic& loads = traffic.loads[p];
    for (std::size_t g = 0; g < loads.groups(); ++g) {
      const auto group = static_cast<Colour>(groups[pattern.communicator].class_of[g]);
      std::size_t f = 0;
      for (const PhaseTraffic& phase : loads.of_group(g)) {
        const Colour numbers = mix(p, f++);
        for (const Use& use : loads.of_phase(phase))
          if (nonbinding[use.resource]) carried[use.resource] += mix(label_of(use, numbers), group);
      }
    }
  }
  std::vector<std::int32_t> classes(fabric.links.size(), -1);
  std::unordered_map<Colour, std::int32_t> known;
  for (std::size_t l = 0; l < classes.size(); ++l)
    if (nonbinding[l])
      classes[l] = known.try_emplace(mix(colour_of(fabric.links[l]), carried[l]), known.size()).first->second;
  return classes;
}

}  // namespace

FoldClasses find_classes(const Fabric& fabric, const Traffic& traffic, const std::vector<int>& program_of,
                         const std::vector<double>& speed_of, const DrawnDegradations& degradations,
                         const std::vector<std::int32_t>& told_apart, bool fold) {
  std::vector<bool> nonbinding = find_nonbinding_links(fabric, traffic);
  for (std::size_t l = 0; l < degradations.link_profile.size(); ++l)
    if (degradations.link_profile[l] >= 0) nonbinding[l] = false;  // it may be narrower than what is below it
  const Vertices vertices(fabric, traffic);
  std::vector<std::int32_t> all(vertices.count);
  std::iota(all.begin(), all.end(), 0);
  if (fold) {
    Incidence graph(fabric, traffic, vertices, nonbinding);
    graph.colour_chips(program_of, speed_of, told_apart);
    graph.colour_profiles(degradations);
    all = graph.classes();
  }
  const std::span<const std::int32_t> classes = all;

  FoldClasses found;
  const auto none = [](std::size_t) { return false; };
  number(classes.first(fabric.chips), found.chips, [&](std::size_t c) { return program_of[c] < 0; });
  for (std::size_t c = 0; c < traffic.communicators.size(); ++c)
    number(classes.subspan(vertices.first_group[c], traffic.communicators[c].groups.size()),
           found.groups.emplace_back(), none);
  const auto links = classes.subspan(vertices.first_link);
  number(links, found.links, [&](std::size_t l) { return nonbinding[l]; });
  found.limiting_links = static_cast<std::int32_t>(found.links.first.size());
  const std::vector<std::int32_t> alike = nonbinding_classes(fabric, traffic, found.groups, nonbinding);
  number(fold ? alike : links, found.links, [&](std::size_t l) { return !nonbinding[l]; });
  return found;
}

}  // namespace podsim
