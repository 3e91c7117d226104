// A row of a table of runs that tests change cell by cell.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "scheduler/question/spec.h"
#include "validation/run_scenario.h"

namespace podsim {

using Cells = std::map<std::string, std::string>;
using Axes = std::vector<std::pair<std::string, int>>;

inline RunRow row_of(const Cells& cells) {
  RunRow row;
  for (const auto& [column, text] : cells) row.set(column, text);
  return row;
}

inline const Catalog& catalog() {
  static const Catalog kCatalog;
  return kCatalog;
}

// A Llama 3 70B on 64 H100, changed by `changes`; an empty text takes a column away.
inline RunScenario scenario(const Cells& changes) {
  Cells cells = {{"id", "r"},
                 {"family", "mine"},
                 {"chip", "H100-SXM"},
                 {"chips", "64"},
                 {"model", "llama"},
                 {"layers", "80"},
                 {"hidden", "8192"},
                 {"heads", "64"},
                 {"kv_heads", "8"},
                 {"ffn_hidden", "28672"},
                 {"ffn_matrices", "3"},
                 {"vocab", "128256"},
                 {"seq_len", "8192"},
                 {"global_batch_seqs", "128"},
                 {"micro_batch", "1"},
                 {"tp", "4"},
                 {"sp", "1"},
                 {"pp", "8"},
                 {"vp", "5"},
                 {"dp", "2"},
                 {"dp_sharding", "zero1"},
                 {"recompute", "none"},
                 {"precision", "bf16"},
                 {"stack", "nemo_2024"},
                 {"nic_gbps_per_gpu", "400"},
                 {"step_time_s", "10"}};
  for (const auto& [column, text] : changes) {
    if (text.empty()) {
      cells.erase(column);
    } else {
      cells[column] = text;
    }
  }
  return run_scenario(row_of(cells), builtin_run_rules(), catalog());
}

inline Spec spec_of(const RunScenario& run) {
  EXPECT_EQ(run.skipped, "");
  LoadResult loaded = load_scenario(run.id, run.text, catalog(), {});
  if (!loaded.spec) throw std::runtime_error(run.text + format_problem(loaded.problems.at(0)));
  return *std::move(loaded.spec);
}

inline Axes mesh_of(const Spec& spec) {
  Axes axes;
  for (const MeshAxis& axis : spec.job.mesh.axes) axes.emplace_back(axis.name, axis.size);
  return axes;
}

}  // namespace podsim
