// What is assumed of measured kernels where their table is silent. All of it is data:
// scenarios/measurements/kernel_rules.csv.
#pragma once

#include <string>
#include <vector>

#include "proto/text/problem.h"

namespace podsim {

// Whether experts are gated of which a token has `topk` of `experts`.
struct GateRule {
  int topk = 0, experts = 0;
  bool gated = true;
  std::string assumption;  // told of every row that it is taken for
};

struct GateRules {
  std::vector<GateRule> rules;
  std::vector<Problem> problems;
};

GateRules read_gate_rules(const std::string& file, const std::string& text);

// Of those that are part of the binary the one for these experts; null where there is none.
const GateRule* gate_rule(int topk, int experts);

}  // namespace podsim
