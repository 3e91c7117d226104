// A small scenario with a program of its own, to break.
#pragma once

#include <string>

#include "tests/proto/scenario.h"

namespace podsim {

// A multilayer perceptron on 8 H100, data-parallel; the program begins in line 8.
inline std::string mlp_scenario() {
  return R"(cluster { chip: "h100" fabric: "dgx_h100" chips: 8 }
job {
  stack: "torchtitan"
  mesh { name: "data" size: 8 }
  rule { dimension: "batch" axis: "data" }
  global_batch_sequences: 64
  sequence_tokens: 1
  program {
    dimension { name: "embed" size: 1024 }
    dimension { name: "ffn" size: 4096 }
    part {
      name: "mlp"
      data { name: "x" dims: "batch embed" }
      parameter { name: "w_in" dims: "embed ffn" }
      parameter { name: "w_out" dims: "ffn embed" }
      operation { kind: einsum input: ["x", "w_in"] output: "h" dims: "batch ffn" }
      operation { kind: elementwise input: "h" output: "a" }
      operation { kind: einsum input: ["a", "w_out"] output: "y" dims: "batch embed" }
      operation { kind: loss input: "y" output: "losses" }
    }
  }
}
)";
}

inline Lines problems_of_mlp(const std::string& from, const std::string& to) {
  return problems_of(replaced(mlp_scenario(), from, to));
}

}  // namespace podsim
