// The layouts that people begin with, as parts of a scenario.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct StarterAxis {
  std::string name;
  int size = 0;  // 0 = rest
  std::string comment;
};

struct StarterLayout {
  std::vector<StarterAxis> axes;
  std::vector<std::string> shardings, rules;  // presets; rule blocks as text
  int microbatch = 0;                         // sequences of a batch shard at a time; 0 = all
  std::string recompute = "none";
};

// What the layouts of a job depend on.
struct StarterSetting {
  int chips = 0, slices = 1;
  int domain = 0;                // GPUs of an NVLink domain; 0 = a torus
  std::vector<int> slice_shape;  // of a torus
  int experts = 0;               // 0 = dense
  int layers = 0;                // of a pipeline; 0 = cannot be cut into stages
  bool cut_weights = true;       // fsdp has weights to cut, and not the batch alone
  bool cut_rows = false;         // of tables of a program
  bool short_samples = false;    // one chip takes all of its samples at once
};

// Least model parallelism first; of each, the recompute that needs least memory last.
std::vector<std::vector<StarterLayout>> starter_layouts(const StarterSetting& setting);

}  // namespace podsim
