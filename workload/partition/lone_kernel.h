// Time of one kernel alone on a cool chip, as benchmarks of kernels measure it.
#pragma once

#include <optional>
#include <string>

#include "workload/partition/expert_loads.h"

namespace podsim {

struct Chip;

// C[m,n] = A[m,k] B[k,n], A cast where the format needs it.
struct MatmulCall {
  double m = 0, n = 0, k = 0;
};

// Causal attention, forward. A window of 0 is the whole sequence.
struct AttentionCall {
  double batch = 0, sequence = 0, heads = 0, kv_heads = 0, head_dim = 0, window = 0;
};

// Experts of one device, whose weights are cut `tensor_degree` times.
struct ExpertsCall {
  TokenRouting routing;
  double hidden = 0, expert_ffn = 0, tensor_degree = 1;
  bool gated = true;  // two matrices lead into an expert, else one
};

// Tokens of each device sent to the devices of their experts, or their results sent back and summed.
struct ExchangeCall {
  double tokens = 0, hidden = 0;
  int topk = 1, experts = 1;
  int devices = 1, domains = 1;  // in all; domains have as many devices each
  double units = 1;              // compute units that the kernel takes
  bool back = false;             // results: 16 bits; tokens have 8
};

// Of `places` that hold as many experts each, those that a token with `topk` different ones reaches in the
// mean, whichever they are.
double places_reached(int places, int topk, int experts);

// Nothing where the chip's kernel numbers or its matmul rates lack the format ("bf16", "fp8", "fp8_block",
// "fp4"). docs/theory/kernels.md has the equations.
std::optional<double> lone_seconds(const MatmulCall& call, const Chip& chip, const std::string& format);
std::optional<double> lone_seconds(const AttentionCall& call, const Chip& chip, const std::string& format);
std::optional<double> lone_seconds(const ExpertsCall& call, const Chip& chip, const std::string& format,
                                   ExpertLoads& loads);
std::optional<double> lone_seconds(const ExchangeCall& call, const Chip& chip);

}  // namespace podsim
