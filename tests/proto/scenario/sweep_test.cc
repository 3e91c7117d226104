// --set with several values: which commas separate them, and all their combinations.
#include "proto/scenario/sweep.h"

#include <gtest/gtest.h>

namespace podsim::sweep_test {
namespace {

std::vector<std::string> values(const std::string& path, const std::string& text) {
  std::vector<std::string> found;
  const Sweep sweep = sweep_of({{path, text}}).value();
  for (const SweepPoint& point : sweep.points) found.push_back(point.overrides[0].value);
  return found;
}
using Values = std::vector<std::string>;

TEST(Sweep, commas_separate_numbers_names_and_truth) {
  EXPECT_EQ(values("job.microbatch_sequences", "1, 2,4"), (Values{"1", "2", "4"}));
  EXPECT_EQ(values("job.mesh.tensor.size", "4,rest"), (Values{"4", "rest"}));
  EXPECT_EQ(values("job.mesh[1].size", "4,8"), (Values{"4", "8"}));
  EXPECT_EQ(values("adversity.slow_chip[0].speed_fraction", "0.9,0.5"), (Values{"0.9", "0.5"}));
  EXPECT_EQ(values("job.model", "llama3_8b,llama3_70b"), (Values{"llama3_8b", "llama3_70b"}));
  EXPECT_EQ(values("job.recompute", "none,full"), (Values{"none", "full"}));
  EXPECT_EQ(values("job.offload_optimizer", "true,false"), (Values{"true", "false"}));
}

TEST(Sweep, a_text_of_more_than_words_is_one_value) {
  EXPECT_EQ(values("question", "How long, and why?"), Values{"How long, and why?"});
  EXPECT_EQ(values("job.annotation[0].sharding", "[{data},{?},{}]"), Values{"[{data},{?},{}]"});
}

TEST(Sweep, a_list_is_one_value_and_lists_in_brackets_are_several) {
  EXPECT_EQ(values("job.sharding", "data,zero1"), Values{"data,zero1"});
  EXPECT_EQ(values("cluster.slice_shape", "[8,8,4]"), Values{"[8,8,4]"});
  EXPECT_EQ(values("job.sharding", "[data,zero1],[fsdp]"), (Values{"[data,zero1]", "[fsdp]"}));
}

TEST(Sweep, a_path_that_is_wrong_has_one_value) {
  EXPECT_EQ(values("job.gizmo", "1,2"), Values{"1,2"});
  EXPECT_EQ(values("job", "1,2"), Values{"1,2"});
  EXPECT_EQ(values("job.mesh[x].size", "1,2"), Values{"1,2"});
}

TEST(Sweep, has_every_combination_and_the_last_path_varies_fastest) {
  const Sweep sweep =
      sweep_of({{"job.microbatch_sequences", "1,2"}, {"seed", "7"}, {"job.recompute", "none,full"}}).value();
  EXPECT_EQ(sweep.paths, (Values{"job.microbatch_sequences", "job.recompute"}));
  ASSERT_EQ(sweep.points.size(), 4u);
  EXPECT_EQ(sweep.points[1].values, (Values{"1", "full"}));
  EXPECT_EQ(sweep.points[2].values, (Values{"2", "none"}));
  for (const SweepPoint& point : sweep.points) {
    ASSERT_EQ(point.overrides.size(), 3u);
    EXPECT_EQ(point.overrides[1].value, "7");
  }
}

TEST(Sweep, the_last_override_of_a_path_wins) {
  const Sweep sweep = sweep_of({{"seed", "1,2,3"}, {"seed", "4"}}).value();
  EXPECT_TRUE(sweep.paths.empty());
  ASSERT_EQ(sweep.points.size(), 1u);
  EXPECT_EQ(sweep.points[0].overrides[0].value, "4");
}

TEST(Sweep, has_at_most_a_thousand_points) {
  std::string hundred = "0";
  for (int i = 1; i < 100; ++i) hundred += "," + std::to_string(i);
  EXPECT_EQ(sweep_of({{"seed", hundred}}).value().points.size(), 100u);
  EXPECT_FALSE(sweep_of({{"seed", hundred}, {"steps", hundred}}).has_value());
}

}  // namespace
}  // namespace podsim::sweep_test
