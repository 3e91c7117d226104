// Loops whose iterations run side by side.
#include "engine/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace podsim::parallel_for_test {
namespace {

TEST(ParallelFor, every_iteration_runs_once_on_any_number_of_threads) {
  for (const int threads : {0, 1, 2, 3, 64}) {
    for (const std::size_t count : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const std::atomic<int>& each : calls) EXPECT_EQ(each, 1) << threads << " threads, " << count;
    }
  }
}

TEST(ParallelFor, iterations_run_at_the_same_time) {
  // Each waits until all have begun, which never happens one after another.
  std::atomic<int> begun = 0;
  parallel_for(4, 4, [&](std::size_t) {
    ++begun;
    while (begun < 4) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 4);
}

TEST(ParallelFor, one_thread_is_the_caller_s) {
  std::thread::id used;
  parallel_for(1, 8, [&](std::size_t) { used = std::this_thread::get_id(); });
  EXPECT_EQ(used, std::this_thread::get_id());
}

TEST(ParallelFor, an_iteration_may_wait_for_those_before_it) {
  std::atomic<std::size_t> turn = 0;
  std::vector<std::size_t> order;
  parallel_for(100, 3, [&](std::size_t i) {
    while (turn != i) std::this_thread::yield();
    order.push_back(i);
    ++turn;
  });
  ASSERT_EQ(order.size(), 100u);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

TEST(ParallelFor, the_first_failure_in_order_is_thrown_when_all_have_run) {
  for (const int threads : {1, 4}) {
    std::atomic<int> runs = 0;
    try {
      parallel_for(20, threads, [&](std::size_t i) {
        ++runs;
        if (i % 7 == 5) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& failure) {
      EXPECT_STREQ(failure.what(), "5");
    }
    EXPECT_EQ(runs, 20);
  }
}

}  // namespace
}  // namespace podsim::parallel_for_test
