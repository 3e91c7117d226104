// Inputs that no honest user writes: each fails fast with a message.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "engine/time_limits.h"
#include "tests/proto/scenario.h"

namespace podsim::hostile_test {
namespace {

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(HostileScenario, an_empty_file_says_where_to_start) {
  const Lines empty = {"1:1 the file is empty | start from scenarios/llama3_70b_512_h100.textproto"};
  EXPECT_EQ(problems_of(""), empty);
  EXPECT_EQ(problems_of(" \n\t\n# only a comment\n"), empty);
}

TEST(HostileScenario, binary_garbage_is_named_with_its_first_byte) {
  const std::string garbage("name: \"x\"\n\x01\xfe\x00\x7f", 14);
  EXPECT_EQ(problems_of(garbage), Lines{"2:1 this is not text: it has the byte 0x01 | a scenario is protobuf "
                                        "text format (name: \"...\"), JSON or "
                                        "binary protobuf"});
  EXPECT_EQ(problems_of("\xff\xfe\xfd"), Lines{"1:1 this byte belongs in quotes or in a comment"});
  EXPECT_EQ(problems_of(garbage, {}, "x.pb"), Lines{"x.pb this is not a binary Scenario | a scenario is "
                                                    "protobuf text format (name: \"...\"), JSON or binary "
                                                    "protobuf"});
}

TEST(HostileScenario, nesting_of_ten_thousand_blocks_is_refused) {
  const Lines unknown = problems_of(repeated("cluster {", 10'000));
  ASSERT_FALSE(unknown.empty());
  EXPECT_EQ(unknown.back(), "1:585 blocks are nested deeper than 64 levels");
  EXPECT_EQ(problems_of("cluster: " + repeated("[", 10'000)).size(), 1u);
  const Lines json = problems_of(repeated("{\"cluster\":", 10'000));
  EXPECT_EQ(json.back(), "1:705 blocks are nested deeper than 64 levels");
}

TEST(HostileScenario, a_billion_chips_are_refused) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 1000000000")),
            Lines{"4:3 cluster.chips must be from 1 to 16,777,216, not 1000000000"});
  EXPECT_EQ(problems_of(
                replaced(valid_but("chips: 512", "slice_shape: [1000, 1000, 1000]"), "dgx_h100", "v5p_pod")),
            Lines{"4:3 cluster.slice_shape has more than 1000000 chips"});
  EXPECT_EQ(problems_of(valid_but("size: 4 }", "size: 1000000 } mesh { name: \"more\" size: 1000000 }")),
            Lines{"10:3 the mesh fsdp 128 x tensor 1000000 x more 1000000 has too many devices, but the "
                  "cluster has 512 "
                  "chips | make the mesh as large as the cluster"});
}

TEST(HostileScenario, a_file_of_more_than_4_mib_is_refused) {
  EXPECT_EQ(problems_of(std::string(5 << 20, 'x')), Lines{"job.textproto the file is larger than 4 MiB"});
}

TEST(HostileScenario, long_lists_are_refused) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "slice_shape: [1" + repeated(",1", 1'000'000) + "]")),
            Lines{"4:3 cluster.slice_shape has 1000001 values, at most 512 are possible"});
  EXPECT_EQ(problems_of("job {" + repeated("mesh{}", 600'000) + "}"),
            Lines{"job.textproto the file has more than 100000 blocks"});
  EXPECT_EQ(
      problems_of(valid_but("size: 4 }", "size: 4 }" + repeated("mesh { name: \"a\" size: 1 }", 20))).front(),
      "10:3 a mesh has at most 16 axes, not 22");
}

TEST(HostileScenario, none_takes_minutes_even_under_sanitizers) {
  const auto begin = std::chrono::steady_clock::now();
  problems_of("adversity {" + repeated("slow_chip{}", 99'000) + "}");
  problems_of(valid_but("chips: 512", "chips: 999936") + "adversity {" +
              repeated("slow { which { kind: \"chip\" } speed_fraction: 0.5 compose: multiply }", 900) + "}");
  problems_of(repeated("chps:1 ", 590'000));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(HostileScenario, a_step_of_years_is_refused) {
  EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192", "sequence_tokens: 81920000")).size(), 1u);
  const Lines problems =
      problems_of(valid_but("global_batch_sequences: 512", "global_batch_sequences: 99999744"));
  EXPECT_EQ(problems, Lines{"14:3 a step of this job takes at least 12 days on this cluster | the longest "
                            "step that is simulated is one of " +
                            std::to_string(kLongestStepDays) + " days"});
}

TEST(ScenarioFile, that_cannot_be_read_is_a_problem) {
  EXPECT_EQ(problems_of(load_scenario_file("no/such/file.textproto", built_in(), {})),
            Lines{"no/such/file.textproto cannot read the file: No such file or directory"});
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(problems_of(load_scenario_file(folder, built_in(), {})),
            Lines{folder + " this is a directory, not a file"});
}

TEST(ScenarioFile, gives_the_scenario_its_name) {
  const std::string path = ::testing::TempDir() + "/my_question.textproto";
  std::ofstream(path) << valid_scenario();
  const auto result = load_scenario_file(path, built_in(), {});
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->name, "my_question");
}

}  // namespace
}  // namespace podsim::hostile_test
