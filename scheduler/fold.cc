// Colour refinement of chips, groups and links, and the quotient system.
#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "engine/check.h"
#include "engine/random.h"
#include "scheduler/system.h"

namespace podsim {
namespace {

using Colour = std::uint64_t;  // a hash; two of n things collide wrongly with probability n^2 / 2^65

// Order-free combination: a sum of mixed hashes is the hash of a multiset.
Colour salted(Colour colour, std::uint64_t salt) { return mix(colour, salt); }

class Folding {
 public:
  Folding(const Fabric& fabric, const Traffic& traffic, const std::vector<int>& program_of,
          const std::vector<double>& speed_of)
      : traffic_(traffic), chip_(fabric.chips), link_(fabric.links.size()) {
    for (ChipId c = 0; c < fabric.chips; ++c)
      chip_[c] = mix(static_cast<std::uint64_t>(program_of[c]), std::bit_cast<std::uint64_t>(speed_of[c]));
    for (std::size_t l = 0; l < link_.size(); ++l)
      link_[l] = mix(static_cast<std::uint64_t>(fabric.links[l].kind),
                     std::bit_cast<std::uint64_t>(fabric.links[l].bandwidth.value));
    for (const Communicator& communicator : traffic.communicators)
      group_.emplace_back(communicator.groups.size(), 0);
  }

  void make_distinct() {
    for (std::size_t c = 0; c < chip_.size(); ++c) chip_[c] = mix(chip_[c], c + 1);
    for (std::size_t l = 0; l < link_.size(); ++l) link_[l] = mix(link_[l], l + 1);
  }
  void make_chips_distinct() {
    for (std::size_t c = 0; c < chip_.size(); ++c) chip_[c] = mix(chip_[c], c + 1);
  }

  void refine() {
    colour_groups();
    for (std::size_t classes = 0, before = count();; classes = before, before = count()) {
      if (classes == before) break;
      colour_chips();
      colour_links();
      colour_groups();
    }
  }

  const std::vector<Colour>& chips() const { return chip_; }
  const std::vector<Colour>& links() const { return link_; }
  const std::vector<std::vector<Colour>>& groups() const { return group_; }

 private:
  static std::size_t distinct(std::vector<Colour> colours) {
    std::sort(colours.begin(), colours.end());
    return std::unique(colours.begin(), colours.end()) - colours.begin();
  }
  std::size_t count() const {
    std::size_t total = distinct(chip_) + distinct(link_);
    for (const auto& groups : group_) total += distinct(groups);
    return total;
  }

  // Members count as a multiset for collectives: who arrives last decides, not where it sits. A transfer has
  // two ends.
  void colour_groups() {
    for (std::size_t c = 0; c < group_.size(); ++c) {
      const Communicator& communicator = traffic_.communicators[c];
      for (std::size_t g = 0; g < group_[c].size(); ++g) {
        const std::vector<ChipId>& members = communicator.groups[g];
        Colour sum = c + 1;
        for (std::size_t i = 0; i < members.size(); ++i)
          sum += salted(chip_[members[i]], communicator.point_to_point() ? i + 1 : 0);
        group_[c][g] = sum;
      }
    }
    for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
      const Pattern& pattern = traffic_.patterns[p];
      for (std::size_t g = 0; g < pattern.groups.size(); ++g) {
        Colour& colour = group_[pattern.communicator][g];
        for (std::size_t f = 0; f < pattern.groups[g].size(); ++f) {
          const PhaseTraffic& phase = pattern.groups[g][f];
          std::uint64_t salt = mix(p, f);
          colour = mix(mix(mix(colour, salt), static_cast<std::uint64_t>(phase.latency.ps)),
                       std::bit_cast<std::uint64_t>(phase.work_per_byte));
          colour = mix(mix(colour, static_cast<std::uint64_t>(phase.ramp.most.ps)),
                       std::bit_cast<std::uint64_t>(phase.ramp.full.value));
          Colour sum = 0;
          for (const Use& use : phase.uses)
            sum += salted(link_[use.resource], static_cast<std::uint64_t>(use.usage));
          colour = mix(colour, sum);
        }
      }
    }
  }

  void colour_chips() {
    for (std::size_t c = 0; c < group_.size(); ++c) {
      const Communicator& communicator = traffic_.communicators[c];
      for (std::size_t chip = 0; chip < chip_.size(); ++chip) {
        if (int g = communicator.group_of[chip]; g >= 0) chip_[chip] = mix(chip_[chip], group_[c][g]);
        if (!communicator.point_to_point()) continue;
        if (int g = communicator.group_as_destination[chip]; g >= 0)
          chip_[chip] = mix(chip_[chip], group_[c][g]);
      }
    }
  }

  void colour_links() {
    std::vector<Colour> sum(link_.size(), 0);
    for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
      const Pattern& pattern = traffic_.patterns[p];
      for (std::size_t g = 0; g < pattern.groups.size(); ++g)
        for (std::size_t f = 0; f < pattern.groups[g].size(); ++f) {
          Colour carried = mix(group_[pattern.communicator][g], mix(p, f));
          for (const Use& use : pattern.groups[g][f].uses)
            sum[use.resource] += salted(carried, static_cast<std::uint64_t>(use.usage));
        }
    }
    for (std::size_t l = 0; l < link_.size(); ++l) link_[l] = mix(link_[l], sum[l]);
  }

  const Traffic& traffic_;
  std::vector<Colour> chip_, link_;
  std::vector<std::vector<Colour>> group_;  // [communicator][group]
};

