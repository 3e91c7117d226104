// Follows each way of each column from row to row.
#include "scheduler/traffic/row_loads.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim {

RowLoads::RowLoads(const RegularTree& tree, const RowMesh& rows)
    : tree_(tree),
      rows_(rows),
      chains_(static_cast<std::size_t>(rows.blocks() * rows.width() * kOwnWays)),
      trunks_(tree) {}

void RowLoads::begin_form(StridedGroup group) {
  PODSIM_CHECK(group.rows() == rows_.rows() && group.stride() == rows_.width(),
               "a group goes through all rows");
  trunk_place_.reset();
  alike_place_.clear();
  below_.reset();
  Form& form = forms_.emplace_back();
  for (const ChipId start : group.starts())
    for (const ChipId offset : group.offsets()) form.columns.push_back(rows_.column_of(start + offset));
  form.group = std::move(group);
}

// Links come in the order of rows within each chain.
void RowLoads::load(std::int32_t number, std::int32_t row, std::int64_t usage, std::vector<Change>& changes) {
  Chain& chain = chains_[static_cast<std::size_t>(number)];
  PODSIM_CHECK(row > chain.row, "links of a way are in the order of rows");
  if (chain.row < 0) loaded_.push_back(number);
  if (row > chain.row + 1 && chain.usage > 0) changes.push_back({number, chain.row + 1, 0}), chain.usage = 0;
  if (usage != chain.usage) changes.push_back({number, row, usage});
  chain = {row, usage};
}

const MembersBelow& RowLoads::members_below() {
  if (!below_) below_.emplace(tree_, forms_.back().group.list());
  return *below_;
}

void RowLoads::load_trunk(const TreeLink& link, TreeWay way, std::int64_t usage, KeptPhase& kept) {
  Form& form = forms_.back();
  if (!trunk_place_) trunk_place_.emplace(static_cast<std::size_t>(trunks_.count()));
  std::int32_t& place = (*trunk_place_)[static_cast<std::size_t>(trunks_.of(link))];
  if (place == 0) {
    form.trunks.push_back({members_below().member(link.below), way});
    place = static_cast<std::int32_t>(form.trunks.size());
  }
  kept.trunks.push_back({place - 1, usage});
}

std::int32_t RowLoads::member_below(std::size_t t, NodeId of) {
  if (!tree_.rails_stay_together()) return members_below().member(of);
  const StridedGroup& group = forms_.back().group;
  const std::int64_t sets = (of - tree_.tier(t).first) / tree_.tier(t).in_set;
  std::size_t member = group.lower_bound(static_cast<ChipId>(sets * tree_.chips_below(t)));
  while (tree_.above(t, group[member]) != of) ++member;  // to the rail
  return static_cast<std::int32_t>(member);
}

void RowLoads::load_alike(const AlikeTrunks& trunks, std::int64_t usage, KeptPhase& kept) {
  std::vector<TreePlace>& places = forms_.back().trunks;
  const TreeWay way = way_of_tier(trunks.tier, trunks.down);
  const auto [place, is_new] = alike_place_.try_emplace({trunks.first, way, trunks.switches},
                                                        static_cast<std::int32_t>(places.size()));
  if (is_new) places.push_back({member_below(trunks.tier, trunks.first), way, trunks.switches});
  kept.trunks.push_back({place->second, usage});
}

// What its chips carry in the first row they carry in all.
void RowLoads::add_even(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> own,
                        std::span<const UsageOnTrunks> trunks) {
  Form& form = forms_.back();
  KeptPhase& kept = form.phases.emplace_back(KeptPhase{pattern, phase, {}, {}});
  for (const UsageOnLink& use : own) {
    const TreeWay up = way_above(tree_, tree_.place(use.link)), down = up + kNvlinkDown - kNvlinkUp;
    for (const std::int32_t column : form.columns)
      for (const TreeWay way : {up, down}) kept.changes.push_back({column * kOwnWays + way, 0, use.usage});
  }
  for (const auto& [alike, usage] : trunks) {
    // Where rails part, groups of one form are below switches at other distances from each other.
    const std::int32_t together = tree_.rails_stay_together() ? alike.switches : 1;
    for (std::int32_t i = 0; i < alike.switches; i += together)
      load_alike(
          {alike.tier, alike.down, alike.first + i * tree_.tier(alike.tier).in_set, together, alike.hops},
          usage, kept);
  }
  kept.trunks.shrink_to_fit();
}

