// Chips that nobody sells: factors on those of the catalogue.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/proto/scenario.h"

namespace podsim::hypothetical_test {
namespace {

LoadResult with(const std::string& factors) {
  return load(valid_but("  chips: 512", "  chips: 512 hypothetical { " + factors + " }"));
}

Spec spec_with(const std::string& factors) {
  const LoadResult result = with(factors);
  EXPECT_EQ(problems_of(result), Lines{});
  EXPECT_TRUE(result.warnings.empty()) << format_problem(result.warnings.at(0));
  return result.spec.value_or(Spec{});
}

TEST(Hypothetical, factors_scale_what_they_name_and_nothing_else) {
  const Cluster plain = load(valid_scenario()).spec.value().cluster;
  Cluster expected = plain;
  expected.chip.name = "h100 with 2x matmul, 1.5x hbm, 3x hbm_capacity, 0.5x power";
  for (auto& [dtype, rate] : expected.chip.matmul) rate.peak = 2 * rate.peak;
  expected.chip.hbm = 1.5 * plain.chip.hbm;
  expected.chip.hbm_capacity = 3 * plain.chip.hbm_capacity;
  for (double* watts : {&expected.chip.power_idle_w, &expected.chip.power_busy_w}) *watts *= 0.5;
  expected.fabric.gpu->nvlink.bandwidth = 4 * plain.fabric.gpu->nvlink.bandwidth;
  expected.fabric.gpu->nic.bandwidth = 0.25 * plain.fabric.gpu->nic.bandwidth;
  const Cluster scaled =
      spec_with("matmul: 2 hbm: 1.5 hbm_capacity: 3 power: 0.5 scale_up: 4 scale_out: 0.25 price: 1.5")
          .cluster;
  EXPECT_EQ(scaled.chip, expected.chip);
  EXPECT_EQ(scaled.fabric.gpu, expected.fabric.gpu);
  EXPECT_EQ(scaled.price.usd_per_chip_hour, 1.5 * plain.price.usd_per_chip_hour);
  EXPECT_EQ(scaled.price.high_usd_per_chip_hour, 1.5 * plain.price.high_usd_per_chip_hour);
}

TEST(Hypothetical, links_and_price_leave_the_chip_its_name) {
  EXPECT_EQ(spec_with("scale_out: 2 price: 2").cluster.chip.name, "h100");
}

TEST(Hypothetical, factors_of_a_chip_go_by_any_of_its_names) {
  EXPECT_EQ(spec_with("chip: \"H100-SXM\" hbm: 2").cluster.chip.name, "h100 with 2x hbm");
}

TEST(Hypothetical, factors_of_another_chip_change_nothing_and_say_so) {
  const LoadResult result = with("chip: \"h200\" hbm: 2 price: 2");
  ASSERT_TRUE(result.spec);
  const Cluster plain = load(valid_scenario()).spec.value().cluster;
  EXPECT_EQ(result.spec->cluster.chip, plain.chip);
  EXPECT_EQ(result.spec->cluster.price.usd_per_chip_hour, plain.price.usd_per_chip_hour);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].message.find("the cluster is of h100"), std::string::npos);
}

TEST(Hypothetical, an_unknown_chip_is_told_with_the_nearest) {
  const Lines problems = problems_of(with("chip: \"h100_sxm9\" hbm: 2"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("the catalogue has no chip \"h100_sxm9\""), std::string::npos) << problems[0];
}

TEST(Hypothetical, a_factor_on_links_that_nothing_crosses_is_told) {
  const LoadResult result = load(replaced(
      valid_but("  chips: 512", "  chips: 8 hypothetical { scale_out: 2 }"), "size: 128", "size: 2"));
  const auto told = std::any_of(result.warnings.begin(), result.warnings.end(), [](const Problem& warning) {
    return warning.message.find("no transfer leaves the NVLink domain") != std::string::npos;
  });
  EXPECT_TRUE(told) << (result.problems.empty() ? "" : format_problem(result.problems[0]));
}

}  // namespace
}  // namespace podsim::hypothetical_test
