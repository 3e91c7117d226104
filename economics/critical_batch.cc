// The trade of steps against tokens.
#include "economics/critical_batch.h"

#include <cmath>

#include "engine/check.h"

namespace podsim {

double tokens_to_same_loss(double tokens, double batch_tokens, double larger_batch_tokens,
                           double critical_batch_tokens) {
  PODSIM_CHECK(tokens > 0 && batch_tokens > 0 && larger_batch_tokens > 0 && critical_batch_tokens > 0,
               "batches and budgets have tokens");
  return tokens * (critical_batch_tokens + larger_batch_tokens) / (critical_batch_tokens + batch_tokens);
}

double kaplan_loss(const BatchLaws& laws, double parameters, double tokens) {
  PODSIM_CHECK(parameters > 0 && tokens > 0, "a model and a run have a size");
  const double by_parameters = std::pow(laws.kaplan_parameters / parameters,
                                        laws.kaplan_parameters_exponent / laws.kaplan_tokens_exponent);
  return std::pow(by_parameters + laws.kaplan_tokens / tokens, laws.kaplan_tokens_exponent);
}

double kaplan_critical_batch(const BatchLaws& laws, double loss) {
  return laws.kaplan_batch / std::pow(loss, 1 / laws.kaplan_batch_exponent);
}

double deepseek_batch(const BatchLaws& laws, double flops) {
  return laws.deepseek_batch * std::pow(flops, laws.deepseek_batch_exponent);
}

}  // namespace podsim
