// What is slow or has failed in a cluster that loses chips.
#include "prediction/lost_chips.h"

#include <gtest/gtest.h>

#include "prediction/selectors.h"
#include "tests/prediction/scenario.h"

namespace podsim::lost_chips_test {
namespace {

// 64 hosts of 8.
Spec gpus(const std::vector<std::string>& slow, const std::vector<std::string>& failed = {}) {
  Spec spec = testing::load("llama3_70b_512_h100");
  for (const std::string& each : slow) EXPECT_EQ(add_slow(spec, each), "");
  for (const std::string& each : failed) EXPECT_EQ(add_failure(spec, each), "");
  return spec;
}

TEST(LostChips, what_was_slow_at_them_is_gone) {
  Spec spec = gpus({"chip:137=0.5x", "nic:136=0.5x"}, {"nic:138"});
  ASSERT_EQ(lose_chips(spec, {"node:17"}).why, "");
  EXPECT_TRUE(spec.adversities.degradations.empty());
  EXPECT_TRUE(spec.adversities.failures.empty());
}

TEST(LostChips, that_are_gone_give_those_after_them_their_numbers) {
  Spec spec = gpus({"chip:137=0.5x", "nic:1=0.5x"}, {"nic:138"});
  Degradation hosts;
  hosts.which.kind = PartKind::kHost;
  hosts.which.numbers = {{0, 4}};
  hosts.factor.mean = 0.9;
  spec.adversities.add(hosts);
  ASSERT_EQ(lose_chips(spec, {"node:2"}).why, "");
  const std::vector<Degradation>& slow = spec.adversities.degradations;
  ASSERT_EQ(slow.size(), 3u);
  EXPECT_EQ(slow[0].chip, 129);
  EXPECT_EQ(slow[1].chip, 1);
  EXPECT_EQ(slow[2].which.numbers, (std::vector<std::pair<int, int>>{{0, 3}}));
  EXPECT_EQ(std::get<FailedPort>(spec.adversities.failures.at(0)).chip, 130);
}

TEST(LostChips, leave_the_job_a_smaller_size_though_the_last_chip_is_slow) {
  Spec spec = gpus({"chip:511=0.5x"});
  EXPECT_EQ(lose_chips(spec, {"node:1"}).why, "");
  EXPECT_LT(spec.cluster.fabric.chips, 512);
}

TEST(LostChips, of_a_cube_are_others_and_at_full_speed) {
  Spec spec = testing::load("llama3_70b_512_v5p");  // eight cubes: along x the first has x = 0 to 3
  for (const char* slow : {"chip:0=0.5x", "chip:511=0.5x"}) EXPECT_EQ(add_slow(spec, slow), "");
  ASSERT_EQ(lose_chips(spec, {"cube:0"}).why, "");
  ASSERT_EQ(spec.adversities.degradations.size(), 1u);
  EXPECT_EQ(spec.adversities.degradations[0].chip, 511);
}

// In a slice of 8x8x8 a line has hosts of two cubes in turn: hosts 0 and 2 are of the same.
TEST(LostChips, hosts_of_one_cube_are_one_lost_cube) {
  const auto healthy = [](const std::vector<std::string>& lost) {
    Spec spec = testing::load("llama3_70b_512_v5p");
    const LostChips loss = lose_chips(spec, lost);
    EXPECT_EQ(loss.why, "");
    const std::size_t begin = loss.note.find("the pod has ");
    return begin == std::string::npos ? loss.note : loss.note.substr(begin, loss.note.find(',') - begin);
  };
  EXPECT_EQ(healthy({"node:0"}), "the pod has 139 healthy cubes");
  EXPECT_EQ(healthy({"node:0", "node:2"}), "the pod has 139 healthy cubes");
  EXPECT_EQ(healthy({"node:0", "node:127"}), "the pod has 138 healthy cubes");
  EXPECT_EQ(healthy({"node:0", "cube:0"}), "the pod has 139 healthy cubes");
  EXPECT_EQ(healthy({"node:0", "cube:100"}), "the pod has 138 healthy cubes");
}

TEST(LostChips, hosts_of_one_slice_are_one_lost_slice) {
  Spec spec = testing::load("validation/maxtext-v5e-16b-2x256");
  ASSERT_EQ(lose_chips(spec, {"node:0", "node:3"}).why, "");
  EXPECT_EQ(spec.cluster.fabric.chips, 256);
}

TEST(LostChips, of_a_slice_take_what_was_slow_there_with_them) {
  Spec spec = testing::load("validation/maxtext-v5e-16b-2x256");
  for (const char* slow : {"chip:3=0.5x", "chip:300=0.5x"}) EXPECT_EQ(add_slow(spec, slow), "");
  ASSERT_EQ(lose_chips(spec, {"node:0"}).why, "");
  EXPECT_EQ(spec.cluster.fabric.chips, 256);
  ASSERT_EQ(spec.adversities.degradations.size(), 1u);
  EXPECT_EQ(spec.adversities.degradations[0].chip, 44);
}

}  // namespace
}  // namespace podsim::lost_chips_test
