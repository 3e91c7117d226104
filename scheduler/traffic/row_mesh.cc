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

// Whether the leaves of all rails of a scalable unit are below the same switches, so that rails are alike.
bool rails_stay_together(const RegularTree& tree) {
  return !tree.tier(0).leads_up || tree.tier(1).below % tree.tier(0).in_set == 0;
}

void number_families(const RegularTree& tree, ScopeGroups& groups) {
  std::vector<ChipId> within;  // what offsets have beyond whole domains
  if (groups.through_rows) {
    for (const ChipId offset : groups.offsets) within.push_back(offset % tree.domain());
    std::ranges::sort(within);
    within.erase(std::unique(within.begin(), within.end()), within.end());
  }
  for (std::size_t p = 0; p < groups.patterns.size(); ++p) {
    GroupPattern& pattern = groups.patterns[p];
    if (!rails_stay_together(tree)) {
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

ScopeGroups RowMesh::groups(const RegularTree& tree, const Scope& scope) const {
  ScopeGroups result;
  result.through_rows = scope.axes >> axis_ & 1;
  const bool pairs = scope.neighbour != 0 || scope.mirrored;
  PODSIM_CHECK(!(pairs && result.through_rows), "transfers stay within a row");
  std::vector<ChipId> along = {0}, across = {0};
  std::int32_t stride = mesh_->devices();
  for (std::size_t a = 0; a < mesh_->axes.size(); ++a) {
    const std::int32_t size = mesh_->axes[a].size;
    stride /= size;
    if (scope.axes >> a & 1)
      along = finer(along, size, stride);
    else
      across = finer(across, std::cmp_equal(a, axis_) ? per_row_ : size, stride);
  }
  const auto members = static_cast<std::int64_t>(along.size());
  result.number_per_row = width_ * (pairs ? members : 1);
  if (result.through_rows) result.offsets = along;
  for (const ChipId first : across) {
    if (!pairs) {
      result.patterns.push_back({first, result.through_rows ? std::vector<ChipId>() : along, first});
      continue;
    }
    const std::int64_t count = scope.mirrored ? members / 2 : members;
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t to = scope.mirrored ? members - 1 - s : (s + scope.neighbour + members) % members;
      const ChipId from = along[static_cast<std::size_t>(s)];
      result.patterns.push_back(
          {first + from, {0, along[static_cast<std::size_t>(to)] - from}, first * members + s});
    }
  }
  number_families(tree, result);
  return result;
}

}  // namespace podsim
