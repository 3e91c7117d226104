// What plans of groups through all rows put on links, kept for the rows where it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "engine/zero_array.h"
#include "scheduler/traffic/form_plans.h"
#include "scheduler/traffic/row_mesh.h"
#include "scheduler/traffic/tree_places.h"

namespace podsim {

// Links of chips carry the same in most rows. Those between switches are few, and kept as they come.
class RowLoads : public PhaseSink, private EvenPhaseSink {
 public:
  // Both must outlive this.
  RowLoads(const RegularTree& tree, const RowMesh& rows);

  // The group of which the next form is. REQUIRES: its rows are those of the mesh.
  void begin_form(StridedGroup group);
  void add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) override;
  EvenPhaseSink* even() override { return this; }
  void end_form(std::size_t pattern) override { forms_.back().patterns.push_back(pattern); }

  // Appends the rows that differ from the one before.
  void add_changes(std::vector<std::int32_t>& rows) const;

  // Adds to each run of rows what tells it from others of other loads, but for collisions of 64 bits. Runs
  // are their first rows, and end at the changes, at least.
  void add_signatures(std::span<const std::int32_t> runs, std::span<std::uint64_t> signatures) const;

  // Places of all forms' links, and their loads: links of chips only in the rows, which ascend. Leaves
  // nothing here.
  std::vector<std::vector<TreePlace>> place(std::span<const std::int32_t> rows,
                                            std::span<PatternTraffic> loads);

 private:
  void add_even(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> own,
                std::span<const UsageOnTrunks> trunks) override;

  // From this row on, up to the next change.
  struct Change {
    std::int32_t chain, row;
    std::int64_t usage;
  };
  struct KeptPhase {
    std::size_t pattern;
    PhaseTraffic phase;
    std::vector<Change> changes;
    std::vector<Use> trunks;  // resource = place
  };
  struct Form {
    StridedGroup group;                 // of the form
    std::vector<std::int32_t> columns;  // of its chips in the first row
    std::vector<TreePlace> trunks;
    std::vector<KeptPhase> phases;
    std::vector<std::size_t> patterns;
  };
  // One way of the chips of one column: what it carried in the row where it was last loaded.
  struct Chain {
    std::int32_t row = -1;
    std::int64_t usage = 0;
  };

  void load_trunk(const TreeLink& link, TreeWay way, std::int64_t usage, KeptPhase& kept);
  void load_alike(const AlikeTrunks& trunks, std::int64_t usage, KeptPhase& kept);
  std::int32_t member_below(std::size_t tier, NodeId of);
  const MembersBelow& members_below();
  void load(std::int32_t chain, std::int32_t row, std::int64_t usage, std::vector<Change>& changes);
  void place_phase(const KeptPhase& kept, const Form& form, std::span<const std::int32_t> rows,
                   std::vector<TreePlace>& places, std::vector<std::int32_t>& place_of,
                   PatternTraffic& loads) const;

  const RegularTree& tree_;
  const RowMesh& rows_;
  std::vector<Form> forms_;
  std::vector<Chain> chains_;         // [column * kOwnWays + way]
  std::vector<std::int32_t> loaded_;  // chains of the phase
  TreeTrunks trunks_;
  // [trunk] one more than its place in the form, 0 = none
  std::optional<ZeroArray<std::int32_t>> trunk_place_;
  std::map<std::tuple<NodeId, TreeWay, std::int32_t>, std::int32_t> alike_place_;  // likewise of alike ones
  std::optional<MembersBelow> below_;  // of the form's group, once it has to be listed
};

}  // namespace podsim
