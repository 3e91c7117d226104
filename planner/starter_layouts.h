// The layouts that people begin with: of models the spaces that hold them, of programs one by one.
#pragma once

#include <string>
#include <vector>

#include "planner/space/layout.h"

namespace podsim {

struct Spec;

struct StarterAxis {
  std::string name;
  int size = 0;  // 0 = rest
  std::string comment;
};

struct StarterLayout {
  std::vector<StarterAxis> axes;
  std::vector<std::string> shardings, rules;  // presets; rule blocks as text
  std::string pipeline;                       // its block as text; empty = as without one
  int microbatch = 0;                         // sequences of a batch shard at a time; 0 = all
  std::string recompute = "none";
};

// What the layouts of a job depend on.
struct StarterSetting {
  int chips = 0, slices = 1;
  int domain = 0;                // GPUs of an NVLink domain; 0 = a torus
  std::vector<int> slice_shape;  // of a torus
  int sequence = 0;              // tokens of a sample
  bool short_samples = false;    // one chip takes all of its samples at once
  bool cut_weights = true;       // of a program: fsdp has weights to cut, and not the batch alone
  bool cut_rows = false;         // of a program: of tables
};

// Where the usual layouts of a model lie, each space with a headroom of its own default: state whole, cut or
// gathered over all data ranks; and gathered within NVLink domains or slices, where there are several.
std::vector<LayoutSpace> usual_spaces(const StarterSetting& setting);

// A few layouts of the space that take the least memory: as much sharding and recomputation as it has, one
// sequence at a time.
LayoutSpace lightest_of(LayoutSpace space, int chips);

// A layout of these spaces in words. `spec` = its job's.
StarterLayout starter_layout(const JobLayout& layout, const Spec& spec);

// Those of a program, least model parallelism first, the first one without any; of each, the recompute that
// needs least memory last. Models can have them too.
std::vector<std::vector<StarterLayout>> program_layouts(const StarterSetting& setting);

}  // namespace podsim
