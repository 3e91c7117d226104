// What arguments of Megatron-LM mean, as plain data, and how it is told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/settings.h"
#include "report/figures/figure.h"

namespace podsim {

// What a command of Megatron-LM asks for, with its defaults filled in.
struct MegatronPlan {
  ModelSizes model;
  std::map<std::string, std::string> from;  // [what] where it is said
  std::vector<Needed> needs;
  std::int64_t tensor = 1, pipeline = 1, context = 1, expert = 1, expert_tensor = 1;
  std::int64_t chunks = 1;  // pieces of the model per stage
  std::optional<std::int64_t> chips, data, expert_data;
  std::optional<std::int64_t> batch, micro, microbatches, sequence;  // in sequences; tokens of one
  std::optional<std::int64_t> padded;                                // rows of the vocabulary's tables
  std::optional<std::int64_t> first, last, recompute_layers;         // layers of the first and last stage
  std::vector<std::int64_t> layout,
      chunk_layers;      // of each piece as a layout says it; as they are, where uneven
  bool swapped = false;  // pipeline inside of data
  bool sequence_parallel = false, embedding_counts = false, loss_counts = false;
  bool overlap_gradients = false, overlap_parameters = false, overlap_tensor = false;
  std::string chips_from, chips_unknown;  // why there is no number, where the launcher begins to say it
  std::string precision, gradient_reduce, recompute, layer_freq, dispatcher;
  std::string state;  // "zero1", or empty where every rank has all
  std::string ramp;   // the first stage of a batch that grows
  std::optional<std::string> method;
  std::vector<std::string> modules;        // that are recomputed
  std::vector<Needed> not_run;             // what it asks for and podsim does not simulate
  std::vector<std::string> not_simulated;  // likewise, of little weight: the scenario says it
  bool offload_optimizer = false;
  std::int64_t state_bytes = 12;  // of a weight in 32 bits and what the optimizer keeps beside it
};

std::vector<Figure> megatron_figures(const MegatronPlan& plan);
std::string megatron_text(const std::string& file, const MegatronPlan& plan);

// Empty, and a problem, where its experts do not fit the mesh. REQUIRES: nothing is needed.
std::string megatron_scenario(const std::string& file, MegatronPlan plan, const Stated& stated,
                              std::string& problem);

}  // namespace podsim
