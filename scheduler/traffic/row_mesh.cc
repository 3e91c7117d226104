// Cuts a mesh into rows, and lists the groups that begin in the first.
#include "scheduler/traffic/row_mesh.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

std::vector<ChipId> finer(const std::vector<ChipId>& distances, std::int32_t size, std::int32_t stride) {
  std::vector<ChipId> result;
  result.reserve(distances.size() * static_cast<std::size_t>(size));
  for (const ChipId distance : distances)
    for (std::int32_t i = 0; i < size; ++i) result.push_back(distance + i * stride);
  return result;
}

bool in_same_domains(const RegularTree& tree, const GroupPattern& a, const GroupPattern& b) {
  if (a.offsets != b.offsets) return false;
  return std::ranges::all_of(a.offsets, [&](ChipId offset) {
    return (a.first + offset) / tree.domain() == (b.first + offset) / tree.domain();
  });
}

void number_families(const RegularTree& tree, ScopeGroups& groups) {
  std::vector<ChipId> within;  // what offsets have beyond whole domains
  if (groups.through_rows) {
    for (const ChipId offset : groups.through.offsets()) within.push_back(offset % tree.domain());
    std::ranges::sort(within);
    within.erase(std::unique(within.begin(), within.end()), within.end());
  }
  for (std::size_t p = 0; p < groups.patterns.size(); ++p) {
    GroupPattern& pattern = groups.patterns[p];
    if (!tree.rails_stay_together()) {
      pattern.family = static_cast<std::int32_t>(p);
      groups.first_of_family.push_back(pattern.family);
      continue;
    }
    const auto known = std::ranges::find_if(groups.first_of_family, [&](std::int32_t first) {
      const GroupPattern& other = groups.patterns[static_cast<std::size_t>(first)];
      if (!groups.through_rows) return in_same_domains(tree, pattern, other);
      return std::ranges::all_of(within, [&](ChipId offset) {
        return (pattern.first + offset) / tree.domain() == (other.first + offset) / tree.domain();
      });
    });
    pattern.family = static_cast<std::int32_t>(known - groups.first_of_family.begin());
    if (known == groups.first_of_family.end()) groups.first_of_family.push_back(static_cast<std::int32_t>(p));
  }
}

}  // namespace

std::optional<RowMesh> RowMesh::of(const RegularTree& tree, const Mesh& mesh) {
  if (mesh.axes.empty() || mesh.devices() != tree.chips()) return std::nullopt;
  RowMesh rows;
  rows.mesh_ = &mesh;
  const auto longest = std::ranges::max_element(mesh.axes, {}, &MeshAxis::size);
  rows.axis_ = static_cast<std::int32_t>(longest - mesh.axes.begin());
  std::int32_t inner = 1;
  for (auto axis = mesh.axes.begin(); axis != longest; ++axis) rows.blocks_ *= axis->size;
  for (auto axis = longest + 1; axis != mesh.axes.end(); ++axis) inner *= axis->size;
  const std::int64_t width = std::lcm(std::int64_t{inner}, std::int64_t{tree.domain()});
  if (width > tree.chips_below_leaves() || tree.chips_below_leaves() % width != 0) return std::nullopt;
  rows.width_ = static_cast<std::int32_t>(width);
  rows.per_row_ = rows.width_ / inner;
  if (longest->size % rows.per_row_ != 0) return std::nullopt;
  rows.rows_ = longest->size / rows.per_row_;
  return rows;
}

// At which a chip of some block is the first below its leaves.
std::vector<std::int32_t> RowMesh::leaf_borders(const RegularTree& tree) const {
  const std::int32_t leaf_rows = tree.chips_below_leaves() / width_;
  std::vector<std::int32_t> first;  // in each block
  for (std::int32_t block = 0; block < blocks_; ++block)
    first.push_back((leaf_rows - block * std::int64_t{rows_} % leaf_rows) % leaf_rows);
  std::ranges::sort(first);
  first.erase(std::unique(first.begin(), first.end()), first.end());
  std::vector<std::int32_t> borders;
  if (first.front() != 0) borders.push_back(0);
  for (std::int32_t leaf = 0; leaf < rows_; leaf += leaf_rows)
    for (const std::int32_t row : first)
      if (leaf + row < rows_) borders.push_back(leaf + row);
  return borders;
}

// Chips of a row and block are below one set of leaves in every row, and those of two blocks below two
// switches where a switch has no more rows than a block. So forms change where chips come below a larger
// switch, and below the last of a tier, which may be less than full.
std::vector<std::int32_t> RowMesh::form_borders(const RegularTree& tree) const {
  if (!tree.rails_stay_together()) return leaf_borders(tree);
  std::vector<std::int32_t> borders = {0};
  for (std::size_t t = 0; t < tree.tiers(); ++t) {
    const RegularTree::Tier& tier = tree.tier(t);
    const std::int64_t below = tree.chips_below(t) / width_, last = (tier.switches / tier.in_set - 1) * below;
    for (std::int32_t block = 0; block < blocks_; ++block) {
      const std::int64_t first = std::int64_t{block} * rows_;
      for (const std::int64_t row : {below > rows_ ? (below - first % below) % below : 0, last - first})
        if (row > 0 && row < rows_) borders.push_back(static_cast<std::int32_t>(row));
    }
  }
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

ScopeGroups RowMesh::groups(const RegularTree& tree, const Scope& scope) const {
  ScopeGroups result;
  result.through_rows = scope.axes >> axis_ & 1;
  const bool pairs = scope.of_pairs();
  PODSIM_CHECK(!(pairs && result.through_rows), "transfers stay within a row");
  std::vector<ChipId> along = {0}, across = {0}, starts;  // along: in a row, from the long axis on
  std::int32_t stride = mesh_->devices();
  for (std::size_t a = 0; a < mesh_->axes.size(); ++a) {
    const bool is_long = std::cmp_equal(a, axis_), is_along = scope.axes >> a & 1;
    const std::int32_t size = is_long ? per_row_ : mesh_->axes[a].size;
    stride /= mesh_->axes[a].size;
    if (is_long && is_along) starts = std::exchange(along, {0});
    std::vector<ChipId>& distances = is_along ? along : across;
    distances = finer(distances, size, stride);
  }
  const auto members = static_cast<std::int64_t>(along.size());
  result.number_per_row = width_ * (pairs ? members : 1);
  if (result.through_rows) result.through = StridedGroup(starts, rows_, width_, along);
  for (const ChipId first : across) {
    if (!pairs) {
      result.patterns.push_back({first, result.through_rows ? std::vector<ChipId>() : along, first});
      continue;
    }
    for (std::int64_t s = 0; s < scope.pairs_of(members); ++s) {
      const std::int64_t to = scope.partner_of(s, members);
      const ChipId from = along[static_cast<std::size_t>(s)];
      result.patterns.push_back(
          {first + from, {0, along[static_cast<std::size_t>(to)] - from}, first * members + s});
    }
  }
  number_families(tree, result);
  return result;
}

}  // namespace podsim
