// Reads sets of kernels, and puts the bursts of a chip in their place.
#include "proto/catalog/convert_kernels.h"

#include "proto/catalog.pb.h"

namespace podsim {
namespace {

constexpr double kMicro = 1e-6, kNano = 1e-9, kGiga = 1e9;

std::string name_of(schema::KernelFormat::Name format) { return schema::KernelFormat::Name_Name(format); }

TiledMatmul to_tiled(const schema::TiledMatmul& from) {
  TiledMatmul made;
  made.burst = from.burst();
  made.fill = from.fill();
  made.wave_exponent = from.wave_exponent();
  made.split_bytes = from.split_bytes();
  made.droop = from.droop();
  if (from.has_memory_share()) made.memory_share = from.memory_share();
  made.launch_s = from.launch_us() * kMicro;
  made.cast_bytes = from.cast_bytes();
  for (const auto& tile : from.tile()) made.tiles.push_back({tile.m(), tile.n(), tile.penalty()});
  for (const auto& rows : from.misaligned())
    made.misaligned.push_back({rows.row_bytes(), rows.forward(), rows.backward()});
  return made;
}

TiledAttention to_tiled(const schema::TiledAttention& from) {
  TiledAttention made;
  made.burst = from.burst();
  made.fill = from.fill();
  made.launch_s = from.launch_us() * kMicro;
  made.passes = from.passes();
  for (const auto& head : from.head()) made.heads[head.head_dim()] = head.share();
  return made;
}

TiledExperts to_tiled(const schema::TiledExperts& from) {
  return {to_tiled(from.matmul()), from.row_passes(), from.token_passes(), from.pair_ns() * kNano,
          from.expert_us() * kMicro};
}

TokenExchange to_exchange(const schema::TokenExchange& from) {
  return {from.launch_us() * kMicro, from.token_ns() * kNano, from.copy_ns() * kNano,
          from.unit_gb_per_s() * kGiga, from.link_gb_per_s() * kGiga};
}

// A burst of a format that the generation lacks is not used.
void set_burst(const schema::KernelBurst& own, KernelNumbers& numbers) {
  const std::string format = name_of(own.format());
  switch (own.of()) {
    case schema::KernelBurst::attention:
      if (const auto at = numbers.attention.find(format); at != numbers.attention.end())
        at->second.burst = own.burst();
      return;
    case schema::KernelBurst::experts:
      if (const auto at = numbers.experts.find(format); at != numbers.experts.end())
        at->second.matmul.burst = own.burst();
      return;
    default:
      if (const auto at = numbers.matmul.find(format); at != numbers.matmul.end())
        at->second.burst = own.burst();
  }
}

}  // namespace

KernelNumbers to_kernels(const schema::Kernels& generation, const schema::Chip& chip) {
  KernelNumbers numbers;
  numbers.name = generation.name();
  for (const auto& one : generation.matmul()) numbers.matmul[name_of(one.format())] = to_tiled(one);
  for (const auto& one : generation.attention()) numbers.attention[name_of(one.format())] = to_tiled(one);
  for (const auto& one : generation.experts())
    numbers.experts[name_of(one.matmul().format())] = to_tiled(one);
  for (const auto& one : generation.exchange()) {
    const ExchangeKind kind{one.way() == schema::TokenExchange::combine, one.across()};
    numbers.exchange[kind] = to_exchange(one);
  }
  for (const auto& own : chip.kernel_burst()) set_burst(own, numbers);
  return numbers;
}

}  // namespace podsim
