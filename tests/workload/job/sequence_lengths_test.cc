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
  return pack_step(lengths, {1, 1, 1, 32768}, draws(1)).front().attention.front();
}

TEST(SequenceLengths, one_long_document_costs_attention_what_its_length_over_theirs_says) {
  EXPECT_DOUBLE_EQ(attention(32768), 1);
  EXPECT_DOUBLE_EQ(attention(32768) / attention(1024), 32);
}

// Of 16 tokens with 4 keys each: 4 x 16 pairs, or 4 x (16 - 2) before the query. Of 2 tokens: all 4, or half.
TEST(SequenceLengths, a_window_cuts_nothing_of_documents_that_are_shorter) {
  const SequenceLengths lengths{{{2, 1}}, LengthBalance::kNone};
  PackingShape shape{1, 1, 1, 16};
  shape.windows = {{}, {4, false}, {4, true}, {100, true}};
  const std::vector<double> attention = pack_step(lengths, shape, draws(1)).front().attention;
  ASSERT_EQ(attention.size(), 4u);
  EXPECT_DOUBLE_EQ(attention[0], 8 * 4.0 / (16 * 16));
  EXPECT_DOUBLE_EQ(attention[1], 8 * 4.0 / (4 * 16));
  EXPECT_DOUBLE_EQ(attention[2], 8 * 2.0 / (4 * 14));
  EXPECT_DOUBLE_EQ(attention[3], attention[0]);
}

TEST(SequenceLengths, documents_longer_than_a_sequence_are_cut_to_it) { EXPECT_DOUBLE_EQ(attention(1e6), 1); }

TEST(SequenceLengths, what_does_not_fit_goes_on_in_the_next_sequence) {
  // 6 + 4 | 2 + 6 + 2 | 4 + 6
  const auto loads = pack_step({{{6, 1}}, LengthBalance::kNone}, {1, 3, 1, 10}, draws(1));
  ASSERT_EQ(loads.size(), 3u);
  EXPECT_DOUBLE_EQ(loads[0].attention.front(), 0.52);
  EXPECT_DOUBLE_EQ(loads[1].attention.front(), 0.44);
  EXPECT_DOUBLE_EQ(loads[2].attention.front(), 0.52);
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
    for (int m = 0; m < shape.microbatches; ++m) sum += loads[r * shape.microbatches + m].attention.front();
    worst = std::max(worst, sum);
  }
  return worst / shape.microbatches / mean_load(loads).attention.front();
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
      EXPECT_NEAR(total(balance).attention.front(), none.attention.front(), 1e-12);
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

// Documents of a step, as they are drawn.
std::vector<double> documents_of(const SequenceLengths& lengths, const PackingShape& shape,
                                 const std::function<double()>& uniform) {
  double shares = 0;
  for (const LengthBin& bin : lengths.bins) shares += bin.share;
  std::vector<double> documents;
  double left = 0;
  for (int sequence = 0; sequence < shape.microbatches * shape.sequences; ++sequence)
    for (double room = shape.tokens; room > 0;) {
      if (left == 0) {
        double at = uniform() * shares;
        auto bin = lengths.bins.begin();
        for (; at >= bin->share; ++bin) at -= bin->share;
        left = std::min(bin->tokens, shape.tokens);
      }
      documents.push_back(std::min(left, room));
      room -= documents.back();
      left -= documents.back();
    }
  return documents;
}

// Longest first, each to the least sum of squares of all bins with room, or to the most room.
std::vector<MicrobatchLoad> dealt_plainly(std::vector<double> documents, const PackingShape& shape) {
  struct Bin {
    double tokens = 0, squares = 0;
  };
  std::vector<Bin> bins(static_cast<std::size_t>(shape.microbatches));
  const double capacity = shape.sequences * shape.tokens;
  std::sort(documents.begin(), documents.end(), std::greater<>());
  for (const double document : documents) {
    Bin* best = nullptr;
    for (Bin& bin : bins)
      if (bin.tokens + document <= capacity && (best == nullptr || bin.squares < best->squares)) best = &bin;
    if (best == nullptr)
      best = &*std::ranges::min_element(bins, {},
                                        [](const Bin& bin) { return std::pair(bin.tokens, bin.squares); });
    best->tokens += document;
    best->squares += document * document;
  }
  std::vector<MicrobatchLoad> loads;
  for (const Bin& bin : bins)
    loads.push_back({bin.tokens / capacity, {bin.squares / (shape.sequences * shape.tokens * shape.tokens)}});
  return loads;
}

TEST(SequenceLengths, dealt_by_squares_go_where_a_look_at_every_microbatch_puts_them) {
  for (int round = 0; round < testing::rounds(50); ++round) {
    const auto bits = random_bits(7, RandomPurpose::kTest, 2, static_cast<std::uint64_t>(round));
    const PackingShape shape{1, 1 + static_cast<int>(bits % 40), 1 + static_cast<int>(bits / 64 % 3), 32768};
    const SequenceLengths lengths = long_tail(LengthBalance::kSquares);
    const auto loads = pack_step(lengths, shape, draws(bits));
    const auto plain = dealt_plainly(documents_of(lengths, shape, draws(bits)), shape);
    ASSERT_EQ(loads.size(), plain.size());
    for (std::size_t m = 0; m < loads.size(); ++m) {
      EXPECT_EQ(loads[m].tokens, plain[m].tokens);
      EXPECT_EQ(loads[m].attention, plain[m].attention);
    }
  }
}

}  // namespace
}  // namespace podsim::sequence_lengths_test
