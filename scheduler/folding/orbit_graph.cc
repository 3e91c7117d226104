// Edges of orbits, and rounds of refinement over them.
#include "scheduler/folding/orbit_graph.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim {
namespace {

// Classes of one kind of thing, with what their edges tell in this round.
struct OrbitPartition {
  std::vector<std::int32_t> own;
  std::vector<Colour> sums;
  std::size_t classes = 1;

  explicit OrbitPartition(std::size_t things) : own(things, 0), sums(things, 0) {}

  // Whether classes came apart. Leaves all sums zero.
  bool split() {
    std::unordered_map<ToldClass, std::int32_t, TellClassesApart> known;
    ToldClass last{-1, 0};
    std::int32_t number = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const ToldClass told{own[i], sums[i]};
      if (!(told == last))
        number = known.try_emplace(told, static_cast<std::int32_t>(known.size())).first->second;
      last = told;
      own[i] = number;
      sums[i] = 0;
    }
    return std::exchange(classes, known.size()) < known.size();
  }
};

Colour told_by(Colour label, std::int32_t of) { return mix(label, static_cast<Colour>(of)); }

class OrbitRefinement {
 public:
  OrbitRefinement(const OrbitTraffic& traffic, std::span<const CommunicatorOrbits> communicators,
                  std::size_t columns)
      : traffic_(traffic),
        communicators_(communicators),
        kinds_(traffic.kinds.size()),
        chips_(columns * kinds_),
        links_(columns * kinds_ * kOwnWays) {
    for (const CommunicatorOrbits& each : communicators) groups_.emplace_back(each.orbits());
  }

  OrbitClasses run(std::span<const std::int32_t> program_of_column, Colour nvlink, Colour nic) {
    PODSIM_CHECK(program_of_column.size() * kinds_ == chips_.own.size(), "each column has a program");
    for (std::size_t cell = 0; cell < chips_.own.size(); ++cell) {
      chips_.sums[cell] = static_cast<Colour>(program_of_column[cell / kinds_]);
      for (const TreeWay way : {kNvlinkUp, kNvlinkDown, kNicUp, kNicDown})
        links_.sums[cell * kOwnWays + static_cast<std::size_t>(way)] = way < kNicUp ? nvlink : nic;
    }
    for (std::size_t c = 0; c < groups_.size(); ++c) colour_groups(c);
    split_all();
    do {
      for (std::size_t c = 0; c < groups_.size(); ++c) tell_groups(c);
      for (std::size_t c = 0; c < groups_.size(); ++c) tell_others(c);
    } while (split_all());
    OrbitClasses classes{std::move(chips_.own), std::move(links_.own), {}};
    for (OrbitPartition& of : groups_) classes.groups.push_back(std::move(of.own));
    return classes;
  }

 private:
  bool split_all() {
    bool any = chips_.split();
    any = links_.split() || any;
    for (OrbitPartition& of : groups_) any = of.split() || any;
    return any;
  }

  template <class Visit>
  void for_each_part(std::size_t c, Visit&& visit) const {
    for (std::size_t pattern = 0; pattern < communicators_[c].patterns(); ++pattern)
      for (std::size_t kind = 0; kind < kinds_; ++kind)
        visit(pattern, kind, communicators_[c].orbit(pattern, kind));
  }

  void colour_groups(std::size_t c) {
    for_each_part(c, [&](std::size_t pattern, std::size_t kind, std::size_t orbit) {
      groups_[c].sums[orbit] = communicators_[c].colour(communicators_[c].form(pattern, kind));
    });
  }

  // Members of a collective are told alike; a transfer has two ends.
  Colour end(std::size_t c, std::size_t slot) const {
    return mix(1, communicators_[c].communicator().point_to_point() ? slot + 1 : 0);
  }

  // What a group is told by its members and by the links that it loads: as often as it has them.
  void tell_groups(std::size_t c) {
    const CommunicatorOrbits& of = communicators_[c];
    for_each_part(c, [&](std::size_t pattern, std::size_t kind, std::size_t orbit) {
      const auto columns = of.columns(pattern);
      Colour sum = 0;
      for (std::size_t slot = 0; slot < columns.size(); ++slot)
        sum += told_by(end(c, slot), chips_.own[cell(columns[slot], kind)]);
      for (const OrbitEdge& edge : of.edges(pattern, kind))
        sum += told_by(edge.label, links_.own[link(columns, edge, kind)]);
      groups_[c].sums[orbit] +=
          of.through_rows() ? sum * static_cast<Colour>(traffic_.kinds[kind].rows) : sum;
    });
  }

  // What chips and their links are told: each is a member of one group of a pattern.
  void tell_others(std::size_t c) {
    const CommunicatorOrbits& of = communicators_[c];
    for_each_part(c, [&](std::size_t pattern, std::size_t kind, std::size_t orbit) {
      const auto columns = of.columns(pattern);
      const std::int32_t own = groups_[c].own[orbit];
      const Colour group = mix(c + 1, static_cast<Colour>(own));
      for (std::size_t slot = 0; slot < columns.size(); ++slot)
        chips_.sums[cell(columns[slot], kind)] += mix(end(c, slot), group);
      for (const OrbitEdge& edge : of.edges(pattern, kind))
        links_.sums[link(columns, edge, kind)] += mix(edge.label, group);
    });
  }

  std::size_t cell(std::int32_t column, std::size_t kind) const {
    return static_cast<std::size_t>(column) * kinds_ + kind;
  }
  std::size_t link(std::span<const std::int32_t> columns, const OrbitEdge& edge, std::size_t kind) const {
    return cell(columns[static_cast<std::size_t>(edge.slot)], kind) * kOwnWays +
           static_cast<std::size_t>(edge.way);
  }

