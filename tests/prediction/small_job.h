// A job small enough to be simulated by the hundred: four stages, two data ranks and tensor parallelism on
// two hosts.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "proto/scenario/load.h"

namespace podsim::testing {

struct SmallJob {
  std::string pipeline = "schedule: one_f_one_b";
  std::string job;        // further fields
  std::string adversity;  // fields
  std::string cluster = "chip: \"h100\" fabric: \"dgx_h100\"";
  std::string stack = "megatron_bridge_2025";
  std::string sharding = "megatron_sp";  // over the axis "tensor"
};

inline Spec load(const SmallJob& small) {
  const std::string text = "cluster { chips: 16 " + small.cluster +
                           " } job { model: \"megatron_1_7b\" stack: \"" + small.stack +
                           "\"\n"
                           "mesh { name: \"pipeline\" size: 4 } mesh { name: \"data\" size: 2 }\n"
                           "mesh { name: \"tensor\" size: 2 }\n"
                           "sharding: \"data\" sharding: \"zero1\" sharding: \"" +
                           small.sharding +
                           "\"\n"
                           "pipeline { " +
                           small.pipeline +
                           " } global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048\n"
                           "precision: bf16 recompute: full " +
                           small.job + " }\nadversity { " + small.adversity + " }\n";
  const Catalog catalog;
  LoadResult loaded = load_scenario("small.textproto", text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)) + "\n" + text);
  return *std::move(loaded.spec);
}

// Every schedule, those with chunks with one and with two of them.
inline const std::vector<std::string>& schedules() {
  static const std::vector<std::string> all = {"schedule: gpipe",
                                               "schedule: one_f_one_b",
                                               "schedule: interleaved chunks_per_stage: 2",
                                               "schedule: shifting",
                                               "schedule: shifting chunks_per_stage: 2",
                                               "schedule: zero_bubble_h1",
                                               "schedule: zero_bubble_v",
                                               "schedule: dualpipe"};
  return all;
}

}  // namespace podsim::testing
