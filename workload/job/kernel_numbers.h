// What the kernels of a GPU's libraries need beyond their FLOPs, as data: one set per generation of tensor
// cores.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace podsim {

// A GEMM output tile a library offers on a GPU; penalty 0.06 = 6 % slower per FLOP than the best tile.
struct Tile {
  int m = 0, n = 0;
  double penalty = 0;
  friend bool operator==(const Tile&, const Tile&) = default;
};

// Most that kernels reach where rows of a matrix begin at multiples of so many bytes and of no more: they
// copy single elements where others copy 16 bytes at once.
struct MisalignedRows {
  int row_bytes = 0;
  double forward = 1, backward = 1;  // share of the peak
  friend bool operator==(const MisalignedRows&, const MisalignedRows&) = default;
};

// A matmul, or the matmuls of all experts of a device in one kernel.
struct TiledMatmul {
  double burst = 1;          // share of the peak that whole tiles reach in a lone kernel on a cool chip
  double fill = 0;           // elements of K that a tile takes longer, to begin and to end
  double wave_exponent = 0;  // whole waves cost (ceil(w) / w)^this over w waves
  double split_bytes = 0;    // memory traffic per output of each part of a K that is split
  double droop = 0;          // tiles take 1 + droop log(1 + FLOP / (2 x 4,096^3)) as long: power, caches
  double memory_share = 1;   // of the memory's bandwidth
  double launch_s = 0;       // of a lone kernel with all that runs around it
  double cast_bytes = 0;     // memory traffic per element of A where the call quantises it
  std::vector<Tile> tiles;   // both ways round
  std::vector<MisalignedRows> misaligned;  // of rows that begin at multiples of 16 bytes nothing is lost
  friend bool operator==(const TiledMatmul&, const TiledMatmul&) = default;
};

// Causal attention of a fused kernel, forward.
struct TiledAttention {
  double burst = 1;             // share of the 16-bit peak at head size 128
  double fill = 0;              // blocks of 128 keys that 64 queries take longer
  double launch_s = 0;          // of a lone call
  double passes = 0;            // passes over queries, keys and values beside the kernel: rotation, cache
  std::map<int, double> heads;  // rate at a head size over that at 128; between them by interpolation
  friend bool operator==(const TiledAttention&, const TiledAttention&) = default;
};

// Both grouped matmuls of a layer of experts, with its permutation.
struct TiledExperts {
  TiledMatmul matmul;       // tiles are one way round: m rows of an expert
  double row_passes = 0;    // memory passes over what each row has in 16 bits
  double token_passes = 0;  // over the tokens before they are copied to their experts
  double pair_s = 0;        // for each pair of a token and its expert, wherever that is
  double expert_s = 0;      // for each expert, wherever it is
  friend bool operator==(const TiledExperts&, const TiledExperts&) = default;
};

// Tokens to the devices of their experts, or back: kernels of a library of its own, which copy by compute
// units. Inside a domain a token has a copy for each device that it reaches, over a network for each domain.
struct TokenExchange {
  double launch_s = 0;
  double token_s = 0, copy_s = 0;  // of one compute unit, for each token and for each copy of it
  double unit_bytes_per_s = 1;     // that one compute unit copies
  double link_bytes_per_s = 1;     // that links of a device sustain, one way
  friend bool operator==(const TokenExchange&, const TokenExchange&) = default;
};

// Which way tokens go, and whether across domains.
struct ExchangeKind {
  bool back = false, across = false;
  auto operator<=>(const ExchangeKind&) const = default;
};

// By the names of number formats in tables: "bf16", "fp8", "fp8_block", "fp4".
struct KernelNumbers {
  std::string name;
  std::map<std::string, TiledMatmul> matmul;
  std::map<std::string, TiledAttention> attention;
  std::map<std::string, TiledExperts> experts;
  std::map<ExchangeKind, TokenExchange> exchange;
  friend bool operator==(const KernelNumbers&, const KernelNumbers&) = default;
};

}  // namespace podsim
