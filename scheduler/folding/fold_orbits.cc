// The quotient system of orbits: classes numbered by their first members, and what their groups put on them.
#include "scheduler/folding/fold_orbits.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/check.h"
#include "engine/random.h"
#include "engine/stage_timer.h"
#include "scheduler/folding/orbit_graph.h"

namespace podsim {
namespace {

// Classes of one kind, renumbered in the order of their first members.
class Numbering {
 public:
  // REQUIRES: numbers of classes below some few times `classes`.
  void add(std::int32_t own, std::int64_t thing, std::int64_t count, std::int32_t where) {
    if (static_cast<std::size_t>(own) >= all_.size()) all_.resize(static_cast<std::size_t>(own) + 1);
    Class& of = all_[static_cast<std::size_t>(own)];
    of.count += count;
    if (thing < of.first) of.first = thing, of.where = where;
  }

  struct Class {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), count = 0;
    std::int32_t where = 0;  // of its first member
  };
  // In order; leaves the number of each of those that were added behind those that were there.
  std::vector<Class> number(std::vector<std::int32_t>& number_of) const {
    std::vector<std::size_t> order;
    for (std::size_t own = 0; own < all_.size(); ++own)
      if (all_[own].count > 0) order.push_back(own);
    std::ranges::sort(order, {}, [&](std::size_t own) { return all_[own].first; });
    number_of.assign(all_.size(), -1);
    std::vector<Class> result;
    for (const std::size_t own : order) {
      number_of[own] = static_cast<std::int32_t>(result.size());
      result.push_back(all_[own]);
    }
    return result;
  }

 private:
  std::vector<Class> all_;
};

// What groups of one class, `times` of them, put on the first link of a class at one of their places.
struct Contribution {
  std::int32_t place, group_class, link_class;
  std::int64_t times;
};

class OrbitFolding {
 public:
  OrbitFolding(const Fabric& fabric, const RowMesh& rows, const OrbitTraffic& traffic)
      : tree_(*fabric.tree()), rows_(rows), traffic_(traffic), trunks_(tree_), kinds_(traffic.kinds.size()) {
    for (std::size_t c = 0; c < traffic.communicators.size(); ++c)
      communicators_.emplace_back(traffic, c, rows);
    nvlink_ = tree_.domain() > 1 ? tree_.link(static_cast<std::size_t>(tree_.nvlink_up(0))) : Link{};
    nic_ = tree_.link(static_cast<std::size_t>(tree_.nic_up(0)));
  }

  void run(std::span<const std::int32_t> program_of_column, System& system) {
    classes_ =
        equitable_orbits(traffic_, communicators_, program_of_column, colour_of(nvlink_), colour_of(nic_));
    number_chips(program_of_column, system);
    for (std::size_t c = 0; c < communicators_.size(); ++c) number_groups(c, system);
    for (ChipClass& chip : system.chips) add_groups_of(chip);
    contributions_.resize(communicators_.size());
    for (std::size_t c = 0; c < communicators_.size(); ++c)
      contributions_[c].resize(traffic_.communicators[c].places.size());
    number_links(system);
    number_trunks(system);
    for (std::size_t c = 0; c < communicators_.size(); ++c) add_uses(c, system);
    std::int64_t links = 0;
    for (const LinkClass& of : system.links) links += of.links;
    PODSIM_CHECK(links == tree_.links(), "each link is in one class");
    system.lists = lists();
  }

