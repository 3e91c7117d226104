// Tilings of GSPMD, dimension by dimension.
#include "ingest/partitioning/device_mesh.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"

namespace podsim::partitioning {
namespace {

// devices=[tiles]<=[lengths]T(order): 0, 1, 2, ... in an array, its axes reordered, one tile each.
struct Tiling {
  std::vector<std::int64_t> tiles, lengths, order;
  std::size_t replicated = 0;  // of the tiles: the last ones cut no dimension
};

// What stands between the bracket that opens at `begin` and the next that closes.
std::string_view in_brackets(std::string_view text, std::size_t begin, char close) {
  const std::size_t end = begin == std::string_view::npos ? begin : text.find(close, begin);
  return end == std::string_view::npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

std::int64_t product_of(const std::vector<std::int64_t>& sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all = hlo::saturating_multiply(all, size);
  return all;
}

std::vector<std::int64_t> numbers(std::string_view text) {
  return hlo::list_of("{" + std::string(text) + "}");
}

// Devices one by one, 0,1,2,3, are an array that nothing reorders.
bool counts_up(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789,");
  const std::vector<std::int64_t> devices = numbers(text.substr(0, std::min(end, text.size())));
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i] != static_cast<std::int64_t>(i)) return false;
  return !devices.empty();
}

std::optional<Tiling> tiling_of(std::string_view sharding) {
  const std::size_t begin = sharding.find("devices=[");
  if (begin == std::string_view::npos) return std::nullopt;
  Tiling tiling;
  tiling.tiles = numbers(in_brackets(sharding, begin + std::string_view("devices=").size(), ']'));
  const std::string_view rest = sharding.substr(sharding.find(']', begin) + 1);
  if (rest.starts_with("<=[")) {
    tiling.lengths = numbers(in_brackets(rest, 2, ']'));
    const std::string_view order = rest.substr(std::min(rest.find(']') + 1, rest.size()));
    if (order.starts_with("T(")) tiling.order = numbers(in_brackets(order, 1, ')'));
  } else if (counts_up(rest)) {
    tiling.lengths = {product_of(tiling.tiles)};
  }
  if (tiling.order.empty()) {
    tiling.order.resize(tiling.lengths.size());
    std::iota(tiling.order.begin(), tiling.order.end(), std::int64_t{0});
  }
  if (rest.find("last_tile_dim_replicate") != std::string_view::npos) tiling.replicated = 1;
  const std::size_t kinds = rest.find("last_tile_dims={");
  if (kinds != std::string_view::npos) {
    const std::string_view names = in_brackets(rest, rest.find('{', kinds), '}');
    if (names.find("manual") != std::string_view::npos) return std::nullopt;
    tiling.replicated = static_cast<std::size_t>(std::ranges::count(names, ',')) + 1;
  }
  std::vector<std::int64_t> sorted = tiling.order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
  const auto no_size = [](std::int64_t size) { return size < 1; };
  if (tiling.lengths.empty() || sorted.size() != tiling.lengths.size() ||
      std::ranges::any_of(tiling.tiles, no_size) || std::ranges::any_of(tiling.lengths, no_size) ||
      product_of(tiling.tiles) > std::numeric_limits<int>::max() ||
      product_of(tiling.tiles) != product_of(tiling.lengths) || tiling.tiles.size() < tiling.replicated)
    return std::nullopt;
  return tiling;
}

// Takes `size` shards off the major end of `axes`, cutting an axis where that is needed.
std::optional<AxisList> take(AxisList& axes, std::int64_t size) {
  AxisList taken;
  while (size > 1) {
    if (axes.empty()) return std::nullopt;
    AxisRef& first = axes.front();
    if (size % first.size == 0) {
      taken.push_back(first);
      size /= first.size;
      axes.erase(axes.begin());
    } else if (first.size % size == 0) {
      const int part = static_cast<int>(size);
      taken.push_back({first.axis, first.pre, part});
      first = {first.axis, first.pre * part, first.size / part};
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return taken;
}

AxisList all_axes(const Mesh& mesh) {
  AxisList axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a)
    if (mesh.axes[a].size > 1) axes.push_back(whole_axis(mesh, static_cast<int>(a)));
  return axes;
}

template <class Visit>
void visit_shardings(const hlo::Module& module, const Visit& visit) {
  for (const hlo::Computation& computation : module.computations)
    for (const hlo::Instruction& each : computation.instructions)
      for (const std::string_view leaf : sharding_leaves(each.attribute("sharding"))) visit(leaf);
}

}  // namespace

std::vector<std::string_view> sharding_leaves(std::string_view sharding) {
  if (!sharding.starts_with("{{")) return {sharding};
  std::vector<std::string_view> leaves;
  int depth = 0;
  std::size_t begin = 1;
  for (std::size_t i = 0; i < sharding.size(); ++i) {
    if (sharding[i] == '{' && ++depth == 2) begin = i;
    if (sharding[i] == '}' && --depth == 1) leaves.push_back(sharding.substr(begin, i + 1 - begin));
  }
  return leaves;
}

std::optional<Mesh> mesh_of_tilings(const hlo::Module& module) {
  std::int64_t devices = module.partitions;
  std::set<std::int64_t> bounds;  // products of the sizes of axes, from the major one on
  visit_shardings(module, [&](std::string_view leaf) {
    const auto tiling = tiling_of(leaf);
    if (!tiling) return;
    devices = std::max(devices, product_of(tiling->lengths));
    const auto add = [&](const std::vector<std::int64_t>& sizes) {
      std::int64_t before = 1;
      for (const std::int64_t size : sizes) bounds.insert(before *= size);
    };
    add(tiling->lengths);
    if (std::ranges::is_sorted(tiling->order)) add(tiling->tiles);
  });
  bounds.insert(devices);
  Mesh mesh;
  std::int64_t before = 1;
  for (const std::int64_t bound : bounds) {
    if (bound == 1) continue;
    if (bound % before != 0 || bound > std::numeric_limits<int>::max()) return std::nullopt;
    mesh.axes.push_back({"axis" + std::to_string(mesh.axes.size()), static_cast<int>(bound / before)});
    before = bound;
  }
  if (mesh.axes.empty()) return std::nullopt;
  return mesh;
}

std::optional<Annotation> annotation_of(const Mesh& mesh, std::size_t rank, std::string_view sharding) {
  if (sharding.starts_with("{replicated")) return closed(replicated(rank));
  const auto tiling = tiling_of(sharding);
  if (!tiling || tiling->tiles.size() != rank + tiling->replicated) return std::nullopt;
  AxisList axes = all_axes(mesh);
  if (product_of(tiling->lengths) != shard_count(axes)) return std::nullopt;
  std::vector<AxisList> of_length;
  for (const std::int64_t length : tiling->lengths) {
    auto taken = take(axes, length);
    if (!taken) return std::nullopt;
    of_length.push_back(*std::move(taken));
  }
  AxisList ordered;
  for (const std::int64_t i : tiling->order) {
    const AxisList& more = of_length[static_cast<std::size_t>(i)];
    ordered.insert(ordered.end(), more.begin(), more.end());
  }
  Layout layout = replicated(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    auto taken = take(ordered, tiling->tiles[d]);
    if (!taken) return std::nullopt;
    layout.dims[d] = merged(*std::move(taken));
  }
  return closed(layout);
}

bool is_annotated(const hlo::Module& module) {
  bool annotated = false, partitioned = false;
  for (const hlo::Computation& computation : module.computations)
    for (const hlo::Instruction& each : computation.instructions) {
      partitioned = partitioned || !hlo::collective_kind(each.opcode).empty();
      annotated = annotated || each.has("shardy") ||
                  (each.opcode == "custom-call" && hlo::call_target(each) == "Sharding");
    }
  visit_shardings(module, [&](std::string_view leaf) { annotated = annotated || tiling_of(leaf); });
  const bool spmd = module.entry_computation().name.ends_with("_spmd");
  return annotated && !partitioned && !spmd;
}

}  // namespace podsim::partitioning
