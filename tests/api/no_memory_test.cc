// Where memory ends in the midst of a call: what the library gives is a value all the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "api/podsim/podsim.h"

namespace podsim::no_memory_test {
namespace {

// Of this thread; below 0: as many as there is memory for.
thread_local long allocations_left = -1;

void* allocated(std::size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;  // there is memory again, as where a large request fails
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace podsim::no_memory_test

[[gnu::noinline]] void* operator new(std::size_t size) { return podsim::no_memory_test::allocated(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return podsim::no_memory_test::allocated(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace podsim::no_memory_test {
namespace {

StepReport any_report() {
  const std::string path = PODSIM_SOURCE_DIR "/scenarios/qwen3_14b_8_h100.textproto";
  return *Scenario::load(path)->evaluate();
}

// What call(report) gives where the allocation after so many fails: of a report that nobody asked before.
template <class Call>
auto short_of_memory(long allocations, const Call& call) {
  const StepReport report = any_report();
  allocations_left = allocations;
  auto value = call(report);
  const bool failed = allocations_left < 0;
  allocations_left = -1;
  EXPECT_EQ(value.empty(), failed) << allocations << " allocations";
  EXPECT_EQ(call(report), call(any_report())) << "once there is memory again";
  return failed;
}

TEST(NoMemory, leaves_the_names_and_the_text_of_a_report_empty_and_throws_nothing) {
  const auto names = [](const StepReport& report) { return report.names(); };
  const auto json = [](const StepReport& report) { return report.render("json"); };
  const auto table = [](const StepReport& report) { return report.render("table"); };
  constexpr long kMore = 4;
  for (const long first : {0L, 1L, 7L})
    for (long allocations = first; short_of_memory(allocations, names);
         allocations = kMore * allocations + 1) {
    }
  for (long allocations = 0; short_of_memory(allocations, json); allocations = kMore * allocations + 1) {
  }
  for (long allocations = 0; short_of_memory(allocations, table); allocations = kMore * allocations + 1) {
  }
}

TEST(NoMemory, is_told_by_the_figures_whose_names_it_takes) {
  const StepReport report = any_report();
  allocations_left = 3;
  const Expected<Value> figure = report.figure("step_time_s");
  allocations_left = -1;
  ASSERT_FALSE(figure);
  EXPECT_EQ(figure.error().kind, Error::Kind::kInternal);
  EXPECT_EQ(figure.error().text(), "out of memory");
  EXPECT_TRUE(report.figure("step_time_s")) << "once there is memory again";
}

}  // namespace
}  // namespace podsim::no_memory_test
