// The partition by rounds: each vertex adds up what its edges tell of the classes at their other ends, and a
// class with several sums is split, until nothing splits.
#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

#include "engine/random.h"
#include "scheduler/folding/group_graph.h"

namespace podsim {
namespace {

// Where vertices differ by how far they are from something, each round tells one step more: then a worklist
// is faster.
constexpr int kMostRounds = 8;

// Vertices of one kind, with numbers of classes from `first` on.
struct Partition {
  std::vector<std::int32_t> own;  // [vertex]
  std::int32_t classes = 0;
  std::vector<Colour> sums;  // [vertex] of what its edges tell in this round
};

// Neighbours in number are mostly of one colour.
Partition partition_by(std::span<const Colour> colours) {
  Partition result;
  std::unordered_map<Colour, std::int32_t> known;
  for (std::size_t v = 0; v < colours.size(); ++v)
    result.own.push_back(
        v > 0 && colours[v] == colours[v - 1]
            ? result.own.back()
            : known.try_emplace(colours[v], static_cast<std::int32_t>(known.size())).first->second);
  result.classes = static_cast<std::int32_t>(known.size());
  result.sums.resize(colours.size(), 0);
  return result;
}

// The vertices of a class that have the sum of its first one keep its number. Leaves all sums zero. Returns
// whether anything was split.
bool split(Partition& vertices) {
  const std::int32_t before = vertices.classes;
  std::vector<Colour> first(before);
  std::vector<bool> seen(before, false);
  std::unordered_map<ToldClass, std::int32_t, TellClassesApart> others;
  for (std::size_t v = 0; v < vertices.own.size(); ++v) {
    std::int32_t& own = vertices.own[v];
    if (!seen[own]) {
      seen[own] = true;
      first[own] = vertices.sums[v];
    } else if (vertices.sums[v] != first[own]) {
      const auto [it, is_new] = others.try_emplace({own, vertices.sums[v]}, vertices.classes);
      vertices.classes += is_new;
      own = it->second;
    }
    vertices.sums[v] = 0;
  }
  return vertices.classes > before;
}

// What the end of an edge tells of a class, worked out once for each.
std::vector<Colour> told_of(std::int32_t classes, Colour label) {
  std::vector<Colour> told;
  for (std::int32_t c = 0; c < classes; ++c) told.push_back(mix(label, static_cast<Colour>(c)));
  return told;
}

}  // namespace

class Rounds {
 public:
  explicit Rounds(const GroupGraph& graph)
      : graph_(graph), chips_(partition_by(graph.chips_)), links_(partition_by(graph.links_)) {
    std::vector<Colour> colours;
    for (std::size_t c = 0; c < graph.forms_.size(); ++c)
      for (const std::int32_t form : communicators()[c].form_of)
        colours.push_back(graph.forms_[c][form].group);
    groups_ = partition_by(colours);
  }

  // Whether nothing splits any more. Each kind of edge is followed again only when classes at its other end
  // have split since.
  bool run() {
    bool chips_split = true, links_split = true;
    for (int round = 0; round < kMostRounds; ++round) {
      const bool by_members = chips_split && split_groups_by_members();
      const bool by_links = links_split && split_groups_by_links();
      if (round > 0 && !by_members && !by_links) return true;
      chips_split = split_chips();
      links_split = split_links();
      if (!chips_split && !links_split) return true;
    }
    return false;
  }

  VertexClasses classes() && {
    VertexClasses result{std::move(chips_.own), {}, std::move(links_.own)};
    auto next = groups_.own.begin();
    for (const Communicator& communicator : communicators()) {
      const auto begin = next;
      next += static_cast<std::ptrdiff_t>(communicator.groups.size());
      result.groups.emplace_back(begin, next);
    }
    return result;
  }

 private:
  const std::vector<Communicator>& communicators() const { return graph_.traffic_.communicators; }

  // Labels of members: of a collective, of the source and of the destination of a transfer.
  static std::array<std::vector<Colour>, 3> told_of_members(std::int32_t classes) {
    return {told_of(classes, mix(1, 0)), told_of(classes, mix(1, 1)), told_of(classes, mix(1, 2))};
  }

  bool split_groups_by_members() {
    const auto told = told_of_members(chips_.classes);
    std::size_t group = 0;
    for (const Communicator& communicator : communicators()) {
      const bool pair = communicator.point_to_point();
      for (const std::span<const ChipId> members : communicator.groups) {
        Colour& sum = groups_.sums[group++];
        for (std::size_t i = 0; i < members.size(); ++i)
          sum += told[pair ? i + 1 : 0][chips_.own[members[i]]];
      }
    }
    return split(groups_);
  }

  bool split_chips() {
    const auto told = told_of_members(groups_.classes);
    std::size_t first = 0;
    for (const Communicator& communicator : communicators()) {
      const auto add = [&](const std::vector<std::int32_t>& group_of, const std::vector<Colour>& tells) {
        for (std::size_t chip = 0; chip < group_of.size(); ++chip)
          if (group_of[chip] >= 0)
            chips_.sums[chip] += tells[groups_.own[first + static_cast<std::size_t>(group_of[chip])]];
      };
      add(communicator.group_of, told[communicator.point_to_point() ? 1 : 0]);
      add(communicator.group_as_destination, told[2]);
      first += communicator.groups.size();
    }
    return split(chips_);
  }

  // follow(group's number, its links that may limit and the labels of the edges to them)
  template <class Follow>
  void for_each_edge_to_links(Follow&& follow) const {
    std::size_t group = 0;
    for (std::size_t c = 0; c < communicators().size(); ++c) {
      const Communicator& communicator = communicators()[c];
      for (std::size_t g = 0; g < communicator.groups.size(); ++g, ++group) {
        const std::vector<Colour>& labels = graph_.forms_[c][communicator.form_of[g]].links;
        const std::span<const LinkId> links = communicator.links_of(g);
        for (std::size_t i = 0; i < links.size(); ++i)
          if (!graph_.nonbinding_[links[i]]) follow(group, links[i], labels[i]);
      }
    }
  }

  bool split_groups_by_links() {
    for_each_edge_to_links([&](std::size_t group, LinkId link, Colour label) {
      groups_.sums[group] += mix(label, static_cast<Colour>(links_.own[link]));
    });
    return split(groups_);
  }

  bool split_links() {
    for_each_edge_to_links([&](std::size_t group, LinkId link, Colour label) {
      links_.sums[link] += mix(label, static_cast<Colour>(groups_.own[group]));
    });
    return split(links_);
  }

  const GroupGraph& graph_;
  Partition chips_, groups_, links_;  // groups of all communicators, one after the other
};

std::optional<VertexClasses> GroupGraph::classes_by_rounds() const {
  Rounds rounds(*this);
  if (!rounds.run()) return std::nullopt;
  return std::move(rounds).classes();
}

}  // namespace podsim
