// The quotient system of orbits: classes numbered by their first members, and what their groups put on them.
#include "scheduler/folding/fold_orbits.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/random.h"
#include "engine/stage_timer.h"
#include "scheduler/folding/first_members.h"
#include "scheduler/folding/orbit_graph.h"
#include "scheduler/folding/trunk_classes.h"
#include "topology/switch_runs.h"

namespace podsim {
namespace {

// What groups of one class, `times` of them, put on the first link of a class at one of their places.
struct Contribution {
  std::int32_t place, group_class, link_class;
  std::int64_t times;
};

class OrbitFolding {
 public:
  OrbitFolding(const Fabric& fabric, const RowMesh& rows, const OrbitTraffic& traffic)
      : tree_(*fabric.tree()), rows_(rows), traffic_(traffic), kinds_(traffic.kinds.size()) {
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
    system.lists = lists(system.limiting_links);
  }

 private:
  // What is left to know of each chip and link.
  ClassLists lists(std::int32_t limiting) {
    auto chips = [rows = rows_, runs = traffic_.runs, kinds = traffic_.kind_of_run, cells = classes_.chips] {
      std::vector<std::int32_t> list(static_cast<std::size_t>(rows.blocks() * rows.width() * rows.rows()));
      for_each_cell_chip(rows, runs, kinds, [&](std::size_t cell, ChipId chip) {
        list[static_cast<std::size_t>(chip)] = cells[cell];
      });
      return list;
    };
    auto links = [rows = rows_, runs = traffic_.runs, kinds = traffic_.kind_of_run, tree = tree_,
                  own = classes_.links, trunk_runs = std::move(trunk_runs_), limiting] {
      std::vector<std::int32_t> list(static_cast<std::size_t>(tree.links()));
      for_each_cell_chip(rows, runs, kinds, [&](std::size_t cell, ChipId chip) {
        for (TreeWay way = tree.domain() > 1 ? kNvlinkUp : kNicUp; way < kOwnWays; ++way)
          list[static_cast<std::size_t>(link_above(tree, chip, way))] =
              own[cell * kOwnWays + static_cast<std::size_t>(way)];
      });
      const TreeTrunks trunks(tree);
      for (const TrunkClasses::Alike& run : trunk_runs)
        for (std::int32_t i = 0; i < run.count; ++i)
          list[static_cast<std::size_t>(trunks.link(run.trunk + i * run.step))] = limiting + run.number;
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
    FirstMembers chips;
    for (std::size_t column = 0; column < columns(); ++column)
      for (std::size_t kind = 0; kind < kinds_; ++kind) {
        const auto at = static_cast<std::int32_t>(column);
        chips.add(classes_.chips[cell(at, kind)], first_chip(at, kind), traffic_.kinds[kind].rows, at);
      }
    std::int64_t all = 0;
    for (const FirstMembers::Class& of : chips.number(chip_class_)) {
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
    FirstMembers numbering;
    for (std::size_t pattern = 0; pattern < of.patterns(); ++pattern)
      for (std::size_t kind = 0; kind < (of.through_rows() ? 1 : kinds_); ++kind)
        numbering.add(classes_.groups[c][of.orbit(pattern, kind)],
                      groups.patterns[pattern].number + traffic_.kinds[kind].first * groups.number_per_row,
                      of.through_rows() ? 1 : traffic_.kinds[kind].rows,
                      static_cast<std::int32_t>(of.orbit(pattern, kind)));
    const auto before = static_cast<std::int32_t>(system.groups.size());
    std::vector<std::int32_t> number_of;
    for (const FirstMembers::Class& each : numbering.number(number_of)) {
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
    FirstMembers numbering;
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
    for (const FirstMembers::Class& of : numbering.number(number_of)) {
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

  // What groups of a class, `times` of them, put on each of some links between switches.
  struct TrunkLoad {
    std::size_t c, form;
    CommunicatorOrbits::TrunkEdge edge;
    std::int32_t group_class;
    TrunkRun on;
    std::int64_t times;
  };

  template <class Visit>
  void for_each_trunk_load(Visit&& visit) const {
    for (std::size_t c = 0; c < communicators_.size(); ++c)
      for (std::size_t pattern = 0; pattern < communicators_[c].patterns(); ++pattern) {
        if (communicators_[c].through_rows()) {
          visit_loads_through(c, pattern, visit);
          continue;
        }
        for (std::size_t run = 0; run < traffic_.run_count(); ++run)
          visit_loads_within(c, pattern, run, visit);
      }
  }

  template <class Visit>
  void visit_loads_through(std::size_t c, std::size_t pattern, Visit&& visit) const {
    const CommunicatorOrbits& of = communicators_[c];
    const ScopeGroups& groups = of.communicator().groups;
    const std::size_t form = of.form(pattern, 0);
    const std::int32_t group_class = classes_.groups[c][of.orbit(pattern, 0)];
    for (const CommunicatorOrbits::TrunkEdge& edge : of.trunk_edges(form)) {
      const TreePlace& place = of.communicator().places[form][static_cast<std::size_t>(edge.place)];
      const ChipId chip =
          groups.patterns[pattern].first + groups.through[static_cast<std::size_t>(place.member)];
      const NodeId first = tree_.above(tier_of_way(place.way), chip);
      visit(TrunkLoad{c, form, edge, group_class, {place.way, first, place.switches}, 1});
    }
  }

  // One group in each row.
  template <class Visit>
  void visit_loads_within(std::size_t c, std::size_t q, std::size_t run, Visit&& visit) const {
    const CommunicatorOrbits& of = communicators_[c];
    const GroupPattern& pattern = of.communicator().groups.patterns[q];
    const auto kind = static_cast<std::size_t>(traffic_.kind_of_run[run]);
    const std::size_t form = of.form(q, kind);
    const std::int32_t group_class = classes_.groups[c][of.orbit(q, kind)];
    for (const CommunicatorOrbits::TrunkEdge& edge : of.trunk_edges(form)) {
      const TreePlace& place = of.communicator().places[form][static_cast<std::size_t>(edge.place)];
      const ChipId chip = pattern.first + pattern.offsets[static_cast<std::size_t>(place.member)] +
                          traffic_.runs[run] * rows_.width();
      for (const SwitchRun& above :
           switches_above(tree_, tier_of_way(place.way), chip, traffic_.rows_of(run), rows_.width()))
        visit(TrunkLoad{c, form, edge, group_class, {place.way, above.first, above.switches}, above.chips});
    }
  }

  // A factor for each class of groups, so that it does not matter in which parts a link's loads come.
  void number_trunks(System& system) {
    TrunkClasses trunks(tree_);
    for_each_trunk_load([&](const TrunkLoad& load) {
      const Colour factor = mix(load.c + 1, static_cast<Colour>(load.group_class)) | 1;
      trunks.add(load.on, load.edge.label * factor * static_cast<Colour>(load.times));
    });
    for (const TrunkClasses::Class& of : trunks.number()) {
      const Link link = tree_.link(static_cast<std::size_t>(of.first));
      system.links.push_back({link.kind, link.bandwidth, of.links});
    }
    for_each_trunk_load([&](const TrunkLoad& load) {
      trunks.for_each_first(load.on, [&](std::int32_t number) {
        contributions_[load.c][load.form].push_back(
            {load.edge.place, load.group_class, system.limiting_links + number, load.times});
      });
    });
    trunk_runs_ = trunks.take_runs();
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
  std::size_t kinds_;
  Link nvlink_, nic_;
  std::vector<CommunicatorOrbits> communicators_;
  OrbitClasses classes_;
  std::vector<std::int32_t> chip_class_;
  std::vector<TrunkClasses::Alike> trunk_runs_;
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
