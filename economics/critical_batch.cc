// The trade of steps against tokens.
#include "economics/critical_batch.h"

#include "engine/check.h"

namespace podsim {

double tokens_to_same_loss(double tokens, double batch_tokens, double larger_batch_tokens,
                           double critical_batch_tokens) {
  PODSIM_CHECK(tokens > 0 && batch_tokens > 0 && larger_batch_tokens > 0 && critical_batch_tokens > 0,
               "batches and budgets have tokens");
  return tokens * (critical_batch_tokens + larger_batch_tokens) / (critical_batch_tokens + batch_tokens);
}

}  // namespace podsim
