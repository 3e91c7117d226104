// What a larger batch costs: tokens more to the same loss.
#pragma once

namespace podsim {

// Tokens to the loss that `tokens` reach at batches of `batch_tokens`, trained at batches of
// `larger_batch_tokens` instead. A step to a loss needs S = S_min (1 + B_crit / B) steps and E = E_min (1 + B
// / B_crit) tokens. Source: McCandlish, Kaplan, Amodei et al., An Empirical Model of Large-Batch Training,
// 2018, equation 5.11. All in tokens. REQUIRES: all > 0.
double tokens_to_same_loss(double tokens, double batch_tokens, double larger_batch_tokens,
                           double critical_batch_tokens);

}  // namespace podsim