void RowLoads::add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) {
  Form& form = forms_.back();
  KeptPhase& kept = form.phases.emplace_back(KeptPhase{pattern, phase, {}, {}});
  for (const UsageOnLink& use : uses) {
    const TreeLink link = tree_.place(use.link);
    const TreeWay way = way_above(tree_, link);
    if (way < kOwnWays) {
      load(rows_.column_of(link.below) * kOwnWays + way, rows_.row_of(link.below), use.usage, kept.changes);
      continue;
    }
    load_trunk(link, way, use.usage, kept);
  }
  for (const std::int32_t number : loaded_) {
    Chain& chain = chains_[static_cast<std::size_t>(number)];
    if (chain.row + 1 < rows_.rows()) kept.changes.push_back({number, chain.row + 1, 0});
    chain = {};
  }
  loaded_.clear();
  kept.changes.shrink_to_fit();
  kept.trunks.shrink_to_fit();
}

void RowLoads::add_changes(std::vector<std::int32_t>& rows) const {
  for (const Form& form : forms_)
    for (const KeptPhase& kept : form.phases)
      for (const Change& change : kept.changes)
        if (change.row > 0) rows.push_back(change.row);
}

// A change counts for all rows that follow: first what each run adds to the one before, then sums.
void RowLoads::add_signatures(std::span<const std::int32_t> runs, std::span<std::uint64_t> signatures) const {
  std::vector<std::uint64_t> added(runs.size(), 0), told(chains_.size(), 0);
  std::uint64_t number = 0;  // of the phase
  for (const Form& form : forms_)
    for (const KeptPhase& kept : form.phases) {
      ++number;
      for (const Change& change : kept.changes) {
        std::uint64_t& before = told[static_cast<std::size_t>(change.chain)];
        const std::uint64_t now = change.usage == 0
                                      ? 0
                                      : mix(mix(number, static_cast<std::uint64_t>(change.chain)),
                                            static_cast<std::uint64_t>(change.usage));
        const auto run = std::ranges::lower_bound(runs, change.row) - runs.begin();
        added[static_cast<std::size_t>(run)] += now - before;
        before = now;
      }
      for (const Change& change : kept.changes) told[static_cast<std::size_t>(change.chain)] = 0;
    }
  std::uint64_t sum = 0;
  for (std::size_t run = 0; run < runs.size(); ++run)
    signatures[run] = mix(signatures[run], sum += added[run]);
}

void RowLoads::place_phase(const KeptPhase& kept, const Form& form, std::span<const std::int32_t> rows,
                           std::vector<TreePlace>& places, std::vector<std::int32_t>& place_of,
                           PatternTraffic& loads) const {
  PhaseTraffic& placed = loads.phases.emplace_back(kept.phase);
  placed.first_use = loads.uses.size();
  loads.uses.insert(loads.uses.end(), kept.trunks.begin(), kept.trunks.end());
  std::vector<Change> changes = kept.changes;
  std::ranges::sort(changes, {}, [](const Change& change) { return std::tuple(change.chain, change.row); });
  for (std::size_t first = 0, end; first < changes.size(); first = end) {
    const std::int32_t chain = changes[first].chain;
    for (end = first; end < changes.size() && changes[end].chain == chain;) ++end;
    std::size_t next = first;
    std::int64_t usage = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      while (next < end && changes[next].row <= rows[i]) usage = changes[next++].usage;
      if (usage == 0) continue;
      std::int32_t& place = place_of[static_cast<std::size_t>(chain) * rows.size() + i];
      if (place == 0) {
        const ChipId chip = rows_.chip(chain / kOwnWays) + rows[i] * rows_.width();
        const auto member = static_cast<std::int32_t>(form.group.lower_bound(chip));
        places.push_back({member, chain % kOwnWays});
        place = static_cast<std::int32_t>(places.size());
      }
      loads.uses.push_back({place - 1, usage});
    }
  }
  placed.end_use = loads.uses.size();
}

std::vector<std::vector<TreePlace>> RowLoads::place(std::span<const std::int32_t> rows,
                                                    std::span<PatternTraffic> loads) {
  std::vector<std::vector<TreePlace>> all;
  std::vector<std::int32_t> place_of(chains_.size() * rows.size(), 0);
  for (Form& form : std::exchange(forms_, {})) {
    std::vector<TreePlace>& places = all.emplace_back(std::move(form.trunks));
    const std::size_t trunks = places.size();
    for (const KeptPhase& kept : form.phases)
      place_phase(kept, form, rows, places, place_of, loads[kept.pattern]);
    for (const std::size_t pattern : form.patterns)
      loads[pattern].first_phase.push_back(loads[pattern].phases.size());
    for (std::size_t i = trunks; i < places.size(); ++i) {
      const ChipId chip = form.group[static_cast<std::size_t>(places[i].member)];
      const auto at = std::ranges::lower_bound(rows, rows_.row_of(chip)) - rows.begin();
      const auto chain = static_cast<std::size_t>(rows_.column_of(chip) * kOwnWays + places[i].way);
      place_of[chain * rows.size() + static_cast<std::size_t>(at)] = 0;
    }
  }
  return all;
}

}  // namespace podsim
