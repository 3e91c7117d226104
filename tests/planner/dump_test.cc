// Rules of --dump: every stage of the line can be read.
#include "planner/dump.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/predict.h"
#include "tests/planner/scenario.h"

namespace podsim {
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

TEST(Dump, no_stage_means_no_text) { EXPECT_EQ(dump_of(""), ""); }

}  // namespace
}  // namespace podsim
