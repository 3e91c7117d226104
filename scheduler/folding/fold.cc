// The quotient system: one representative of every class of chips, groups and links.
#include <algorithm>

#include "engine/check.h"
#include "scheduler/folding/fold_classes.h"
#include "scheduler/folding/system.h"

namespace podsim {
namespace {

// Uses of one link become one.
void merge(std::vector<Use>& uses) {
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.resource < b.resource; });
  std::size_t kept = 0;
  for (const Use& use : uses) {
    if (kept > 0 && uses[kept - 1].resource == use.resource)
      uses[kept - 1].usage += use.usage;
    else
      uses[kept++] = use;
  }
  uses.resize(kept);
}

// What a group puts on the representatives of link classes, in the phases of its class.
void add_uses_of(std::size_t g, std::size_t c, const Traffic& traffic, const FoldClasses& classes,
                 const std::vector<bool>& represents, GroupClass& group) {
  const Communicator& communicator = traffic.communicators[c];
  const std::span<const LinkId> links = communicator.links_of(g);
  for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
    if (traffic.patterns[p].communicator != static_cast<int>(c)) continue;
    std::size_t f = 0;
    for (const PhaseTraffic& phase : traffic.loads[p].of_form(communicator.form_of[g])) {
      ClassPhase& of_class = group.patterns[p][f++];
      for (const Use& use : traffic.loads[p].of_phase(phase)) {
        if (!represents[links[use.resource]]) continue;
        const std::int32_t link = classes.links.class_of[links[use.resource]];
        (link < classes.limiting_links ? of_class.uses : of_class.nonbinding_uses)
            .push_back({link, use.usage});
      }
    }
  }
}

// Adds to every group class, for each phase, what all its groups together put on the representative of each
// link class.
void add_uses(System& system, const Traffic& traffic, const FoldClasses& classes,
              const std::vector<std::int32_t>& first_class) {
  std::vector<bool> represents(classes.links.class_of.size(), false);  // [link]
  for (const std::int32_t link : classes.links.first) represents[link] = true;
  for (std::size_t c = 0; c < traffic.communicators.size(); ++c) {
    const std::vector<std::int32_t>& class_of = classes.groups[c].class_of;
    for (std::size_t g = 0; g < class_of.size(); ++g) {
      const auto loads_one = [&](LinkId link) { return represents[link]; };
      if (std::ranges::any_of(traffic.communicators[c].links_of(g), loads_one))
        add_uses_of(g, c, traffic, classes, represents, system.groups[first_class[c] + class_of[g]]);
    }
  }
  for (GroupClass& group : system.groups)
    for (auto& phases : group.patterns)
      for (ClassPhase& phase : phases) {
        merge(phase.uses);
        merge(phase.nonbinding_uses);
      }
}

// The group classes of a communicator, behind those of the communicators before it.
void add_groups(System& system, const Traffic& traffic, const FoldClasses& classes, std::size_t c) {
  const std::size_t before = system.groups.size();
  const Communicator& communicator = traffic.communicators[c];
  for (const std::int32_t g : classes.groups[c].first) {
    GroupClass& group = system.groups.emplace_back(GroupClass{static_cast<int>(c), 0, {}, {}});
    group.patterns.resize(traffic.patterns.size());
    for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
      if (traffic.patterns[p].communicator != static_cast<int>(c)) continue;
      for (const PhaseTraffic& phase : traffic.loads[p].of_form(communicator.form_of[g]))
        group.patterns[p].push_back({phase.latency, phase.ramp, phase.work_per_byte, {}, {}});
    }
    for (const ChipId chip : communicator.groups[g]) group.members.push_back(classes.chips.class_of[chip]);
    if (communicator.point_to_point()) continue;
    std::sort(group.members.begin(), group.members.end());
    group.members.erase(std::unique(group.members.begin(), group.members.end()), group.members.end());
  }
  for (const std::int32_t g : classes.groups[c].class_of) ++system.groups[before + g].groups;
}

void add_chips(System& system, const Traffic& traffic, const FoldClasses& classes,
               const std::vector<std::int32_t>& first_class, const FoldRequest& request) {
  const std::vector<std::int32_t>& profile_of = request.degradations.chip_profile;
  for (const std::int32_t c : classes.chips.first) {
    ChipClass chip{c, 0, request.program_of[c], request.speed_of[c], {}, {}};
    for (std::size_t k = 0; k < traffic.communicators.size(); ++k) {
      const auto class_of = [&](const std::vector<std::int32_t>& groups) {
        return groups.empty() || groups[c] < 0 ? -1 : first_class[k] + classes.groups[k].class_of[groups[c]];
      };
      chip.group_class.push_back(class_of(traffic.communicators[k].group_of));
      chip.group_class_destination.push_back(class_of(traffic.communicators[k].group_as_destination));
    }
    if (!profile_of.empty()) chip.profile = profile_of[c];
    system.chips.push_back(std::move(chip));
  }
  for (const std::int32_t c : classes.chips.class_of)
    if (c >= 0) ++system.chips[c].chips;
}

void add_links(System& system, const Fabric& fabric, const FoldClasses& classes,
               const DrawnDegradations& degradations) {
  const auto of = [](const std::vector<std::int32_t>& list, LinkId l) { return list.empty() ? -1 : list[l]; };
  for (const std::int32_t l : classes.links.first)
    system.links.push_back({fabric.links[l].kind, fabric.links[l].bandwidth, 0,
                            of(degradations.link_profile, l), of(degradations.link_flap, l)});
  for (const std::int32_t l : classes.links.class_of) ++system.links[l].links;
  system.limiting_links = classes.limiting_links;
}

}  // namespace

std::vector<std::int32_t> chip_classes(const System& system) {
  PODSIM_CHECK(!system.lists || system.class_of.empty(), "classes are listed in one way");
  return system.lists ? system.lists->chips() : system.class_of;
}

std::vector<std::int32_t> link_classes(const System& system) {
  return system.lists ? system.lists->links() : system.link_class_of;
}

std::vector<double> link_capacities(const System& system) {
  std::vector<double> result;
  for (std::int32_t l = 0; l < system.limiting_links; ++l) result.push_back(system.links[l].bandwidth.value);
  return result;
}

System fold(const Fabric& fabric, std::vector<Mesh> meshes, LoweredStep step, const Traffic& traffic,
            FoldRequest request) {
  FoldClasses classes = find_classes(fabric, traffic, request);
  System system;
  system.meshes = std::move(meshes);
  std::vector<std::int32_t> first_class;  // [communicator]
  for (std::size_t c = 0; c < traffic.communicators.size(); ++c) {
    first_class.push_back(static_cast<std::int32_t>(system.groups.size()));
    add_groups(system, traffic, classes, c);
  }
  add_chips(system, traffic, classes, first_class, request);
  system.class_of = classes.chips.class_of;
  add_links(system, fabric, classes, request.degradations);
  add_uses(system, traffic, classes, first_class);
  system.link_class_of = std::move(classes.links.class_of);

  system.hits = std::move(request.degradations.hits);
  system.profiles = std::move(request.degradations.profiles);
  system.step = std::move(step);
  system.pattern_of = traffic.pattern_of;
  system.communicator_of = traffic.communicator_of;
  system.patterns = traffic.patterns;
  return system;
}

}  // namespace podsim
