// Several seeds on the command line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::seeds_test {
namespace {

using nlohmann::json;

TEST(SeedsOption, draws_of_seeds_do_not_depend_on_the_number_of_threads) {
  const std::string run =
      "run --format json --seeds 30 --set adversity.jitter_coefficient_of_variation=0.1 "
      "scenarios/custom_mlp_8_h100.textproto scenarios/dlrm_8_h100.textproto --threads ";
  const std::string one = podsim_command(run + "1").out;
  EXPECT_EQ(json::parse(one)[1]["ensemble"]["seeds"], 30);
  for (const std::string threads : {"2", "5"}) EXPECT_EQ(podsim_command(run + threads).out, one);
}

TEST(SeedsOption, seeds_without_chance_are_told_and_run_once) {
  const CommandResult result = podsim_command("run --format csv --seeds 30 " + small_scenario());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("seeds has no effect"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, podsim_command("run --format csv " + small_scenario()).out);
}

TEST(SeedsOption, intervals_are_shown_where_scenarios_and_sizes_are_compared) {
  const std::string options = " --seeds 10 --set adversity.jitter_coefficient_of_variation=0.1";
  const CommandResult compared = podsim_command(
      "compare scenarios/custom_mlp_8_h100.textproto scenarios/dlrm_8_h100.textproto" + options);
  EXPECT_NE(compared.out.find("95 % confidence, s"), std::string::npos) << compared.err;
  const CommandResult scaled =
      podsim_command("scale scenarios/dlrm_64_h100.textproto --chips 8,16" + options);
  EXPECT_NE(scaled.out.find("step s, 95 % confidence"), std::string::npos) << scaled.err;
}

}  // namespace
}  // namespace podsim::seeds_test