// Numbers classes in order of their first member, so that the numbering does not depend on hash values. What
// is `left_out` has class -1; an empty list leaves nothing out.
std::vector<std::int32_t> number_classes(const std::vector<Colour>& colours, std::vector<std::int32_t>& first,
                                         const std::vector<bool>& left_out = {}) {
  std::unordered_map<Colour, std::int32_t> known;
  std::vector<std::int32_t> result(colours.size(), -1);
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (!left_out.empty() && left_out[i]) continue;
    auto [it, is_new] = known.try_emplace(colours[i], static_cast<std::int32_t>(first.size()));
    if (is_new) first.push_back(static_cast<std::int32_t>(i));
    result[i] = it->second;
  }
  return result;
}

// Adds to every group class, for each phase, what all its groups together put on the representative of each
// link class.
void add_uses(System& system, const Traffic& traffic,
              const std::vector<std::vector<std::int32_t>>& class_of_group,
              const std::vector<std::int32_t>& class_of_link, const std::vector<std::int32_t>& first_link) {
  for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
    const Pattern& pattern = traffic.patterns[p];
    for (std::size_t g = 0; g < pattern.groups.size(); ++g) {
      std::vector<ClassPhase>& phases = system.groups[class_of_group[pattern.communicator][g]].patterns[p];
      for (std::size_t f = 0; f < pattern.groups[g].size(); ++f) {
        const PhaseTraffic& traffic_of_phase = pattern.groups[g][f];
        if (phases.size() <= f)
          phases.push_back(
              {traffic_of_phase.latency, traffic_of_phase.ramp, traffic_of_phase.work_per_byte, {}});
        for (const Use& use : traffic_of_phase.uses) {
          std::int32_t link = class_of_link[use.resource];
          if (first_link[link] == use.resource) phases[f].uses.push_back({link, use.usage});
        }
      }
    }
  }
  for (GroupClass& group : system.groups)
    for (auto& phases : group.patterns)
      for (ClassPhase& phase : phases) {
        std::sort(phase.uses.begin(), phase.uses.end(),
                  [](const Use& a, const Use& b) { return a.resource < b.resource; });
        std::size_t kept = 0;
        for (const Use& use : phase.uses) {
          if (kept > 0 && phase.uses[kept - 1].resource == use.resource)
            phase.uses[kept - 1].usage += use.usage;
          else
            phase.uses[kept++] = use;
        }
        phase.uses.resize(kept);
      }
}

}  // namespace

std::vector<double> link_capacities(const System& system) {
  std::vector<double> result;
  for (const LinkClass& link : system.links) result.push_back(link.bandwidth.value);
  return result;
}

System fold(const Fabric& fabric, std::vector<Mesh> meshes, LoweredStep step, Traffic traffic,
            const std::vector<int>& program_of, const std::vector<double>& speed_of, bool fold,
            bool distinct_chips) {
  Folding folding(fabric, traffic, program_of, speed_of);
  if (!fold)
    folding.make_distinct();
  else if (distinct_chips)
    folding.make_chips_distinct();
  folding.refine();

  System system;
  system.meshes = std::move(meshes);
  std::vector<std::int32_t> first_chip, first_link;
  std::vector<bool> idle(program_of.size());
  for (std::size_t c = 0; c < idle.size(); ++c) idle[c] = program_of[c] < 0;
  std::vector<std::int32_t> class_of_chip = number_classes(folding.chips(), first_chip, idle);
  std::vector<std::int32_t> class_of_link = number_classes(folding.links(), first_link);
  std::vector<std::vector<std::int32_t>> class_of_group;

  for (std::size_t c = 0; c < traffic.communicators.size(); ++c) {
    const Communicator& communicator = traffic.communicators[c];
    std::vector<std::int32_t> first_group;
    std::vector<std::int32_t> classes = number_classes(folding.groups()[c], first_group);
    std::int32_t base = static_cast<std::int32_t>(system.groups.size());
    for (std::int32_t g : first_group) {
      GroupClass group{static_cast<int>(c), 0, {}, {}};
      group.patterns.resize(traffic.patterns.size());
      for (ChipId chip : communicator.groups[g]) group.members.push_back(class_of_chip[chip]);
      if (!communicator.point_to_point()) {
        std::sort(group.members.begin(), group.members.end());
        group.members.erase(std::unique(group.members.begin(), group.members.end()), group.members.end());
      }
      system.groups.push_back(std::move(group));
    }
    for (std::int32_t& g : classes) {
      g += base;
      ++system.groups[g].groups;
    }
    class_of_group.push_back(std::move(classes));
  }

  for (std::int32_t c : first_chip) {
    ChipClass chip{c, 0, program_of[c], speed_of[c], {}, {}};
    for (std::size_t k = 0; k < traffic.communicators.size(); ++k) {
      const Communicator& communicator = traffic.communicators[k];
      auto class_of = [&](const std::vector<std::int32_t>& groups) {
        return groups.empty() || groups[c] < 0 ? -1 : class_of_group[k][groups[c]];
      };
      chip.group_class.push_back(class_of(communicator.group_of));
      chip.group_class_destination.push_back(class_of(communicator.group_as_destination));
    }
    system.chips.push_back(std::move(chip));
  }
  for (std::int32_t c : class_of_chip)
    if (c >= 0) ++system.chips[c].chips;
  for (std::int32_t l : first_link)
    system.links.push_back({fabric.links[l].kind, fabric.links[l].bandwidth, 0});
  for (std::int32_t l : class_of_link) ++system.links[l].links;
  add_uses(system, traffic, class_of_group, class_of_link, first_link);

  system.step = std::move(step);
  system.pattern_of = std::move(traffic.pattern_of);
  system.communicator_of = std::move(traffic.communicator_of);
  system.patterns = std::move(traffic.patterns);
  for (Pattern& pattern : system.patterns) pattern.groups.clear();
  return system;
}

}  // namespace podsim
