// podsim init: a scenario that the other verbs take as it is.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/command.h"

namespace podsim::init_test {
namespace {

TEST(InitVerb, what_it_writes_is_valid_fits_and_runs) {
  const std::string file = temporary_file("first.textproto", "");
  std::filesystem::remove(file);
  const CommandResult written = podsim_command("init --model llama3_8b --chip h100 --chips 16 --out " + file);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_NE(written.out.find("Now: podsim run " + file), std::string::npos) << written.out;
  EXPECT_NE(read_file(file).find("# podsim catalog models"), std::string::npos);
  const CommandResult checked = podsim_command("check " + file);
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(checked.err, "");
  const CommandResult run = podsim_command("run " + file);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
}

TEST(InitVerb, takes_batch_sequence_fabric_and_stack) {
  const CommandResult result = podsim_command(
      "init --model llama3_8b --chip h100 --chips 8 --batch 24 --sequence-tokens 2048 --stack torchtitan "
      "--fabric dgx_h100_roce");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* line : {"global_batch_sequences: 24 ", "sequence_tokens: 2048\n", "stack: \"torchtitan\" ",
                           "fabric: \"dgx_h100_roce\" "})
    EXPECT_NE(result.out.find(line), std::string::npos) << line << result.out;
}

TEST(InitVerb, where_nothing_fits_it_says_what_is_missing_and_what_would_do) {
  const CommandResult result = podsim_command("init --model llama3_70b --chip h100 --chips 2");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("llama3_70b does not fit on 2 h100: the layout that comes nearest needs "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find(" chips would do"), std::string::npos) << result.err;
}

TEST(InitVerb, unknown_names_are_told_with_the_nearest) {
  EXPECT_NE(
      podsim_command("init --model llama3_8 --chip h100 --chips 8").err.find("did you mean \"llama3_8b\"?"),
      std::string::npos);
  const CommandResult chip = podsim_command("init --model llama3_8b --chip gizmo --chips 8");
  EXPECT_EQ(chip.exit_code, 2);
  EXPECT_NE(chip.err.find("the catalogue has no chip \"gizmo\"; it has: a100_40"), std::string::npos)
      << chip.err;
}

TEST(InitVerb, overwrites_nothing) {
  const std::string file = temporary_file("mine.textproto", "keep");
  EXPECT_EQ(podsim_command("init --model llama3_8b --chip h100 --chips 16 --out " + file).exit_code, 2);
  EXPECT_EQ(read_file(file), "keep");
}

}  // namespace
}  // namespace podsim::init_test
