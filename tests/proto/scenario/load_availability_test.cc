// Questions about availability: what the parts of a pod are, and what the user is told.
#include "proto/scenario/load_availability.h"

#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::load_availability_test {
namespace {

LoadAvailabilityResult ask(const std::string& text, const std::vector<Override>& overrides = {}) {
  return load_availability("pod.textproto", text, built_in(), overrides);
}

std::string of_v4(const std::string& availability) {
  return "cluster { fabric: \"v4_pod\" }\navailability {\n" + availability + "\n}\n";
}

std::string of_gpus(const std::string& availability) {
  return "cluster { fabric: \"dgx_h100\" chips: 1024 }\navailability {\n" + availability + "\n}\n";
}

// "line:column message | hint" of each.
Lines told(const std::string& text) {
  LoadResult result;
  result.problems = ask(text).problems;
  return problems_of(result);
}

const std::string kSlices = "slice_chips: 256 host_availability: 0.99";

TEST(LoadAvailability, takes_the_whole_pod_and_its_hosts_from_the_catalogue) {
  const auto question = ask(of_v4(kSlices)).question;
  ASSERT_TRUE(question.has_value());
  EXPECT_EQ(question->name, "pod");
  EXPECT_EQ(question->pod.chips(), 4096);
  EXPECT_EQ(question->pod.hosts(), 1024);
  EXPECT_EQ(question->policies, (std::vector{SlicePolicy::kAnyCubes, SlicePolicy::kStaticPartitions}));
  EXPECT_FALSE(question->simulate);
}

TEST(LoadAvailability, takes_the_chips_of_a_cluster_and_any_of_its_nodes) {
  const auto question = ask(of_gpus(kSlices)).question;
  ASSERT_TRUE(question.has_value());
  EXPECT_EQ(question->pod.hosts(), 128);
  EXPECT_EQ(question->policies, (std::vector{SlicePolicy::kAnyNodes}));
}

TEST(LoadAvailability, takes_the_dimensions_of_a_pod_and_says_of_none_that_it_has_no_effect) {
  const std::string flat =
      "cluster { fabric: \"v4_pod\" chips: 64 fabric_override { torus { dimensions: 2 } } }\n"
      "availability { slice_chips: 16 host_availability: 0.99 }\n";
  const LoadAvailabilityResult result = ask(flat);
  ASSERT_TRUE(result.question.has_value());
  EXPECT_EQ(result.question->pod.blocks, 4) << "squares of 16 chips";
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front().message;
}

TEST(LoadAvailability, refuses_a_pod_of_more_chips_than_there_may_be) {
  EXPECT_EQ(
      told("cluster { fabric: \"v4_pod\"\n fabric_override { torus { cube: 64 pod_cubes: 1000000 } } }\n"
           "availability { " +
           kSlices + " }"),
      Lines{"2:2 a pod of 262144000000 chips is more than the 16777216 that there may be"});
}

TEST(LoadAvailability, cuts_a_pod_without_switches_into_static_partitions) {
  const auto question = ask("cluster { fabric: \"v5e_pod\" }\navailability { " + kSlices + " }").question;
  ASSERT_TRUE(question.has_value());
  EXPECT_EQ(question->pod.hosts(), 32);
  EXPECT_EQ(question->policies, (std::vector{SlicePolicy::kStaticPartitions}));
}

TEST(LoadAvailability, takes_fields_that_the_command_line_sets) {
  const auto question =
      ask(of_v4(kSlices), {{"availability.method", "simulate"}, {"availability.draws", "500"}, {"seed", "9"}})
          .question;
  ASSERT_TRUE(question.has_value());
  EXPECT_TRUE(question->simulate);
  EXPECT_EQ(question->draws, 500);
  EXPECT_EQ(question->seed, 9u);
}

TEST(LoadAvailability, needs_slices_and_hosts) {
  EXPECT_EQ(told("cluster { fabric: \"v4_pod\" }\navailability { }\n"),
            (Lines{"2:1 availability.slice_chips is missing | write, for example, slice_chips: 256",
                   "2:1 availability.host_availability is missing | write, for example, host_availability: "
                   "0.999"}));
  EXPECT_EQ(told("cluster { fabric: \"v4_pod\" }\n"),
            Lines{"1:1 availability is missing | write, for example, availability { slice_chips: 256 "
                  "host_availability: 0.999 }"});
}

TEST(LoadAvailability, tells_shares_that_were_meant_as_percent) {
  EXPECT_EQ(told(of_v4("slice_chips: 256 host_availability: 99")),
            Lines{"3:18 availability.host_availability[0] must be from 0.001 to 1, not 99 | a share: 99 % is "
                  "0.99"});
}

TEST(LoadAvailability, names_the_nearest_field_policy_and_fabric) {
  EXPECT_EQ(told(of_v4(kSlices + "\npolicy: any_cube")).size(), 1u);
  EXPECT_NE(told(of_v4(kSlices + "\npolicy: any_cube"))[0].find("did you mean any_cubes?"),
            std::string::npos);
  EXPECT_NE(told(of_v4(kSlices + "\nocs_availabilty: 0.9"))[0].find("did you mean \"ocs_availability\"?"),
            std::string::npos);
  EXPECT_NE(told("cluster { fabric: \"v4_pot\" }\navailability { " + kSlices + " }")[0].find("\"v4_pod\""),
            std::string::npos);
}

TEST(LoadAvailability, refuses_slices_that_the_policy_cannot_make_where_they_stand) {
  EXPECT_EQ(told(of_v4("slice_chips: [256, 96] host_availability: 0.99")),
            Lines{"3:1 any_cubes cannot make slices of 96 chips: a slice is made of whole cubes of 64 chips, "
                  "or is a piece that tiles one"});
  EXPECT_EQ(told(of_v4(kSlices + "\npolicy: any_nodes")).size(), 1u);
}

TEST(LoadAvailability, refuses_parts_that_the_cluster_does_not_have) {
  EXPECT_EQ(told(of_gpus(kSlices + "\nocs_availability: 0.999")),
            Lines{"4:1 availability.ocs_availability is of cubes that optical circuit switches join, and "
                  "dgx_h100 has none | leave it out"});
}

TEST(LoadAvailability, refuses_chips_that_are_not_whole_blocks) {
  EXPECT_EQ(told("cluster { fabric: \"dgx_h100\" chips: 1001 }\navailability { " + kSlices + " }"),
            Lines{"1:30 1001 chips are not a whole number of NVLink domains of 8 chips"});
  EXPECT_EQ(told("cluster { fabric: \"dgx_h100\" }\navailability { " + kSlices + " }"),
            Lines{"1:1 cluster.chips is missing | write, for example, chips: 512"});
}

TEST(LoadAvailability, refuses_draws_of_a_closed_form) {
  EXPECT_EQ(
      told(of_v4(kSlices + "\ndraws: 100")),
      Lines{"4:1 availability.draws has no effect on a closed form | write method: simulate, or leave it "
            "out"});
}

TEST(LoadAvailability, refuses_a_job_that_would_be_simulated_for_ever) {
  const Lines lines =
      told(of_v4("slice_chips: 4096 host_availability: 0.99 method: simulate\n"
                 "job { length_h: 168 repair_h: 24 }"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].rfind("4:1 availability.job would be simulated in ", 0), 0u) << lines[0];
}

TEST(LoadAvailability, refuses_a_job_without_length_or_repair) {
  EXPECT_EQ(told(of_v4(kSlices + "\njob { }")),
            (Lines{"4:1 availability.job.length_h is missing | write, for example, length_h: 168",
                   "4:1 availability.job.repair_h is missing | write, for example, repair_h: 24"}));
}

TEST(LoadAvailability, says_that_its_scenarios_have_no_job_to_run) {
  const Lines lines = problems_of(
      load("cluster { fabric: \"v4_pod\" chip: \"tpu_v4\" chips: 4096 }\navailability { " + kSlices + " }"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("podsim availability answers what the scenario asks"), std::string::npos)
      << lines[0];
}

}  // namespace
}  // namespace podsim::load_availability_test
