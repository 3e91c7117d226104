// A number for each different value.
#include "engine/distinct_values.h"

#include <gtest/gtest.h>

#include <string>

namespace podsim::distinct_values_test {
namespace {

TEST(DistinctValues, are_numbered_in_the_order_in_which_they_first_come) {
  DistinctValues<std::string> values;
  EXPECT_EQ(values.of("b"), 0u);
  EXPECT_EQ(values.of("a"), 1u);
  EXPECT_EQ(values.of("b"), 0u);
  EXPECT_EQ(values.of("c"), 2u);
  EXPECT_EQ(values.count(), 3u);
}

}  // namespace
}  // namespace podsim::distinct_values_test
