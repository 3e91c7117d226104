// Jobs that do not fit in memory: no verb answers for them as if they ran.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/cli/command.h"

namespace podsim::memory_fit_test {
namespace {

const std::string kFull =
    " --set job.global_batch_sequences=256 --set job.microbatch_sequences=16 --set job.recompute=none";

std::string weeks() {
  return temporary_file(
      "weeks.textproto",
      read_file(small_scenario()) +
          "reliability { target_tokens: 1e9 failures: \"rsc1\" checkpoint { save_s: 30 } }\n");
}

std::string full() {
  std::string text = read_file(small_scenario());
  for (const auto& [from, to] : {std::pair("global_batch_sequences: 32", "global_batch_sequences: 256"),
                                 std::pair("microbatch_sequences: 1", "microbatch_sequences: 16"),
                                 std::pair("recompute: full", "recompute: none")}) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
  }
  return temporary_file("full.textproto", text);
}

TEST(MemoryFit, what_does_not_fit_ends_with_2_in_every_verb) {
  const std::string job = small_scenario();
  for (const std::string& command : {"run " + job, "own " + job, "fleet " + job + " --tokens 1e9",
                                     "scale --chips 16,32 " + job, "reliability " + weeks() + " --seeds 3",
                                     "compare " + job + " " + job, "whatif --slow chip:1=0.9x " + job}) {
    EXPECT_EQ(podsim_command(command).exit_code, 0) << command;
    const CommandResult result = podsim_command(command + kFull);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_NE((result.out + result.err).find("fit"), std::string::npos) << command << result.err;
  }
  const std::string none = full();
  for (const std::string& command :
       {"sensitivity " + none + " --vary cluster.usd_per_chip_hour=1..4",
        "breakeven " + none + " " + none + " --over cluster.usd_per_chip_hour=1..4"}) {
    const CommandResult result = podsim_command(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_NE(result.err.find("does not fit in the memory"), std::string::npos) << command << result.err;
  }
}

TEST(MemoryFit, of_two_one_that_does_not_fit_is_told_beside_the_other) {
  const std::string job = small_scenario(), none = full();
  for (const std::string& command :
       {"compare " + job + " " + none, "sensitivity " + job + " " + none + " --vary cluster.usd_per_kwh=1..4",
        "sensitivity " + job + " --vary job.sequence_tokens=4096..524288"}) {
    const CommandResult result = podsim_command(command);
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
    EXPECT_NE(result.err.find("does not fit in the memory"), std::string::npos) << command << result.err;
  }
}

}  // namespace
}  // namespace podsim::memory_fit_test