  const OrbitTraffic& traffic_;
  std::span<const CommunicatorOrbits> communicators_;
  std::size_t kinds_;
  OrbitPartition chips_, links_;
  std::vector<OrbitPartition> groups_;  // [communicator]
};

}  // namespace

CommunicatorOrbits::CommunicatorOrbits(const OrbitTraffic& traffic, std::size_t c, const RowMesh& rows)
    : of_(traffic.communicators[c]), kinds_(traffic.kinds.size()) {
  find_columns(rows);
  for (std::size_t form = 0; form < of_.places.size(); ++form) add_form(traffic, rows, c, form);
}

void CommunicatorOrbits::find_columns(const RowMesh& rows) {
  const auto all = static_cast<std::size_t>(rows.blocks() * rows.width());
  pattern_at_.assign(all, -1);
  if (of_.point_to_point()) pattern_to_.assign(all, -1);
  std::vector<ChipId> in_first_row;
  for (const ChipId start : of_.groups.through.starts())
    for (const ChipId offset : of_.groups.through.offsets()) in_first_row.push_back(start + offset);
  for (std::size_t p = 0; p < patterns(); ++p) {
    const GroupPattern& pattern = of_.groups.patterns[p];
    std::vector<std::int32_t>& columns = columns_.emplace_back();
    for (const ChipId offset : through_rows() ? in_first_row : pattern.offsets)
      columns.push_back(rows.column_of(pattern.first + offset));
    const std::size_t members = of_.point_to_point() ? 1 : columns.size();
    for (std::size_t slot = 0; slot < members; ++slot)
      pattern_at_[static_cast<std::size_t>(columns[slot])] = static_cast<std::int32_t>(p);
    if (of_.point_to_point())
      pattern_to_[static_cast<std::size_t>(columns[1])] = static_cast<std::int32_t>(p);
  }
}

std::size_t CommunicatorOrbits::form(std::size_t pattern, std::size_t kind) const {
  const auto family = static_cast<std::size_t>(of_.groups.patterns[pattern].family);
  return static_cast<std::size_t>(of_.form_of_family[through_rows() ? family : family * kinds_ + kind]);
}

std::span<const OrbitEdge> CommunicatorOrbits::edges(std::size_t pattern, std::size_t kind) const {
  const std::size_t form = this->form(pattern, kind);
  if (!through_rows()) return edges_[form];
  const std::vector<std::size_t>& first = first_edge_[form];
  return {edges_[form].data() + first[kind], edges_[form].data() + first[kind + 1]};
}

void CommunicatorOrbits::add_form(const OrbitTraffic& traffic, const RowMesh& rows, std::size_t c,
                                  std::size_t form) {
  const std::vector<TreePlace>& places = of_.places[form];
  std::vector<Colour> labels(places.size(), 0);
  Colour& colour = colours_.emplace_back(c + 1);
  for (std::size_t p = 0; p < traffic.patterns.size(); ++p) {
    if (!std::cmp_equal(traffic.patterns[p].communicator, c)) continue;
    std::size_t f = 0;
    for (const PhaseTraffic& phase : traffic.loads[p].of_form(form)) {
      colour = mix_phase(colour, phase, p, f);
      for (const Use& use : traffic.loads[p].of_phase(phase))
        labels[static_cast<std::size_t>(use.resource)] += label_of(use, p, f);
      ++f;
    }
  }
  std::vector<OrbitEdge>& edges = edges_.emplace_back();
  std::vector<TrunkEdge>& trunks = trunk_edges_.emplace_back();
  std::vector<std::vector<OrbitEdge>> by_kind(through_rows() ? kinds_ : 0);
  std::size_t pattern = 0;  // of the form
  if (through_rows())
    while (pattern < patterns() && this->form(pattern, 0) != form) ++pattern;
  PODSIM_CHECK(pattern < patterns(), "a form is planned for a group of it");
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<std::int32_t>(i);
    if (!places[i].own()) {
      trunks.push_back({place, labels[i]});
    } else if (!through_rows()) {
      edges.push_back({places[i].member, places[i].way, place, labels[i]});
    } else {
      const ChipId chip =
          of_.groups.patterns[pattern].first + of_.groups.through[static_cast<std::size_t>(places[i].member)];
      const std::int32_t row = rows.row_of(chip);
      const auto kind = std::ranges::lower_bound(traffic.kinds, row, {}, &RowKind::first);
      PODSIM_CHECK(kind != traffic.kinds.end() && kind->first == row, "links are those of first rows");
      const auto slot = std::ranges::find(columns_[pattern], rows.column_of(chip));
      PODSIM_CHECK(slot != columns_[pattern].end(), "a group has the same columns in every row");
      by_kind[static_cast<std::size_t>(kind - traffic.kinds.begin())].push_back(
          {static_cast<std::int32_t>(slot - columns_[pattern].begin()), places[i].way, place, labels[i]});
    }
  }
  std::vector<std::size_t>& first = first_edge_.emplace_back();
  for (const std::vector<OrbitEdge>& of_kind : by_kind) {
    first.push_back(edges.size());
    edges.insert(edges.end(), of_kind.begin(), of_kind.end());
  }
  first.push_back(edges.size());
}

OrbitClasses equitable_orbits(const OrbitTraffic& traffic, std::span<const CommunicatorOrbits> communicators,
                              std::span<const std::int32_t> program_of_column, Colour nvlink, Colour nic) {
  return OrbitRefinement(traffic, communicators, program_of_column.size())
      .run(program_of_column, nvlink, nic);
}

}  // namespace podsim
