// Tiles beside memory traffic, and what a call costs around them.
#include "workload/partition/lone_kernel.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "workload/job/chip.h"
#include "workload/partition/tile_time.h"

namespace podsim {
namespace {

constexpr double k16BitBytes = 2;
constexpr double kQueries = 64, kKeys = 128;  // of a block of fused attention

// A 4-bit element shares a scale of one byte with 15 others.
double format_bytes(const std::string& format) {
  if (format == "fp4") return 0.5 + 1.0 / 16;
  return format == "bf16" ? k16BitBytes : 1;
}

Dtype dtype_of(const std::string& format) {
  if (format == "fp4") return Dtype::kFp4;
  return format == "bf16" ? Dtype::kBf16 : Dtype::kFp8;
}

const FlopRate* peak_of(const Chip& chip, Dtype dtype) {
  const MatmulRate* rate = chip.matmul_rate(dtype);
  return rate ? &rate->peak : nullptr;
}

template <class Numbers>
const Numbers* numbers_of(const std::map<std::string, Numbers>& formats, const std::string& format) {
  const auto found = formats.find(format);
  return found == formats.end() ? nullptr : &found->second;
}

// Rate at a head size over that at 128.
double head_share(const std::map<int, double>& heads, double head_dim) {
  if (heads.empty()) return 1;
  const auto above = heads.lower_bound(static_cast<int>(std::ceil(head_dim)));
  if (above == heads.end()) return std::prev(above)->second;
  if (above == heads.begin() || above->first == head_dim) return above->second;
  const auto below = std::prev(above);
  const double part = (head_dim - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

// Blocks that the rows of blocks of one sequence see, in the mean over the edge of the mask.
double seen_blocks(double sequence, double window) {
  const double rows = std::ceil(sequence / kQueries);
  const double wide = window > 0 ? std::min(rows, std::ceil(window / kQueries) + 1) : rows;
  return (wide * (wide + 1) / 2 + (rows - wide) * wide) * kQueries / kKeys;
}

// A grouped matmul of rows that are drawn for each expert.
double grouped_seconds(const TiledMatmul& numbers, const ExpertLoads::Draws& draws, double n, double k,
                       double bytes, const TileUnits& on) {
  double rows = 0, active = 0;
  for (const auto& draw : draws) {
    for (const double load : draw) {
      rows += load / static_cast<double>(draws.size());
      active += std::min(load, 1.0) / static_cast<double>(draws.size());
    }
  }
  const auto row_tiles = [&](int side) {
    constexpr double kWholeLoad = 1e-9;  // of a load that is whole but for it
    double tiles = 0;
    for (const auto& draw : draws)
      for (const double load : draw) tiles += std::ceil(load / side - kWholeLoad);
    return tiles / static_cast<double>(draws.size());
  };
  const double moved = (rows * k + active * n * k) * bytes + rows * n * k16BitBytes;
  return beside(grouped_tile_seconds(numbers, row_tiles, n, k, on),
                moved / (on.bytes_per_s * numbers.memory_share));
}

}  // namespace

double places_reached(int places, int topk, int experts) {
  places = std::min(places, experts);
  double missed = 1;  // probability that all lie elsewhere
  const int elsewhere = experts - experts / places;
  for (int i = 0; i < topk; ++i) missed *= std::max(0, elsewhere - i) / static_cast<double>(experts - i);
  return places * (1 - missed);
}

std::optional<double> lone_seconds(const MatmulCall& call, const Chip& chip, const std::string& format) {
  const FlopRate* peak = peak_of(chip, dtype_of(format));
  const TiledMatmul* numbers = chip.kernels ? numbers_of(chip.kernels->matmul, format) : nullptr;
  if (!peak || !numbers) return std::nullopt;
  constexpr double kDroopUnit = 2.0 * 4096 * 4096 * 4096;  // FLOP
  const auto [m, n, k] = call;
  const TileUnits on{chip.compute_units, peak->value * numbers->burst, chip.hbm.value};
  const double tiles_s =
      tile_seconds(*numbers, m, n, k, 1, on) * (1 + numbers->droop * std::log1p(2 * m * n * k / kDroopUnit));
  const double memory = chip.hbm.value * numbers->memory_share;
  const double moved = (m * k + k * n) * format_bytes(format) + m * n * k16BitBytes;
  return numbers->launch_s + beside(tiles_s, moved / memory) + numbers->cast_bytes * m * k / memory;
}

std::optional<double> lone_seconds(const AttentionCall& call, const Chip& chip, const std::string& format) {
  const FlopRate* peak = peak_of(chip, Dtype::kBf16);
  const TiledAttention* numbers = chip.kernels ? numbers_of(chip.kernels->attention, format) : nullptr;
  if (!peak || !numbers) return std::nullopt;
  const double rows = std::ceil(call.sequence / kQueries), calls = call.batch * call.heads;
  const double seen = call.window > 0 ? std::min(call.window, call.sequence) : call.sequence;
  const double longest = std::ceil(seen / kKeys);
  const double blocks = (seen_blocks(call.sequence, call.window) + rows * numbers->fill) * calls;
  const double waves = std::max(blocks / chip.compute_units, longest + numbers->fill);
  const double rate = peak->value * numbers->burst * head_share(numbers->heads, call.head_dim);
  const double tiles_s = waves * chip.compute_units * 4 * kQueries * kKeys * call.head_dim / rate;
  const double of_a_head = call.batch * call.sequence * call.head_dim;
  // Queries and results, keys and values.
  const double moved_s =
      of_a_head * 2 * (call.heads + call.kv_heads) * k16BitBytes / (chip.hbm.value * chip.hbm_efficiency);
  return numbers->launch_s + beside(tiles_s, moved_s) +
         numbers->passes * of_a_head * (call.heads + 2 * call.kv_heads) / chip.hbm.value;
}

std::optional<double> lone_seconds(const ExpertsCall& call, const Chip& chip, const std::string& format,
                                   ExpertLoads& loads) {
  const FlopRate* peak = peak_of(chip, dtype_of(format));
  const TiledExperts* numbers = chip.kernels ? numbers_of(chip.kernels->experts, format) : nullptr;
  if (!peak || !numbers) return std::nullopt;
  const TiledMatmul& matmul = numbers->matmul;
  const TileUnits on{chip.compute_units, peak->value * matmul.burst, chip.hbm.value};
  const ExpertLoads::Draws& draws = loads.of(call.routing);
  const double ffn = call.expert_ffn / call.tensor_degree, into = call.gated ? 2 : 1;
  const double bytes = format_bytes(format);
  const double matmuls_s = grouped_seconds(matmul, draws, into * ffn, call.hidden, bytes, on) +
                           grouped_seconds(matmul, draws, call.hidden, ffn, bytes, on);
  double rows = 0;
  for (const auto& draw : draws)
    for (const double load : draw) rows += load / static_cast<double>(draws.size());
  const TokenRouting& routing = call.routing;
  const double of_rows = rows * (2 * call.hidden + (1 + into) * ffn) * numbers->row_passes;
  const double of_tokens = routing.tokens * call.hidden * numbers->token_passes;
  return matmul.launch_s + matmuls_s + (of_rows + of_tokens) * k16BitBytes / chip.hbm.value +
         numbers->pair_s * routing.tokens * routing.topk + numbers->expert_s * routing.experts;
}

// Copies that stay on the device are made as all others are; only the rest passes its links.
std::optional<double> lone_seconds(const ExchangeCall& call, const Chip& chip) {
  if (!chip.kernels) return std::nullopt;
  const bool across = call.domains > 1;
  const auto found = chip.kernels->exchange.find({call.back, across});
  if (found == chip.kernels->exchange.end()) return std::nullopt;
  const TokenExchange& numbers = found->second;
  const int places = across ? call.domains : call.devices;
  const double copies = places_reached(places, call.topk, call.experts);
  const double bytes = copies * call.hidden * (call.back ? k16BitBytes : 1);
  const double of_token = numbers.token_s + numbers.copy_s * copies + bytes / numbers.unit_bytes_per_s;
  const double links_s = bytes * (places - 1) / places / numbers.link_bytes_per_s;
  return numbers.launch_s + call.tokens * beside(of_token / call.units, links_s);
}

}  // namespace podsim