 private:
  // What is left to know of each chip and link.
  ClassLists lists() {
    auto chips = [rows = rows_, runs = traffic_.runs, kinds = traffic_.kind_of_run, cells = classes_.chips] {
      std::vector<std::int32_t> list(static_cast<std::size_t>(rows.blocks() * rows.width() * rows.rows()));
      for_each_cell_chip(rows, runs, kinds, [&](std::size_t cell, ChipId chip) {
        list[static_cast<std::size_t>(chip)] = cells[cell];
      });
      return list;
    };
    auto links = [rows = rows_, runs = traffic_.runs, kinds = traffic_.kind_of_run, tree = tree_,
                  own = classes_.links, trunk_classes = std::move(trunk_class_)] {
      std::vector<std::int32_t> list(static_cast<std::size_t>(tree.links()));
      for_each_cell_chip(rows, runs, kinds, [&](std::size_t cell, ChipId chip) {
        for (TreeWay way = tree.domain() > 1 ? kNvlinkUp : kNicUp; way < kOwnWays; ++way)
          list[static_cast<std::size_t>(link_above(tree, chip, way))] =
              own[cell * kOwnWays + static_cast<std::size_t>(way)];
      });
      const TreeTrunks trunks(tree);
      for (std::int32_t trunk = 0; trunk < trunks.count(); ++trunk)
        list[static_cast<std::size_t>(trunks.link(trunk))] = trunk_classes[static_cast<std::size_t>(trunk)];
      return list;
    };
    return {std::move(chips), std::move(links)};
  }

  template <class Visit>
  static void for_each_cell_chip(const RowMesh& rows, const std::vector<std::int32_t>& runs,
                                 const std::vector<std::int32_t>& kind_of_run, Visit&& visit) {
    const auto kinds = static_cast<std::size_t>(1 + *std::ranges::max_element(kind_of_run));
    for (std::int32_t column = 0; column < rows.blocks() * rows.width(); ++column)
      for (std::size_t run = 0; run + 1 < runs.size(); ++run)
        for (std::int32_t row = runs[run]; row < runs[run + 1]; ++row)
          visit(static_cast<std::size_t>(column) * kinds + static_cast<std::size_t>(kind_of_run[run]),
                rows.chip(column) + row * rows.width());
  }

  std::size_t columns() const { return static_cast<std::size_t>(rows_.blocks() * rows_.width()); }
  std::size_t cell(std::int32_t column, std::size_t kind) const {
    return static_cast<std::size_t>(column) * kinds_ + kind;
  }
  ChipId first_chip(std::int32_t column, std::size_t kind) const {
    return rows_.chip(column) + traffic_.kinds[kind].first * rows_.width();
  }

  void number_chips(std::span<const std::int32_t> program_of_column, System& system) {
    Numbering chips;
    for (std::size_t column = 0; column < columns(); ++column)
      for (std::size_t kind = 0; kind < kinds_; ++kind) {
        const auto at = static_cast<std::int32_t>(column);
        chips.add(classes_.chips[cell(at, kind)], first_chip(at, kind), traffic_.kinds[kind].rows, at);
      }
    std::int64_t all = 0;
    for (const Numbering::Class& of : chips.number(chip_class_)) {
      all += of.count;
      system.chips.push_back({static_cast<ChipId>(of.first),
                              of.count,
                              program_of_column[static_cast<std::size_t>(of.where)],
                              1,
                              {},
                              {}});
    }
    PODSIM_CHECK(all == tree_.chips(), "each chip is in one class");
    for (std::int32_t& own : classes_.chips) own = chip_class_[static_cast<std::size_t>(own)];
  }

  void number_groups(std::size_t c, System& system) {
    const CommunicatorOrbits& of = communicators_[c];
    const ScopeGroups& groups = of.communicator().groups;
    Numbering numbering;
    for (std::size_t pattern = 0; pattern < of.patterns(); ++pattern)
      for (std::size_t kind = 0; kind < (of.through_rows() ? 1 : kinds_); ++kind)
        numbering.add(classes_.groups[c][of.orbit(pattern, kind)],
                      groups.patterns[pattern].number + traffic_.kinds[kind].first * groups.number_per_row,
                      of.through_rows() ? 1 : traffic_.kinds[kind].rows,
                      static_cast<std::int32_t>(of.orbit(pattern, kind)));
    const auto before = static_cast<std::int32_t>(system.groups.size());
    std::vector<std::int32_t> number_of;
    for (const Numbering::Class& each : numbering.number(number_of)) {
      const auto orbit = static_cast<std::size_t>(each.where);
      const std::size_t pattern = of.through_rows() ? orbit : orbit / kinds_;
      add_group(c, pattern, of.through_rows() ? 0 : orbit % kinds_, each.count, system);
    }
    for (std::int32_t& own : classes_.groups[c]) own = before + number_of[static_cast<std::size_t>(own)];
  }

