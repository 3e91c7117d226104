// Steps against tokens: the hyperbola between them.
#include "economics/critical_batch.h"

#include <gtest/gtest.h>

#include "engine/random.h"

namespace podsim::critical_batch_test {
namespace {

TEST(CriticalBatch, at_the_critical_batch_a_loss_takes_twice_the_tokens_of_tiny_batches) {
  EXPECT_NEAR(tokens_to_same_loss(1e12, 1, 4e6, 4e6), 2e12, 1e6);
  EXPECT_EQ(tokens_to_same_loss(1e12, 4e6, 4e6, 4e6), 1e12);
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
