// Shares of shapes and of padding against what they are by hand and for random lengths.
#include "workload/job/padded_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/random.h"

namespace podsim::padded_shapes_test {
namespace {

TEST(PaddedShapes, take_the_shortest_bucket_that_holds_a_document) {
  const PaddedShapes padded = pad_to_buckets({{100, 1}, {256, 2}, {300, 1}}, {256}, 1024);
  ASSERT_EQ(padded.shapes.size(), 2u);
  EXPECT_EQ(padded.shapes[0], (PaddedShape{256, 0.75}));
  EXPECT_EQ(padded.shapes[1], (PaddedShape{1024, 0.25}));
  EXPECT_DOUBLE_EQ(padded.document_tokens, (100 + 512 + 300) / 4.0);
  EXPECT_DOUBLE_EQ(padded.padding_share(), 1 - (912 / 4.0) / (0.75 * 256 + 0.25 * 1024));
}

TEST(PaddedShapes, cut_what_is_longer_than_the_longest) {
  const PaddedShapes padded = pad_to_buckets({{5000, 1}}, {}, 1024);
  EXPECT_EQ(padded.document_tokens, 1024);
  EXPECT_EQ(padded.padding_share(), 0);
}

TEST(PaddedShapes, that_keep_lengths_pad_nothing_and_are_as_many_as_lengths) {
  const PaddedShapes kept = keep_lengths({{100, 1}, {256, 2}, {300, 1}, {256, 1}}, 1024);
  EXPECT_EQ(kept.shapes.size(), 3u);
  EXPECT_NEAR(kept.padding_share(), 0, 1e-15);
}

TEST(PaddedShapes, share_what_is_compiled_among_the_steps_of_a_run) {
  PaddedShapes padded = pad_to_buckets({{100, 1}, {300, 1}}, {256}, 512);
  padded.compile_s = 60;
  padded.run_steps = 1000;
  EXPECT_DOUBLE_EQ(padded.compile_s_per_step(), 2 * 60 / 1000.0);
}

// Of 200 random mixes: padding is 1 - sum of lengths / sum of buckets, more buckets never pad more, and
// shares add up to 1.
TEST(PaddedShapes, of_random_lengths_obey_the_closed_form) {
  const RandomStream random(1, RandomPurpose::kTest, 0);
  std::uint64_t drawn = 0;
  for (int mix = 0; mix < 200; ++mix) {
    std::vector<LengthBin> bins;
    for (int b = 0; b < 6; ++b)
      bins.push_back({std::floor(1 + random.uniform(drawn++) * 4096), 0.1 + random.uniform(drawn++)});
    const std::vector<int> few = {1024}, more = {256, 1024, 2048};
    double tokens = 0, computed = 0;
    for (const LengthBin& bin : bins) {
      tokens += bin.share * bin.tokens;
      computed += bin.share * (bin.tokens <= 1024 ? 1024 : 4096);
    }
    const PaddedShapes padded = pad_to_buckets(bins, few, 4096);
    EXPECT_NEAR(padded.padding_share(), 1 - tokens / computed, 1e-12);
    EXPECT_LE(pad_to_buckets(bins, more, 4096).padding_share(), padded.padding_share() + 1e-15);
    double shares = 0;
    for (const PaddedShape& shape : padded.shapes) shares += shape.share;
    EXPECT_NEAR(shares, 1, 1e-12);
  }
}

}  // namespace
}  // namespace podsim::padded_shapes_test