  void add_group(std::size_t c, std::size_t pattern, std::size_t kind, std::int64_t count, System& system) {
    const CommunicatorOrbits& of = communicators_[c];
    GroupClass& group = system.groups.emplace_back(GroupClass{static_cast<int>(c), count, {}, {}});
    group.patterns.resize(traffic_.patterns.size());
    for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
      if (!std::cmp_equal(traffic_.patterns[p].communicator, c)) continue;
      for (const PhaseTraffic& phase : traffic_.loads[p].of_form(of.form(pattern, kind)))
        group.patterns[p].push_back({phase.latency, phase.ramp, phase.work_per_byte, {}, {}});
    }
    const std::size_t first = of.through_rows() ? 0 : kind, end = of.through_rows() ? kinds_ : kind + 1;
    for (const std::int32_t column : of.columns(pattern))
      for (std::size_t each = first; each < end; ++each)
        group.members.push_back(classes_.chips[cell(column, each)]);
    if (of.communicator().point_to_point()) return;
    std::ranges::sort(group.members);
    group.members.erase(std::unique(group.members.begin(), group.members.end()), group.members.end());
  }

  void add_groups_of(ChipClass& chip) {
    const std::int32_t column = rows_.column_of(chip.representative);
    const std::size_t kind = traffic_.kind_of_row(rows_.row_of(chip.representative));
    for (std::size_t c = 0; c < communicators_.size(); ++c) {
      const auto class_of = [&](std::int32_t pattern) {
        return pattern < 0
                   ? -1
                   : classes_.groups[c][communicators_[c].orbit(static_cast<std::size_t>(pattern), kind)];
      };
      chip.group_class.push_back(class_of(communicators_[c].pattern_at(column)));
      chip.group_class_destination.push_back(communicators_[c].communicator().point_to_point()
                                                 ? class_of(communicators_[c].pattern_to(column))
                                                 : -1);
    }
  }

  // Links of chips.
  void number_links(System& system) {
    Numbering numbering;
    for (std::size_t column = 0; column < columns(); ++column)
      for (std::size_t kind = 0; kind < kinds_; ++kind) {
        const auto at = static_cast<std::int32_t>(column);
        for (TreeWay way = tree_.domain() > 1 ? kNvlinkUp : kNicUp; way < kOwnWays; ++way) {
          const std::size_t own = cell(at, kind) * kOwnWays + static_cast<std::size_t>(way);
          numbering.add(classes_.links[own], link_above(tree_, first_chip(at, kind), way),
                        traffic_.kinds[kind].rows, static_cast<std::int32_t>(own));
        }
      }
    std::vector<std::int32_t> number_of;
    for (const Numbering::Class& of : numbering.number(number_of)) {
      const auto number = static_cast<std::int32_t>(system.links.size());
      const auto way = static_cast<TreeWay>(of.where % kOwnWays);
      const Link& link = way < kNicUp ? nvlink_ : nic_;
      system.links.push_back({link.kind, link.bandwidth, of.count});
      const auto at = static_cast<std::size_t>(of.where) / kOwnWays;
      contribute_own(static_cast<std::int32_t>(at / kinds_), at % kinds_, way, number);
    }
    system.limiting_links = static_cast<std::int32_t>(system.links.size());
    for (std::int32_t& own : classes_.links) own = number_of[static_cast<std::size_t>(own)];
  }

  // Of groups that a chip is in, those that load its link this way.
  void contribute_own(std::int32_t column, std::size_t kind, TreeWay way, std::int32_t link_class) {
    for (std::size_t c = 0; c < communicators_.size(); ++c) {
      const CommunicatorOrbits& of = communicators_[c];
      for (std::size_t pattern = 0; pattern < of.patterns(); ++pattern) {
        const auto columns = of.columns(pattern);
        if (std::ranges::find(columns, column) == columns.end()) continue;
        for (const OrbitEdge& edge : of.edges(pattern, kind))
          if (edge.way == way && columns[static_cast<std::size_t>(edge.slot)] == column)
            contributions_[c][of.form(pattern, kind)].push_back(
                {edge.place, classes_.groups[c][of.orbit(pattern, kind)], link_class, 1});
      }
    }
  }

