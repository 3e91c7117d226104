// Halo widths by exact arithmetic of windows: strides, dilations, padding and uneven shards included.
#include "workload/op_planning/halo.h"

#include <algorithm>
#include <map>

namespace podsim {
namespace {

// REQUIRES: b > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

// Positions count in the dilated input: input i is at i base_dilation.
std::int64_t last_position(const Window& w) { return (w.input - 1) * w.base_dilation; }

// Among this many outputs in a row from the first that reaches the input, one reads it if any ever does: by
// then all taps lie inside, or as many as there are residues of base_dilation, and the residues repeat.
std::int64_t residue_span(const Window& w) {
  return std::min(w.size, w.base_dilation) * w.dilation / w.stride + 1 + w.base_dilation;
}

// The least input that output `o` reads.
std::optional<std::int64_t> first_of(const Window& w, std::int64_t o) {
  const std::int64_t base = o * w.stride - w.pad_low;
  const std::int64_t from = std::max<std::int64_t>(0, ceil_div(-base, w.dilation));
  for (std::int64_t tap = from; tap < std::min(w.size, from + w.base_dilation); ++tap) {
    const std::int64_t position = base + tap * w.dilation;
    if (position > last_position(w)) break;
    if (position % w.base_dilation == 0) return position / w.base_dilation;
  }
  return std::nullopt;
}

// The greatest.
std::optional<std::int64_t> last_of(const Window& w, std::int64_t o) {
  const std::int64_t base = o * w.stride - w.pad_low;
  const std::int64_t from = std::min(w.size - 1, floor_div(last_position(w) - base, w.dilation));
  for (std::int64_t tap = from; tap > std::max<std::int64_t>(-1, from - w.base_dilation); --tap) {
    const std::int64_t position = base + tap * w.dilation;
    if (position < 0) break;
    if (position % w.base_dilation == 0) return position / w.base_dilation;
  }
  return std::nullopt;
}

std::int64_t reach(const Window& w) { return (w.size - 1) * w.dilation; }

std::optional<std::int64_t> first_read(const Window& w, IndexRange outputs) {
  std::optional<std::int64_t> best;
  const std::int64_t from = std::max(outputs.first, ceil_div(w.pad_low - reach(w), w.stride));
  for (std::int64_t o = from; o < outputs.end; ++o) {
    const std::int64_t base = o * w.stride - w.pad_low;
    if (base > last_position(w) || (best && base >= *best * w.base_dilation)) break;
    if (!best && o - from > residue_span(w)) break;
    const auto read = first_of(w, o);
    if (read && (!best || *read < *best)) best = read;
  }
  return best;
}

std::optional<std::int64_t> last_read(const Window& w, IndexRange outputs) {
  std::optional<std::int64_t> best;
  const std::int64_t from = std::min(outputs.end - 1, floor_div(last_position(w) + w.pad_low, w.stride));
  for (std::int64_t o = from; o >= outputs.first; --o) {
    const std::int64_t furthest = o * w.stride - w.pad_low + reach(w);
    if (furthest < 0 || (best && furthest <= *best * w.base_dilation)) break;
    if (!best && from - o > residue_span(w)) break;
    const auto read = last_of(w, o);
    if (read && (!best || *read > *best)) best = read;
  }
  return best;
}

}  // namespace

IndexRange inputs_read(const Window& window, IndexRange outputs) {
  const auto first = first_read(window, outputs);
  const auto last = last_read(window, outputs);
  if (!first || !last) return {};
  return {*first, *last + 1};
}

std::optional<std::vector<HaloHop>> halo_hops(const Window& window, std::int64_t outputs, int shards) {
  const std::int64_t rows = ceil_div(outputs, shards), own = ceil_div(window.input, shards);
  std::map<int, std::int64_t> left, right;  // width by number of shards away
  for (std::int64_t shard = 0; shard < shards && shard * rows < outputs; ++shard) {
    const IndexRange read = inputs_read(window, {shard * rows, std::min((shard + 1) * rows, outputs)});
    if (read.empty()) continue;
    const std::int64_t first = read.first / own, last = (read.end - 1) / own;
    if (first < shard - kFarthestHalo || last > shard + kFarthestHalo) return std::nullopt;
    for (std::int64_t from = first; from <= last; ++from) {
      if (from == shard) continue;
      const std::int64_t width = std::min(read.end, (from + 1) * own) - std::max(read.first, from * own);
      const int away = static_cast<int>(from < shard ? shard - from : from - shard);
      std::int64_t& widest = (from < shard ? left : right)[away];
      widest = std::max(widest, width);
    }
  }
  std::vector<HaloHop> hops;
  for (const auto& [away, width] : left) hops.push_back({-away, width});
  for (const auto& [away, width] : right) hops.push_back({away, width});
  return hops;
}

// i b = o s + w d - p is the same relation whichever of o and w is called the output.
Window read_by_taps(const Window& window, std::int64_t outputs) {
  Window taps = window;
  taps.size = outputs;
  taps.stride = window.dilation;
  taps.dilation = window.stride;
  return taps;
}

// w d = i b + (outputs - 1 - o) s - ((outputs - 1) s - p): outputs counted from the last, so that all is
// positive.
Window read_by_inputs(const Window& window, std::int64_t outputs) {
  Window inputs = window;
  inputs.input = window.size;
  inputs.size = outputs;
  inputs.stride = window.base_dilation;
  inputs.dilation = window.stride;
  inputs.base_dilation = window.dilation;
  inputs.pad_low = (outputs - 1) * window.stride - window.pad_low;
  return inputs;
}

}  // namespace podsim
