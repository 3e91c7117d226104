// First version of a chip's catalogue entry: figures of its data sheet in the entry of a chip like it.
#pragma once

#include <optional>
#include <string>

namespace podsim {

// What a data sheet says. Nothing = as of the chip like it.
struct ChipSheet {
  std::optional<double> peak_tflops;      // dense matmuls in 16 bits
  std::optional<double> peak_fp8_tflops;  // and in 8 bits; missing = grown as in 16 bits
  std::optional<double> hbm_gb, hbm_gb_per_s;
  std::optional<double> power_w;     // limit; watts at rest grow with it
  std::optional<int> compute_units;  // where the chip like it has them
};

// The entry in text format; a comment behind each number says where it is from. `like` is the entry of the
// chip named `like_name` as it stands in its file. REQUIRES: that entry loads.
std::string new_chip_text(const std::string& name, const ChipSheet& sheet, const std::string& like_name,
                          const std::string& like);

}  // namespace podsim
