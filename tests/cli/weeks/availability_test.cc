// podsim availability, as a user runs it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::availability_test {
namespace {

using nlohmann::json;

const std::string kSlices = "scenarios/reliability/v4_pod_slices.textproto";
const std::string kWeek = "scenarios/reliability/week_on_256_chips.textproto";

TEST(AvailabilityVerb, the_table_has_each_slice_size_and_what_a_free_choice_is_worth) {
  const CommandResult result = podsim_command("availability " + kSlices);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"4,096 chips, 64 cubes of 16 hosts", "closed form", "99.0%", "any_cubes",
                           "static_partitions", "A free choice is worth most for slices of"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

TEST(AvailabilityVerb, json_has_the_pod_and_a_row_for_each_combination) {
  const json out = json::parse(podsim_command("availability --format json " + kSlices).out);
  EXPECT_EQ(out["method"], "closed_form");
  EXPECT_EQ(out["pod"]["hosts"], 1024);
  ASSERT_EQ(out["slices"].size(), 48u);
  EXPECT_EQ(out["slices"][2]["slice_chips"], 256);
  EXPECT_NEAR(out["slices"][2]["goodput"].get<double>(), 0.828, 5e-4);
  EXPECT_FALSE(out["slices"][2].contains("goodput_standard_error"));
}

TEST(AvailabilityVerb, simulated_figures_come_with_their_standard_errors) {
  const json out =
      json::parse(podsim_command("availability --format json --set availability.method=simulate --set "
                                 "availability.draws=2000 --seed 5 " +
                                 kSlices)
                      .out);
  EXPECT_EQ(out["draws"], 2000);
  EXPECT_EQ(out["seed"], 5);
  EXPECT_GT(out["slices"][2]["goodput_standard_error"], 0);
}

TEST(AvailabilityVerb, a_job_has_its_wait_and_finish) {
  const json out = json::parse(podsim_command("availability --format json " + kWeek).out);
  for (const json& row : out["slices"])
    EXPECT_GE(row["job"]["finish_h"].get<double>(), 168 + row["job"]["wait_h"].get<double>());
  EXPECT_NE(podsim_command("availability " + kWeek).out.find("no restart"), std::string::npos);
}

TEST(AvailabilityVerb, bad_input_is_told_with_its_place) {
  const std::string file = temporary_file(
      "bad.textproto",
      "cluster { fabric: \"v4_pod\" }\navailability { slice_chips: 100 host_availability: 0.9 }\n");
  const CommandResult result = podsim_command("availability " + file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("bad.textproto:2:16: any_cubes cannot make slices of 100 chips"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace podsim::availability_test
