// Measured kernels: tables of matmuls, of attention, of grouped matmuls of experts and of tokens sent to
// experts, each alone on a chip.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "proto/text/problem.h"
#include "workload/partition/lone_kernel.h"

namespace podsim {

struct MeasuredKernel {
  std::string chip, dtype;  // as written
  std::variant<MatmulCall, AttentionCall, ExpertsCall, ExchangeCall> call;
  double time_s = 0;
  int line = 0;                 // of its table
  std::string assumption = {};  // of what the table does not say (validation/kernel_rules.h), or empty

  const char* kernel() const;  // "matmul", "attention", "experts", "dispatch", "combine"
  std::string shape() const;   // "m=256 n=1024 k=1024"
};

struct MeasuredKernels {
  std::vector<MeasuredKernel> rows;
  std::vector<Problem> problems;
};

// Whether the header has a column latency_ms or dispatch_us, and is not of collectives.
bool is_kernel_table(const std::string& text);

// Columns chip, dtype and latency_ms, with m, n and k (a matmul), or batch, sequence, heads, kv_heads,
// head_dim and maybe window (causal attention, forward), or tokens, hidden, expert_ffn, topk, experts and
// maybe tensor_degree, expert_degree, routing ("balanced" or "power_law_1.2") and gated (0 or 1; without the
// column as validation/kernel_rules.h says, else 1).
// Or, in place of dtype and latency_ms, nodes, hidden, tokens_per_gpu, topk, experts, and dispatch_sms,
// dispatch_us, combine_sms and combine_us, with maybe dispatch_notify_us and combine_notify_us, which are
// added, and gpus_per_node (8): two rows, of tokens in 8 bits and of results in 16.
MeasuredKernels read_kernel_table(const std::string& file, const std::string& text);

}  // namespace podsim
