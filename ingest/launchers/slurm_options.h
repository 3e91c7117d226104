// Options of sbatch and srun, by their long names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace podsim {

// As it is written, but for its name.
struct SlurmOption {
  std::string name, value;  // "nodes", "4"
  std::size_t word = 0;     // where it stands
  bool is_short = false;    // "-N 4", "-N4"
};

// Those with a value, as in "--nodes=4 --ntasks-per-node 8 -N4"; other words are passed over.
std::vector<SlurmOption> slurm_options(const std::vector<std::string>& words);

}  // namespace podsim