  // visit(c, form, trunk edge, trunk, class of groups, how many)
  template <class Visit>
  void for_each_trunk_edge(Visit&& visit) const {
    for (std::size_t c = 0; c < communicators_.size(); ++c) {
      const CommunicatorOrbits& of = communicators_[c];
      const ScopeGroups& groups = of.communicator().groups;
      for (std::size_t q = 0; q < of.patterns(); ++q) {
        const GroupPattern& pattern = groups.patterns[q];
        const std::span<const ChipId> offsets = groups.offsets_of(pattern);
        for (std::size_t run = 0; run < (of.through_rows() ? 1 : traffic_.run_count()); ++run) {
          const auto kind = static_cast<std::size_t>(traffic_.kind_of_run[run]);
          const std::size_t form = of.form(q, kind);
          const std::vector<TreePlace>& places = of.communicator().places[form];
          const ChipId first = pattern.first + traffic_.runs[run] * rows_.width();
          const std::int32_t group_class = classes_.groups[c][of.orbit(q, kind)];
          const std::int64_t times = of.through_rows() ? 1 : traffic_.rows_of(run);
          for (const CommunicatorOrbits::TrunkEdge& edge : of.trunk_edges(form)) {
            const TreePlace& place = places[static_cast<std::size_t>(edge.place)];
            const std::int32_t trunk =
                trunks_.above(first + offsets[static_cast<std::size_t>(place.member)], place.way);
            visit(c, form, edge, static_cast<std::size_t>(trunk), group_class, times);
          }
        }
      }
    }
  }

  // Links between switches never limit: they are alike when they carry the same of groups of the same
  // classes.
  void number_trunks(System& system) {
    std::vector<Colour> carried(static_cast<std::size_t>(trunks_.count()), 0);
    for_each_trunk_edge([&](std::size_t c, std::size_t, const CommunicatorOrbits::TrunkEdge& edge,
                            std::size_t trunk, std::int32_t group_class, std::int64_t times) {
      carried[trunk] +=
          mix(mix(edge.label, c), static_cast<Colour>(group_class)) * static_cast<Colour>(times);
    });
    Numbering numbering;
    std::unordered_map<Colour, std::int32_t> known;
    // Of the way up and the way down before, which most are like.
    std::array<std::pair<Colour, std::int32_t>, 2> before = {{{0, -1}, {0, -1}}};
    trunk_class_.reserve(carried.size());
    for (std::int32_t trunk = 0; trunk < trunks_.count(); ++trunk) {
      const LinkId id = trunks_.link(trunk);
      const Colour colour = mix(colour_of(tree_.cable(id)), carried[static_cast<std::size_t>(trunk)]);
      auto& [last, number] = before[static_cast<std::size_t>(trunk % 2)];
      if (number < 0 || colour != last)
        number = known.try_emplace(colour, static_cast<std::int32_t>(known.size())).first->second;
      last = colour;
      trunk_class_.push_back(number);
      numbering.add(number, id, 1, trunk);
    }
    std::vector<std::int32_t> number_of;
    std::unordered_map<std::size_t, std::int32_t> class_of_first;  // [trunk]
    for (const Numbering::Class& of : numbering.number(number_of)) {
      class_of_first.emplace(static_cast<std::size_t>(of.where),
                             static_cast<std::int32_t>(system.links.size()));
      const Link link = tree_.link(static_cast<std::size_t>(of.first));
      system.links.push_back({link.kind, link.bandwidth, of.count});
    }
    for (std::int32_t& own : trunk_class_)
      own = system.limiting_links + number_of[static_cast<std::size_t>(own)];
    std::vector<bool> is_first(carried.size(), false);
    for (const auto& [trunk, number] : class_of_first) is_first[trunk] = true;
    for_each_trunk_edge([&](std::size_t c, std::size_t form, const CommunicatorOrbits::TrunkEdge& edge,
                            std::size_t trunk, std::int32_t group_class, std::int64_t times) {
      if (is_first[trunk])
        contributions_[c][form].push_back({edge.place, group_class, class_of_first.at(trunk), times});
    });
  }

