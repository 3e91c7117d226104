// Colours of vertices and labels of edges, and the partition by a worklist.
#include "scheduler/folding/group_graph.h"

#include <bit>
#include <utility>

#include "engine/check.h"
#include "engine/random.h"
#include "scheduler/folding/equitable.h"

namespace podsim {
namespace {

Colour bits(double value) { return std::bit_cast<Colour>(value); }

void mix_profiles(const std::vector<std::int32_t>& number, std::vector<Colour>& colours) {
  for (std::size_t i = 0; i < number.size(); ++i)
    if (number[i] >= 0) colours[i] = mix(colours[i], static_cast<Colour>(number[i]));
}

}  // namespace

Colour colour_of(const Link& link) { return mix(static_cast<Colour>(link.kind), bits(link.bandwidth.value)); }

Colour label_of(const Use& use, std::size_t p, std::size_t f) {
  return mix(mix(p, f), static_cast<Colour>(use.usage));
}

Colour mix_phase(Colour group, const PhaseTraffic& phase, std::size_t p, std::size_t f) {
  group = mix(mix(group, mix(p, f)), static_cast<Colour>(phase.latency.ps));
  group = mix(group, bits(phase.work_per_byte));
  for (const ProtocolRamp& ramp : phase.ramp.protocols()) {
    group = mix(mix(group, static_cast<Colour>(ramp.fixed.ps)), bits(ramp.s_per_byte));
    group = mix(group, static_cast<Colour>(ramp.chunks.most.ps));
    group = mix(group, bits(ramp.chunks.full.value));
  }
  return group;
}

GroupGraph::GroupGraph(const Fabric& fabric, const Traffic& traffic, const std::vector<bool>& nonbinding,
                       const FoldRequest& request)
    : traffic_(traffic), nonbinding_(nonbinding), forms_(traffic.communicators.size()) {
  const auto& [program_of, speed_of, degradations, told_apart, fold] = request;
  PODSIM_CHECK(std::cmp_equal(program_of.size(), fabric.chips) && speed_of.size() == program_of.size(),
               "every chip has a program, or none, and a speed");
  PODSIM_CHECK(nonbinding.size() == fabric.links.size(), "every link may limit or never does");
  for (std::size_t c = 0; c < program_of.size(); ++c) {
    chips_.push_back(mix(static_cast<Colour>(program_of[c]), bits(speed_of[c])));
    if (!told_apart.empty()) chips_[c] = mix(chips_[c], static_cast<Colour>(told_apart[c]) + 1);
  }
  for (const Link& link : fabric.links) links_.push_back(colour_of(link));
  mix_profiles(degradations.chip_profile, chips_);
  mix_profiles(degradations.link_profile, links_);
  mix_profiles(degradations.link_flap, links_);
  for (std::size_t c = 0; c < forms_.size(); ++c)
    for (std::size_t form = 0; form < traffic.communicators[c].first_of_form.size(); ++form)
      forms_[c].push_back(colour_form(c, form));
}

// A group that loads a link several times has one edge to it.
GroupGraph::FormColours GroupGraph::colour_form(std::size_t c, std::size_t form) const {
  const Communicator& communicator = traffic_.communicators[c];
  const auto first = static_cast<std::size_t>(communicator.first_of_form[form]);
  FormColours colours{c + 1, std::vector<Colour>(communicator.links_of(first).size(), 0)};
  for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
    if (traffic_.patterns[p].communicator != static_cast<int>(c)) continue;
    const PatternTraffic& loads = traffic_.loads[p];
    std::size_t f = 0;
    for (const PhaseTraffic& phase : loads.of_form(form)) {
      colours.group = mix_phase(colours.group, phase, p, f);
      for (const Use& use : loads.of_phase(phase)) colours.links[use.resource] += label_of(use, p, f);
      ++f;
    }
  }
  return colours;
}

// Members count as a multiset for collectives: who arrives last decides, not where it sits. A transfer has
// two ends.
VertexClasses GroupGraph::classes() const {
  std::vector<Colour> colours = chips_;
  std::vector<LabelledEdge> edges;
  std::size_t groups = 0;
  for (const Communicator& communicator : traffic_.communicators) groups += communicator.groups.size();
  const auto first_link = static_cast<std::int32_t>(chips_.size() + groups);
  for (std::size_t c = 0; c < traffic_.communicators.size(); ++c) {
    const Communicator& communicator = traffic_.communicators[c];
    for (std::size_t g = 0; g < communicator.groups.size(); ++g) {
      const FormColours& form = forms_[c][communicator.form_of[g]];
      const auto group = static_cast<std::int32_t>(colours.size());
      colours.push_back(form.group);
      const std::span<const ChipId> members = communicator.groups[g];
      for (std::size_t i = 0; i < members.size(); ++i)
        edges.push_back({group, members[i], mix(1, communicator.point_to_point() ? i + 1 : 0)});
      const std::span<const LinkId> links = communicator.links_of(g);
      for (std::size_t i = 0; i < links.size(); ++i)
        if (!nonbinding_[links[i]]) edges.push_back({group, first_link + links[i], form.links[i]});
    }
  }
  colours.insert(colours.end(), links_.begin(), links_.end());
  const std::vector<std::int32_t> all = equitable_partition(colours, edges);
  auto next = all.begin();
  const auto take = [&](std::size_t count) {
    const auto begin = next;
    next += static_cast<std::ptrdiff_t>(count);
    return std::vector<std::int32_t>(begin, next);
  };
  VertexClasses classes;
  classes.chips = take(chips_.size());
  for (const Communicator& communicator : traffic_.communicators)
    classes.groups.push_back(take(communicator.groups.size()));
  classes.links = take(links_.size());
  return classes;
}

}  // namespace podsim
