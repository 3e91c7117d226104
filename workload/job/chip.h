// One accelerator chip as data: what it computes per second, what it remembers, what it draws.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/units.h"
#include "workload/job/dtype.h"
#include "workload/job/kernel_numbers.h"

namespace podsim {

// What a matrix multiply reaches in one dtype.
struct MatmulRate {
  FlopRate peak;         // dense peak of the data sheet
  double sustained = 1;  // share of peak that a large GEMM sustains in training, (0, 1]
  FlopRate reached() const { return sustained * peak; }
  friend bool operator==(const MatmulRate&, const MatmulRate&) = default;
};

// An attention kernel's share of the bf16 peak on this chip, forward and backward, at long sequence and
// head_dim 128.
struct AttentionRate {
  std::string kernel;  // "unfused", "flash1", "flash2", "cudnn", "splash"
  double forward = 0;
  double backward = 0;
  friend bool operator==(const AttentionRate&, const AttentionRate&) = default;
};

// Whose measured runs tell how far off a prediction may be: nothing is computed otherwise for one of them.
enum class ChipKind : std::uint8_t { kGpu, kTpu, kNeither };
std::string_view to_string(ChipKind kind);  // "GPU", "TPU", "neither"

struct Chip {
  std::string name;
  ChipKind kind = ChipKind::kGpu;
  std::map<Dtype, MatmulRate> matmul;
  // Of its generation, with the bursts of this chip. Tiles, waves and short_k below then count for nothing.
  std::optional<KernelNumbers> kernels;
  int compute_units = 1;    // SMs of a GPU, one tile each per wave; cores of a TPU that share no matmul
  std::vector<Tile> tiles;  // that libraries offer; empty = no waves (TPU)
  int matrix_side =
      0;  // elements: side of a systolic array to whose multiples m, n and k are padded; 0 = none (GPU)
  double wave_exponent =
      0;                // share of the wave loss that remains after split-K and stream-K: loss^wave_exponent
  double short_k = 0;   // elements: GEMM time x (1 + short_k / K)
  double blocking = 0;  // elements: side of the HBM blocking of a GEMM (TPU); 0 = not modelled
  Bytes hbm_capacity;   // usable by a program
  Bandwidth hbm;        // data sheet
  double hbm_efficiency = 1;  // best copy / data sheet
  double memory_exposed = 1;  // share of memory-bound work that is not hidden under matrix units, [0, 1]
  std::vector<AttentionRate> attention;
  double attention_half_sequence = 0;      // attention rate x s / (s + this), tokens
  double attention_head_dim_exponent = 0;  // attention rate x (head_dim / 128)^this
  double attention_widest_head_dim = 128;  // wider heads are no faster than this
  Bandwidth host_link;                     // PCIe to the host, per chip and direction
  double power_idle_w = 0;                 // chip alone, without work
  double power_busy_w = 0;                 // chip alone, its matrix units or its memory at their full rate
  double power_waiting_share = 0;          // of the difference, that it draws between its operations
  std::optional<double> power_overhead_w;  // its share of host, NICs and switches; nothing = by the next two
  double power_of_host_w = 0;              // of a host, whatever its chips draw
  double power_host_share = 0;             // of what a chip draws: fans, NICs, switches, losses of supplies
  double power_range = 0;                  // watts may be lower or higher by this share
  friend bool operator==(const Chip&, const Chip&) = default;

  // Null where the chip does not multiply this dtype. The 16-bit formats share one rate: V100 has only fp16,
  // and jobs in fp16 and bf16 use the same tensor cores.
  const MatmulRate* matmul_rate(Dtype dtype) const;
};

// Watts of a chip that draws `chip_w` itself, with its share of host and network.
inline double with_host_w(const Chip& chip, double chip_w, int chips_per_host) {
  return chip_w + chip.power_overhead_w.value_or(chip.power_of_host_w / chips_per_host +
                                                 chip.power_host_share * chip_w);
}

}  // namespace podsim