  // Uses of one link class become one.
  void add_uses(std::size_t c, System& system) {
    std::map<std::tuple<std::int32_t, std::size_t, std::size_t, std::int32_t>, std::int64_t> sums;
    for (std::size_t form = 0; form < contributions_[c].size(); ++form) {
      std::vector<Contribution>& all = contributions_[c][form];
      std::ranges::sort(all, {}, &Contribution::place);
      std::vector<std::int32_t> first(traffic_.communicators[c].places[form].size() + 1,
                                      0);  // [place] in all
      for (const Contribution& each : all) ++first[static_cast<std::size_t>(each.place) + 1];
      std::partial_sum(first.begin(), first.end(), first.begin());
      for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
        if (!std::cmp_equal(traffic_.patterns[p].communicator, c)) continue;
        std::size_t f = 0;
        for (const PhaseTraffic& phase : traffic_.loads[p].of_form(form)) {
          for (const Use& use : traffic_.loads[p].of_phase(phase))
            for (std::int32_t i = first[static_cast<std::size_t>(use.resource)];
                 i < first[static_cast<std::size_t>(use.resource) + 1]; ++i) {
              const Contribution& to = all[static_cast<std::size_t>(i)];
              sums[{to.group_class, p, f, to.link_class}] += use.usage * to.times;
            }
          ++f;
        }
      }
    }
    for (const auto& [where, usage] : sums) {
      const auto& [group, p, f, link] = where;
      ClassPhase& phase = system.groups[static_cast<std::size_t>(group)].patterns[p][f];
      (link < system.limiting_links ? phase.uses : phase.nonbinding_uses).push_back({link, usage});
    }
  }

  const RegularTree& tree_;
  const RowMesh& rows_;
  const OrbitTraffic& traffic_;
  TreeTrunks trunks_;
  std::size_t kinds_;
  Link nvlink_, nic_;
  std::vector<CommunicatorOrbits> communicators_;
  OrbitClasses classes_;
  std::vector<std::int32_t> chip_class_;
  std::vector<std::int32_t> trunk_class_;                              // [trunk]
  std::vector<std::vector<std::vector<Contribution>>> contributions_;  // [communicator][form]
};

std::vector<std::int32_t> programs(const RowMesh& rows, const Mesh& mesh, int pipeline_axis) {
  std::vector<std::int32_t> program(static_cast<std::size_t>(rows.blocks() * rows.width()), 0);
  if (pipeline_axis < 0) return program;
  std::int32_t stride = 1;
  for (std::size_t a = static_cast<std::size_t>(pipeline_axis) + 1; a < mesh.axes.size(); ++a)
    stride *= mesh.axes[a].size;
  for (std::size_t column = 0; column < program.size(); ++column)
    program[column] = rows.chip(static_cast<std::int32_t>(column)) / stride %
                      mesh.axes[static_cast<std::size_t>(pipeline_axis)].size;
  return program;
}

}  // namespace

std::optional<System> fold_orbits(const Fabric& fabric, const LaidMesh& job, int pipeline_axis,
                                  LoweredStep& step) {
  if (fabric.tree() == nullptr || fabric.damaged) return std::nullopt;
  const std::optional<RowMesh> rows = RowMesh::of(*fabric.tree(), job.mesh);
  if (!rows || rows->long_axis() == pipeline_axis) return std::nullopt;
  const std::optional<OrbitTraffic> traffic =
      timed("plan traffic", [&] { return plan_orbits(fabric, *rows, step.messages, job.network_share); });
  if (!traffic) return std::nullopt;
  const StageTimer timer("fold");
  PODSIM_CHECK(job.placement.in_order(), "orbits are of a mesh that lies in order");
  System system;
  OrbitFolding(fabric, *rows, *traffic).run(programs(*rows, job.mesh, pipeline_axis), system);
  system.meshes = {job.mesh};
  system.step = std::move(step);
  system.pattern_of = traffic->pattern_of;
  system.communicator_of = traffic->communicator_of;
  system.patterns = traffic->patterns;
  return system;
}

}  // namespace podsim
