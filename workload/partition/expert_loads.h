// How many rows the experts of the busiest device get when some are more popular than others.
#pragma once

#include <map>
#include <tuple>
#include <vector>

namespace podsim {

// Tokens of one device go to `topk` of `experts`, which lie on `devices` devices.
struct TokenRouting {
  double tokens = 0;
  int topk = 1, experts = 1, devices = 1;
  double exponent = 0;  // of the power law from which the loads of experts come; 0 = all alike
  auto operator<=>(const TokenRouting&) const = default;
};

// Rows of each expert on the device with most rows; several draws of who lies where, all of equal chance.
// Loads are the quantiles of a density x^-exponent between 1 and 0.8 tokens, scaled to tokens x topk rows,
// and no expert gets a token twice. REQUIRES: `experts` is a multiple of `devices`.
class ExpertLoads {
 public:
  using Draws = std::vector<std::vector<double>>;
  const Draws& of(const TokenRouting& routing);

 private:
  std::map<TokenRouting, Draws> known_;
};

}  // namespace podsim
