// How far what a shard of the output reads lies beyond its own shard of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workload/graph/op_rule.h"

namespace podsim {

// Indices first .. end - 1; empty where end <= first.
struct IndexRange {
  std::int64_t first = 0, end = 0;
  bool empty() const { return end <= first; }
};

// From the first to the last input that these outputs read. Output o reads input i where
// i base_dilation = o stride + w dilation - pad_low for some tap w in 0 .. size - 1; what falls between
// inputs or beyond them is padding and read from nowhere. REQUIRES: stride, dilations, size, input >= 1.
IndexRange inputs_read(const Window& window, IndexRange outputs);

// One permute: every shard receives `width` indices from the shard `distance` to its right (negative: left).
struct HaloHop {
  int distance = 0;
  std::int64_t width = 0;  // the most that any shard needs, > 0
  friend bool operator==(const HaloHop&, const HaloHop&) = default;
};

// Beyond this many neighbours on one side data is gathered instead.
inline constexpr int kFarthestHalo = 64;

// The hops that give each of `shards` equal shards of `outputs` indices (rounded up) what it reads beyond its
// own of `window.input` (rounded up too): left neighbours first, near before far. Shards need not read alike;
// a hop that no shard needs is left out. Nothing when some shard reads further than kFarthestHalo.
// O(shards x hops).
std::optional<std::vector<HaloHop>> halo_hops(const Window& window, std::int64_t outputs, int shards);

// The windows of a convolution seen from its other sides. Taps as outputs: what a shard of taps reads of the
// input when all outputs are wanted. Inputs as outputs: which taps a shard of the input meets.
Window read_by_taps(const Window& window, std::int64_t outputs);
Window read_by_inputs(const Window& window, std::int64_t outputs);

}  // namespace podsim
