// What a larger batch costs: tokens more to the same loss.
#pragma once

namespace podsim {

// Tokens to the loss that `tokens` reach at batches of `batch_tokens`, trained at batches of
// `larger_batch_tokens` instead. A step to a loss needs S = S_min (1 + B_crit / B) steps and E = E_min (1 + B
// / B_crit) tokens. Source: McCandlish, Kaplan, Amodei et al., An Empirical Model of Large-Batch Training,
// 2018, equation 5.11. All in tokens. REQUIRES: all > 0.
double tokens_to_same_loss(double tokens, double batch_tokens, double larger_batch_tokens,
                           double critical_batch_tokens);

// Laws of the critical batch with their published numbers.
struct BatchLaws {
  double kaplan_batch = 0, kaplan_batch_exponent = 0;
  double kaplan_parameters = 0, kaplan_parameters_exponent = 0;
  double kaplan_tokens = 0, kaplan_tokens_exponent = 0;
  double deepseek_batch = 0, deepseek_batch_exponent = 0;
};

// Loss in nats of a token that a model of so many parameters reaches with so many tokens, and the critical
// batch there in tokens. Source: Kaplan et al., 2020, equations 1.5 and 5.3. REQUIRES, here and below: all >
// 0.
double kaplan_loss(const BatchLaws& laws, double parameters, double tokens);
double kaplan_critical_batch(const BatchLaws& laws, double loss);

// Tokens of the batch that a run of so many FLOPs does best with. Source: Bi et al., DeepSeek LLM, 2024.
double deepseek_batch(const BatchLaws& laws, double flops);

}  // namespace podsim
