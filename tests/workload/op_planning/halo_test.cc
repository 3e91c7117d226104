// Halos of windows over shards: figures worked out by hand, and every window against plain enumeration.
#include "workload/op_planning/halo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/random.h"

namespace podsim::halo_test {
namespace {

using Hops = std::vector<HaloHop>;

Window window(std::int64_t input, std::int64_t size, std::int64_t stride = 1, std::int64_t pad_low = 0) {
  Window w;
  w.input = input;
  w.size = size;
  w.stride = stride;
  w.pad_low = pad_low;
  return w;
}

TEST(Halo, a_window_as_wide_as_its_stride_needs_none) {
  EXPECT_EQ(halo_hops(window(8, 2, 2), 4, 2), Hops{});
  EXPECT_EQ(halo_hops(window(8, 1), 8, 4), Hops{});
}

// ResNet's first layer: 7 taps, stride 2, padding 3 on 224 rows.
TEST(Halo, a_strided_convolution_reads_its_padding_left_and_the_rest_right) {
  EXPECT_EQ(halo_hops(window(224, 7, 2, 3), 112, 2), (Hops{{-1, 3}, {1, 2}}));
}

TEST(Halo, base_dilation_that_puts_every_read_on_own_rows_needs_none) {
  Window w = window(7, 3, 4, 1);
  w.base_dilation = 2;
  EXPECT_EQ(halo_hops(w, 4, 2), Hops{});
}

TEST(Halo, padding_at_the_end_moves_the_boundary_of_uneven_shards) {
  EXPECT_EQ(halo_hops(window(257, 1), 259, 2), (Hops{{1, 1}}));
}

TEST(Halo, wide_padding_takes_several_hops) {
  EXPECT_EQ(halo_hops(window(257, 1), 2257, 4), (Hops{{1, 65}, {2, 65}, {3, 62}}));
}

TEST(Halo, a_slice_far_away_comes_in_one_hop_from_where_it_lies) {
  EXPECT_EQ(halo_hops(window(4, 1, 1, -3), 1, 4), (Hops{{3, 1}}));
}

TEST(Halo, a_shift_by_a_whole_shard_is_one_hop) {
  EXPECT_EQ(halo_hops(window(4, 1, 1, 1), 4, 4), (Hops{{-1, 1}}));
}

TEST(Halo, beyond_the_farthest_neighbour_there_is_none) {
  EXPECT_FALSE(halo_hops(window(1000, 1), 100'000, 100).has_value());
  EXPECT_TRUE(halo_hops(window(1000, 1), 2'000, 100).has_value());
}

// The gradient of a 7x7 filter with stride 2: 112 taps of dilation 2 over 224 rows give 7 outputs.
TEST(Halo, taps_and_inputs_can_be_cut_instead_of_outputs) {
  Window w = window(224, 112, 1, 3);
  w.dilation = 2;
  EXPECT_EQ(halo_hops(read_by_taps(w, 7), 112, 2), (Hops{{-1, 3}, {1, 2}}));
  EXPECT_EQ(halo_hops(read_by_inputs(w, 7), 224, 2), (Hops{{-1, 1}, {1, 2}}));
}

class Draws {
 public:
  explicit Draws(std::uint64_t input) : input_(input) {}
  std::int64_t from_to(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(random_bits(7, RandomPurpose::kTest, input_, next_++) %
                                             static_cast<std::uint64_t>(last - first + 1));
  }

 private:
  std::uint64_t input_, next_ = 0;
};

Window random_window(Draws& draws) {
  Window w = window(draws.from_to(1, 40), draws.from_to(1, 7), draws.from_to(1, 5), draws.from_to(-12, 12));
  w.dilation = draws.from_to(1, 4);
  w.base_dilation = draws.from_to(1, 4);
  return w;
}

std::set<std::int64_t> enumerate(const Window& w, IndexRange outputs) {
  std::set<std::int64_t> read;
  for (std::int64_t o = outputs.first; o < outputs.end; ++o) {
    for (std::int64_t tap = 0; tap < w.size; ++tap) {
      const std::int64_t position = o * w.stride + tap * w.dilation - w.pad_low;
      if (position >= 0 && position % w.base_dilation == 0 && position / w.base_dilation < w.input)
        read.insert(position / w.base_dilation);
    }
  }
  return read;
}

TEST(Halo, every_window_reads_what_enumeration_finds) {
  for (std::uint64_t input = 0; input < 20'000; ++input) {
    Draws draws(input);
    const Window w = random_window(draws);
    const std::int64_t first = draws.from_to(0, 20);
    const IndexRange outputs{first, first + draws.from_to(1, 20)};
    const std::set<std::int64_t> expected = enumerate(w, outputs);
    const IndexRange read = inputs_read(w, outputs);
    ASSERT_EQ(read.empty(), expected.empty()) << "input " << input;
    if (expected.empty()) continue;
    ASSERT_EQ(read.first, *expected.begin()) << "input " << input;
    ASSERT_EQ(read.end, *expected.rbegin() + 1) << "input " << input;
  }
}

TEST(Halo, the_same_products_are_met_from_every_side) {
  for (std::uint64_t input = 0; input < 5'000; ++input) {
    Draws draws(input);
    const Window w = random_window(draws);
    const std::int64_t outputs = draws.from_to(1, 12), tap = draws.from_to(0, w.size - 1);
    std::set<std::int64_t> met;
    for (std::int64_t i = 0; i < w.input; ++i) {
      if (enumerate(read_by_inputs(w, outputs), {i, i + 1}).count(tap) > 0) met.insert(i);
    }
    ASSERT_EQ(met, enumerate(read_by_taps(w, outputs), {tap, tap + 1})) << "input " << input;
  }
}

TEST(Halo, hops_bring_every_shard_all_it_reads_and_no_row_too_many) {
  for (std::uint64_t input = 0; input < 5'000; ++input) {
    Draws draws(input);
    const Window w = random_window(draws);
    const std::int64_t outputs = draws.from_to(1, 40);
    const int shards = static_cast<int>(draws.from_to(2, 6));
    const auto hops = halo_hops(w, outputs, shards);
    ASSERT_TRUE(hops.has_value());
    const std::int64_t rows = (outputs + shards - 1) / shards, own = (w.input + shards - 1) / shards;
    std::vector<HaloHop> needed;
    for (int distance = 1 - shards; distance < shards; ++distance) {
      std::int64_t widest = 0;
      for (int shard = 0; distance != 0 && shard < shards; ++shard) {
        const auto read = enumerate(w, {shard * rows, std::min((shard + 1) * rows, outputs)});
        if (read.empty()) continue;
        const std::int64_t from = (shard + distance) * own;
        widest = std::max(widest, std::min(*read.rbegin() + 1, from + own) - std::max(*read.begin(), from));
      }
      if (widest > 0) needed.push_back({distance, widest});
    }
    std::vector<HaloHop> sorted = *hops;
    std::sort(sorted.begin(), sorted.end(),
              [](const HaloHop& a, const HaloHop& b) { return a.distance < b.distance; });
    ASSERT_EQ(sorted, needed) << "input " << input;
  }
}

}  // namespace
}  // namespace podsim::halo_test
