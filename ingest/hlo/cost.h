// FLOPs and bytes of HLO instructions, by the rules of XLA's own cost analysis.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/hlo/trip_counts.h"

namespace podsim::hlo {

struct Cost {
  std::int64_t flops = 0;                 // but for transcendental functions and custom calls
  std::int64_t transcendentals = 0;       // results of exp, log, tanh, ...
  std::int64_t bytes = 0;                 // read and written
  std::int64_t dot = 0, convolution = 0;  // of the FLOPs
  std::int64_t custom_flops = 0;          // of custom calls that are known: matmuls and fused attention
  std::int64_t unknown_calls = 0;         // custom calls of which nothing is known

  // FLOPs of dots and convolutions, and those of neither. Numbers stay at the largest that there is.
  std::int64_t products() const;
  std::int64_t elementwise() const;
  Cost& operator+=(const Cost& other);
  friend Cost operator*(const Cost& cost, std::int64_t times);
};

// Costs of computations, each found once.
class CostAnalysis {
 public:
  // With `loops` a loop's body counts as often as it runs, its condition once more; without, once each, as
  // XLA prints. REQUIRES: the module outlives this.
  CostAnalysis(const Module& module, const LoopCounts* loops);

  // Of a computation with all that it calls; what is applied to elements (of a reduction) is part of the
  // instruction that applies it.
  const Cost& of(int computation);
  Cost of(const Computation& computation, const Instruction& instruction);

  // The branch of a conditional that costs more FLOPs, then bytes.
  int dearer_branch(const Instruction& conditional);

 private:
  Cost called(const Instruction& instruction, const char* attribute);
  Cost loop(const Instruction& instruction);
  Cost fusion(const Instruction& instruction);

  const Module& module_;
  const LoopCounts* loops_;
  std::vector<Cost> known_;
  std::vector<bool> found_;
};

// What a custom call is, as far as it is known.
struct CustomCall {
  enum class Kind : std::uint8_t { kUnknown, kMove, kMatmul, kAttention } kind = Kind::kUnknown;
  std::int64_t flops = 0;
  bool causal = false;  // of fused attention: half of the pairs are masked
  // Of fused attention.
  bool backward = false;
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0, head_dim = 0;
};
CustomCall custom_call(const Computation& computation, const Instruction& call);
std::string call_target(const Instruction& call);  // without its quotes

}  // namespace podsim::hlo
