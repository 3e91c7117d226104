// A mesh that fills a cluster in order, cut into rows of chips that lie alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/strided_group.h"
#include "scheduler/lowering/instructions.h"
#include "topology/regular_tree.h"
#include "workload/mesh/mesh.h"

namespace podsim {

// Groups of a scope that are the same but for their row, or one group that goes through all rows. The number
// orders it among all groups of the scope; a row further it is greater by `number_per_row`.
struct GroupPattern {
  ChipId first = 0;             // of the group of the first row
  std::vector<ChipId> offsets;  // [member] from `first`; of groups through all rows none
  std::int64_t number = 0;
  std::int32_t family = 0;  // patterns of one family differ by a step within each member's domain
};

struct ScopeGroups {
  bool through_rows = false;
  StridedGroup through;  // of groups through all rows, what each adds to the first of its pattern
  std::vector<GroupPattern> patterns;
  std::vector<std::int32_t> first_of_family;  // [family] pattern
  std::int64_t number_per_row = 0;
};

// The longest axis leads from row to row. Chip = (block * rows + row) * width + place: the axes outside the
// longest say which block, those inside it and as many of its own devices as fill NVLink domains which place.
class RowMesh {
 public:
  // Nothing where rows would cut NVLink domains or cross the borders of leaves.
  static std::optional<RowMesh> of(const RegularTree& tree, const Mesh& mesh);

  std::int32_t blocks() const { return blocks_; }
  std::int32_t rows() const { return rows_; }
  std::int32_t width() const { return width_; }
  std::int32_t long_axis() const { return axis_; }
  // Of the first row, by block and place: column = block * width + place.
  ChipId chip(std::int32_t column) const { return column / width_ * rows_ * width_ + column % width_; }
  std::int32_t column_of(ChipId chip) const { return chip / (rows_ * width_) * width_ + chip % width_; }
  std::int32_t row_of(ChipId chip) const { return chip / width_ % rows_; }
  // Rows before each of which the forms of groups within rows may change, ascending; 0 among them. O(blocks,
  // tiers) where rails stay together, else O(leaves).
  std::vector<std::int32_t> form_borders(const RegularTree& tree) const;

  // The groups of a scope. REQUIRES: transfers between neighbours and mirrored ones are not along the longest
  // axis.
  ScopeGroups groups(const RegularTree& tree, const Scope& scope) const;

 private:
  std::vector<std::int32_t> leaf_borders(const RegularTree& tree) const;

  const Mesh* mesh_ = nullptr;
  std::int32_t axis_ = 0, blocks_ = 1, rows_ = 1, width_ = 1, per_row_ = 1;  // devices of the axis in a row
};

}  // namespace podsim
