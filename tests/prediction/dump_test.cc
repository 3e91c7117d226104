// Rules of --dump: every stage of the line can be read.
#include "prediction/dump.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"

namespace podsim::dump_test {
namespace {

std::string dump_of(const std::string& stage) {
  PredictOptions options;
  options.dump = stage;
  return predict_step(testing::load("one_slow_chip_512"), options).dump;
}

TEST(Dump, every_stage_has_text) {
  for (const std::string& stage : dump_stages()) EXPECT_GT(dump_of(stage).size(), 100u) << stage;
}

TEST(Dump, the_system_names_the_slow_chip_as_a_class_of_its_own) {
  EXPECT_NE(dump_of("system").find("chip     137 stands for      1, stage 2, speed 0.8"), std::string::npos);
}

TEST(Dump, the_placement_has_a_line_per_device) {
  std::string text = dump_of("placement");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 513);
}

TEST(Dump, the_schedule_has_a_row_per_stage_to_scale_and_its_passes_in_order) {
  PredictOptions options;
  options.dump = "schedule";
  const std::string text = predict_step(testing::load("zero_bubble_70b_256_h100"), options).dump;
  const std::size_t first = text.find("\n  0 |.F0--"), row = first + 7;
  ASSERT_NE(first, std::string::npos) << "the first microbatch is waited for as good as not at all\n" << text;
  const std::size_t second = text.find("F1", row) - row, third = text.find("F2", row) - row;
  EXPECT_EQ(text.substr(row, second), "F0" + std::string(second - 2, '-')) << "forward passes follow at once";
  EXPECT_NEAR(third - second, second, 1) << "passes of equal length";
  EXPECT_NE(text.find("\n  7 |....."), std::string::npos) << "the last stage waits for the first microbatch";
  EXPECT_NE(text.find("holds 8 forward passes at most\n  F0 B0 F1 B1"), std::string::npos);
  EXPECT_NE(text.find(" W22 W23\n"), std::string::npos);
  std::size_t width = 0, begin = text.find('\n') + 1;
  for (int stage = 0; stage < 8; ++stage) {
    const std::size_t end = text.find('\n', begin);
    if (stage == 0) width = end - begin;
    EXPECT_EQ(end - begin, width);
    begin = end + 1;
  }
  EXPECT_LE(width, 170u);
}

TEST(Dump, shares_of_a_schedule_are_of_all_steps_that_count) {
  PredictOptions options;
  options.dump = "schedule";
  const std::string text = predict_step(testing::load("two_jobs_oversubscribed"), options).dump;
  EXPECT_NE(text.find("# two_jobs_oversubscribed/gpt20b\n"), std::string::npos);
  int stages = 0;
  const std::string word = "computes ";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1), ++stages) {
    const double share = std::stod(text.substr(at + word.size()));
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 100);
  }
  EXPECT_EQ(stages, 4 + 2);
}

TEST(Dump, no_stage_means_no_text) { EXPECT_EQ(dump_of(""), ""); }

TEST(Dump, a_schedule_does_not_draw_waiting_for_input_as_computing) {
  const Spec spec = testing::load_text(testing::kInputBoundPipeline);
  PredictOptions options;
  options.dump = "schedule";
  const Prediction prediction = predict_step(spec, options);
  EXPECT_EQ(prediction.report.optimizer, Time{});
  EXPECT_NEAR(prediction.report.input_stall.in_seconds(), 0.07, 0.005);
  const std::string row = prediction.dump.substr(prediction.dump.find("\n  0 |"));
  EXPECT_NE(row.substr(0, row.find('\n', 1)).find(std::string(80, '.')), std::string::npos) << row;
}

}  // namespace
}  // namespace podsim::dump_test
