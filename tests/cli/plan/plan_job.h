// A small job on one to two servers, of which a search takes moments.
#pragma once

#include <string>

namespace podsim {

inline const std::string kPlanJob =
    "cluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
    "  mesh { name: \"data\" size: 16 } sharding: \"data\" sharding: \"zero1\"\n"
    "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n"
    "space { context: 1 pipeline: 1 microbatch: 1 recompute: none }\n";

}  // namespace podsim
