// Steps against tokens: the hyperbola between them.
#include "economics/critical_batch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/random.h"

namespace podsim::critical_batch_test {
namespace {

TEST(CriticalBatch, at_the_critical_batch_a_loss_takes_twice_the_tokens_of_tiny_batches) {
  EXPECT_NEAR(tokens_to_same_loss(1e12, 1, 4e6, 4e6), 2e12, 1e6);
  EXPECT_EQ(tokens_to_same_loss(1e12, 4e6, 4e6, 4e6), 1e12);
}

BatchLaws published() { return {2.1e8, 0.21, 6.4e13, 0.076, 1.8e13, 0.103, 0.2920, 0.3271}; }

TEST(CriticalBatch, of_published_laws_grows_as_the_loss_falls_and_the_run_grows) {
  const BatchLaws laws = published();
  EXPECT_NEAR(kaplan_critical_batch(laws, 1), 2.1e8, 1) << "B* is that of a loss of one nat";
  // Twice the loss to the power of alpha_B: half the batch.
  EXPECT_NEAR(kaplan_critical_batch(laws, std::pow(2, 0.21)), 1.05e8, 1);
  EXPECT_NEAR(kaplan_loss(laws, 6.4e13, 1e30), 1, 1e-9) << "N_c parameters with tokens without end";
  EXPECT_LT(kaplan_loss(laws, 70e9, 15e12), kaplan_loss(laws, 8e9, 15e12));
  EXPECT_NEAR(deepseek_batch(laws, 1e20) / deepseek_batch(laws, 1e19), std::pow(10, 0.3271), 1e-9);
}

// (S / S_min - 1) (E / E_min - 1) = 1, equation 5.11; and over two batches as over one.
TEST(CriticalBatchLaw, steps_and_tokens_lie_on_the_hyperbola) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto draw = [&](std::uint64_t what) {
      return 1e5 + 1e8 * random_uniform(i, RandomPurpose::kTest, what, 0);
    };
    const double critical = draw(0), batch = draw(1), between = draw(2);
    constexpr double kTiny = 1e-3, kHuge = 1e18, kTokens = 1e12;
    const double least_tokens = kTokens, tokens = tokens_to_same_loss(kTokens, kTiny, batch, critical);
    const double least_steps = tokens_to_same_loss(kTokens, kTiny, kHuge, critical) / kHuge;
    EXPECT_NEAR((tokens / batch / least_steps - 1) * (tokens / least_tokens - 1), 1, 1e-4) << i;
    EXPECT_NEAR(tokens_to_same_loss(tokens_to_same_loss(kTokens, kTiny, between, critical), between, batch,
                                    critical) /
                    tokens,
                1, 1e-12)
        << i;
  }
}

}  // namespace
}  // namespace podsim::critical_batch_test
