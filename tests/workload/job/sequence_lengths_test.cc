// Packing of documents: what attention costs, what every policy keeps, how even it gets.
#include "workload/job/sequence_lengths.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/random.h"
#include "tests/rounds.h"

namespace podsim::sequence_lengths_test {
namespace {

std::function<double()> draws(std::uint64_t seed) {
  return [seed, index = std::uint64_t{0}]() mutable {
    return random_uniform(seed, RandomPurpose::kTest, 0, index++);
  };
}

double attention(double tokens) {
  const SequenceLengths lengths{{{tokens, 1}}, LengthBalance::kNone};
  return pack_step(lengths, {1, 1, 1, 32768}, draws(1)).front().attention;
}

TEST(SequenceLengths, one_long_document_costs_attention_what_its_length_over_theirs_says) {
  EXPECT_DOUBLE_EQ(attention(32768), 1);
  EXPECT_DOUBLE_EQ(attention(32768) / attention(1024), 32);
}

TEST(SequenceLengths, documents_longer_than_a_sequence_are_cut_to_it) { EXPECT_DOUBLE_EQ(attention(1e6), 1); }

TEST(SequenceLengths, what_does_not_fit_goes_on_in_the_next_sequence) {
  // 6 + 4 | 2 + 6 + 2 | 4 + 6
  const auto loads = pack_step({{{6, 1}}, LengthBalance::kNone}, {1, 3, 1, 10}, draws(1));
  ASSERT_EQ(loads.size(), 3u);
  EXPECT_DOUBLE_EQ(loads[0].attention, 0.52);
  EXPECT_DOUBLE_EQ(loads[1].attention, 0.44);
  EXPECT_DOUBLE_EQ(loads[2].attention, 0.52);
  for (const MicrobatchLoad& load : loads) EXPECT_DOUBLE_EQ(load.tokens, 1);
}

// Long-tailed: most documents are short, most tokens are in long ones.
SequenceLengths long_tail(LengthBalance balance) {
  return {{{512, 60}, {2048, 25}, {8192, 10}, {32768, 5}}, balance};
}

// Sum over microbatches of the dearest rank, over that of the mean rank.
double worst_rank(const std::vector<MicrobatchLoad>& loads, const PackingShape& shape) {
  double worst = 0;
  for (int r = 0; r < shape.ranks; ++r) {
    double sum = 0;
    for (int m = 0; m < shape.microbatches; ++m) sum += loads[r * shape.microbatches + m].attention;
    worst = std::max(worst, sum);
  }
  return worst / shape.microbatches / mean_load(loads).attention;
}

TEST(SequenceLengths, no_policy_changes_what_all_have_to_do) {
  for (int round = 0; round < testing::rounds(50); ++round) {
    const auto bits = random_bits(7, RandomPurpose::kTest, 1, static_cast<std::uint64_t>(round));
    const PackingShape shape{1 + static_cast<int>(bits % 8), 1 + static_cast<int>(bits / 8 % 8),
                             1 + static_cast<int>(bits / 64 % 3), 32768};
    const auto total = [&](LengthBalance balance) {
      return mean_load(pack_step(long_tail(balance), shape, draws(bits)));
    };
    const MicrobatchLoad none = total(LengthBalance::kNone);
    EXPECT_NEAR(none.tokens, 1, 1e-12);
    for (const LengthBalance balance : {LengthBalance::kSorted, LengthBalance::kSquares}) {
      EXPECT_NEAR(total(balance).tokens, none.tokens, 1e-12);
      EXPECT_NEAR(total(balance).attention, none.attention, 1e-12);
    }
  }
}

TEST(SequenceLengths, sorting_evens_the_ranks_and_squares_even_them_more) {
  const PackingShape shape{16, 8, 1, 32768};
  const auto worst = [&](LengthBalance balance) {
    return worst_rank(pack_step(long_tail(balance), shape, draws(3)), shape);
  };
  EXPECT_GT(worst(LengthBalance::kNone), 1.1);
  EXPECT_LT(worst(LengthBalance::kSorted), 1.05);
  EXPECT_LT(worst(LengthBalance::kSquares), 1.01);
}

TEST(SequenceLengths, sorted_microbatches_of_a_turn_are_alike_on_all_ranks) {
  const PackingShape shape{4, 16, 1, 32768};
  const auto loads = pack_step(long_tail(LengthBalance::kSorted), shape, draws(5));
  for (int m = 0; m + 1 < shape.microbatches; ++m)
    for (int r = 0; r < shape.ranks; ++r)
      for (int other = 0; other < shape.ranks; ++other)
        EXPECT_GE(loads[r * shape.microbatches + m].attention,
                  loads[other * shape.microbatches + m + 1].attention);
}

}  // namespace
}  // namespace podsim::sequence_lengths_test
