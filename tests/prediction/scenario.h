// Scenarios of the repository and of tests, loaded.
#pragma once

#include <stdexcept>
#include <string>

#include "proto/scenario/load.h"

namespace podsim::testing {

inline Spec load(const std::string& name, const std::vector<Override>& overrides = {}) {
  const Catalog catalog;
  LoadResult loaded =
      load_scenario_file(PODSIM_SOURCE_DIR "/scenarios/" + name + ".textproto", catalog, overrides);
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  return *std::move(loaded.spec);
}

inline Spec load_text(const std::string& text) {
  const Catalog catalog;
  LoadResult loaded = load_scenario("text.textproto", text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)) + "\n" + text);
  return *std::move(loaded.spec);
}

// Two stages without an update, whose batches take 100 ms to load and 30 ms to compute.
inline const std::string kInputBoundPipeline = R"(
      cluster { chip: "h100" chips: 2 fabric: "dgx_h100" }
      job {
        measured_layers {
          layer {
            name: "l" count: 4 forward_us: 1000 input_gradient_us: 1000 weight_gradient_us: 1000
            output_bytes: 1
          }
        }
        mesh { name: "pipeline" size: 2 } mesh { name: "data" size: 1 } sharding: "data"
        global_batch_sequences: 4 microbatch_sequences: 1 sequence_tokens: 1000
        input_bytes_per_token: 1000 storage_rate_gb_per_s: 0.04
      }
)";

}  // namespace podsim::testing
