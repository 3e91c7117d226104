// Numbers the classes of chips, groups and links.
#include "scheduler/folding/fold_classes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "engine/random.h"
#include "scheduler/folding/group_graph.h"
#include "scheduler/traffic/nonbinding_links.h"

namespace podsim {
namespace {

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
  struct Label {
    std::int32_t place;
    Colour label;
  };
  for (std::size_t c = 0; c < traffic.communicators.size(); ++c) {
    const Communicator& communicator = traffic.communicators[c];
    std::vector<std::vector<Label>> labels(
        communicator.first_of_form.size());  // [form] but of links of chips
    for (std::size_t form = 0; form < labels.size(); ++form) {
      const auto links = communicator.links_of(static_cast<std::size_t>(communicator.first_of_form[form]));
      for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
        if (traffic.patterns[p].communicator != static_cast<int>(c)) continue;
        std::size_t f = 0;
        for (const PhaseTraffic& phase : traffic.loads[p].of_form(form)) {
          for (const Use& use : traffic.loads[p].of_phase(phase)) {
            const Link& link = fabric.links[links[use.resource]];
            if (link.from >= fabric.chips && link.to >= fabric.chips)
              labels[form].push_back({use.resource, label_of(use, p, f)});
          }
          ++f;
        }
      }
    }
    for (std::size_t g = 0; g < communicator.groups.size(); ++g) {
      const std::span<const LinkId> links = communicator.links_of(g);
      const auto group = static_cast<Colour>(groups[c].class_of[g]);
      for (const Label& each : labels[communicator.form_of[g]])
        if (nonbinding[links[each.place]]) carried[links[each.place]] += mix(each.label, group);
    }
  }
  std::vector<std::int32_t> classes(fabric.links.size(), -1);
  std::unordered_map<Colour, std::int32_t> known;
  for (std::size_t l = 0; l < classes.size(); ++l)
    if (nonbinding[l])
      classes[l] = known.try_emplace(mix(colour_of(fabric.links[l]), carried[l]), known.size()).first->second;
  return classes;
}

// Every chip, group and link is a class of its own.
VertexClasses all_apart(const Fabric& fabric, const Traffic& traffic) {
  const auto numbers = [](std::size_t count) {
    std::vector<std::int32_t> own(count);
    std::iota(own.begin(), own.end(), 0);
    return own;
  };
  VertexClasses classes{numbers(static_cast<std::size_t>(fabric.chips)), {}, numbers(fabric.links.size())};
  for (const Communicator& communicator : traffic.communicators)
    classes.groups.push_back(numbers(communicator.groups.size()));
  return classes;
}

}  // namespace

FoldClasses find_classes(const Fabric& fabric, const Traffic& traffic, const FoldRequest& request) {
  std::vector<bool> nonbinding = find_nonbinding_links(fabric, traffic);
  const std::vector<std::int32_t>& link_profile = request.degradations.link_profile;
  for (std::size_t l = 0; l < link_profile.size(); ++l)
    if (link_profile[l] >= 0) nonbinding[l] = false;  // it may be narrower than what is below it
  VertexClasses classes;
  if (request.fold) {
    const GroupGraph graph(fabric, traffic, nonbinding, request);
    std::optional<VertexClasses> quick = graph.classes_by_rounds();
    classes = quick ? *std::move(quick) : graph.classes();
  } else {
    classes = all_apart(fabric, traffic);
  }

  FoldClasses found;
  const auto none = [](std::size_t) { return false; };
  number(classes.chips, found.chips, [&](std::size_t c) { return request.program_of[c] < 0; });
  for (const std::vector<std::int32_t>& groups : classes.groups)
    number(groups, found.groups.emplace_back(), none);
  number(classes.links, found.links, [&](std::size_t l) { return nonbinding[l]; });
  found.limiting_links = static_cast<std::int32_t>(found.links.first.size());
  const std::vector<std::int32_t> alike = nonbinding_classes(fabric, traffic, found.groups, nonbinding);
  number(request.fold ? alike : classes.links, found.links, [&](std::size_t l) { return !nonbinding[l]; });
  return found;
}

}  // namespace podsim
