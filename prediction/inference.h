// What a cluster serves of a model: an estimate by rooflines of prefill and decode, the batch and the
// cache of keys and values that fits. What it leaves out docs/theory/inference.md says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/question/cluster.h"
#include "workload/job/dtype.h"
#include "workload/job/job.h"

namespace podsim {

struct InferenceQuestion {
  std::string name;
  Cluster cluster;
  Job job;  // its model; neither mesh nor batch
  int prompt_tokens = 0, output_tokens = 0;
  Dtype weights = Dtype::kBf16;  // of weights and matmuls
  double kv_bytes = 2;           // of an element of a key or value
  std::optional<int> tensor;     // chips of a replica; missing = those that serve most tokens per chip
  std::optional<std::int64_t> sequences;  // under way in a replica; missing = the most that fit
  double most_ms_per_token = 0;           // mean of an answer; 0 = any
  double memory_share = 0;                // of a chip, for weights and cache
  double activation_bytes = 0;            // of an element of an activation that the chips of a replica add up
  double reached = 1;  // of what the rooflines give, by schedulers and kernels of real servers
};

struct InferenceReport {
  std::string scenario, model, chip;
  int chips = 0;   // of the cluster, all of which are paid for
  int tensor = 0;  // of a replica
  int chips_per_domain =
      0;  // that are joined without the network between servers: a replica lies within them
  std::int64_t replicas = 0;
  std::int64_t sequences = 0, sequences_that_fit = 0;  // of a replica
  double weight_gib_per_chip = 0, kv_gib_per_chip = 0;
  double kv_kib_per_token = 0;  // in all layers, of which those with a window forget it
  double prefill_s = 0;         // of one prompt
  double decode_step_s = 0;     // a token of each sequence, at the middle of the answers
  bool prefill_by_compute = false, decode_by_compute = false;  // else by the bandwidth of the memory
  double decode_communication_s = 0;  // of it, of the replica's chips among each other
  double ms_per_token = 0;            // of an answer, with the prompts of others that come between
  double output_tokens_per_s = 0;     // of all replicas
  double usd_per_million_tokens = 0, j_per_token = 0;  // of output
  std::optional<double> kg_per_million_tokens;         // CO2e of them, where the grid is known
};

// Why the question cannot be asked, whatever fits: chips of a replica that the model or the network does not
// allow, with the nearest that work. Empty where it can.
std::string explain_invalid(const InferenceQuestion& question);

// Nothing where no replica fits or none is quick enough, with the reason.
// REQUIRES: explain_invalid(question) is empty; a transformer that makes tokens one by one; prompt, output >
// 0; the chip multiplies in the format of the weights; 0 < reached <= 1.
std::optional<InferenceReport> estimate_inference(const InferenceQuestion& question, std::string& why);

// Chips for so many output tokens a second, with those that are too few for a replica in domains that are
// filled; no more than 1e12 replicas are counted.
std::int64_t chips_to_serve(const InferenceReport& report, double output_tokens_per_s);

}  // namespace podsim
