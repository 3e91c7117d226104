// Settings of a launcher's configuration that are nearly those that are meant, and those that nobody knows.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::misspelt_settings_test {
namespace {

using testing::answer_of;
using testing::chips;

TEST(LauncherSettings, refuse_a_setting_that_is_another_but_for_one_letter) {
  for (const auto& [settings, meant] : {
           std::pair(R"({"train_batch_size": 8, "train_micro_batch_size_per_gpv": 2})",
                     "train_micro_batch_size_per_gpu"),
           std::pair(R"({"train_batch_size": 8, "zero_optimization": {"stge": 3}})",
                     "zero_optimization.stage"),
           std::pair(R"({"train_batch_size": 8, "zero_optimization": {"staage": 3}})",
                     "zero_optimization.stage"),
           std::pair(R"({"train_batch_size": 8, "zero_optimization": {"satge": 3}})",
                     "zero_optimization.stage"),
       }) {
    const testing::LauncherAnswer answer = answer_of(import_deepspeed, settings);
    ASSERT_EQ(answer.problems.size(), 1u) << settings;
    EXPECT_NE(answer.problems[0].find("did you mean " + std::string(meant) + "?"), std::string::npos)
        << answer.problems[0];
  }
}

TEST(LauncherSettings, count_what_a_part_of_deepspeed_does_not_know_as_unknown) {
  const testing::LauncherAnswer answer = answer_of(
      import_deepspeed,
      R"({"train_batch_size": 8, "zero_optimization": {"stage": 1, "sharding": 3, "sub_group_size": 1e9}})",
      chips(8));
  ASSERT_TRUE(answer.problems.empty());
  EXPECT_NE(answer.imported.text.find("zero_optimization.sharding"), std::string::npos)
      << answer.imported.text;
  EXPECT_EQ(answer.imported.text.find("zero_optimization.sub_group_size"), std::string::npos)
      << answer.imported.text;
}

}  // namespace
}  // namespace podsim::misspelt_settings_test
