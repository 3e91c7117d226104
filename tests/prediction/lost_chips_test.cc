// What is slow or has failed in a cluster that loses chips.
#include "prediction/lost_chips.h"

#include <gtest/gtest.h>

#include "prediction/selectors.h"
#include "scheduler/folding/drawn_degradations.h"
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

// What a chip bears, whatever its number.
struct Borne {
  double factor = 1;
  SpeedProfile profile;
  friend bool operator==(const Borne&, const Borne&) = default;
};

std::vector<Borne> borne_in(const Spec& spec) {
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const DrawnDegradations drawn = draw_degradations(fabric, Parts(fabric, spec.cluster.fabric.chips_per_host),
                                                    roles_of(fabric, spec.job, spec.placement),
                                                    spec.adversities.degradations, spec.adversities.seed);
  std::vector<Borne> all(static_cast<std::size_t>(fabric.chips));
  for (std::size_t chip = 0; chip < all.size(); ++chip) {
    if (!drawn.chip_factor.empty()) all[chip].factor = drawn.chip_factor[chip];
    if (!drawn.chip_profile.empty() && drawn.chip_profile[chip] >= 0)
      all[chip].profile = drawn.profiles[static_cast<std::size_t>(drawn.chip_profile[chip])];
  }
  return all;
}

// Who is slow is a fact of the cluster: 64 hosts of 8, in eight stages of sixteen data ranks of four.
TEST(LostChips, leave_the_others_as_slow_as_they_were) {
  const auto entry = [](PartKind kind, auto&& set) {
    Degradation slow;
    slow.which.kind = kind;
    slow.factor.mean = 0.5;
    set(slow);
    return slow;
  };
  const auto varied = [](Degradation& slow) { slow.factor = {SpeedFactor::Shape::kUniform, 1, 0, 0.4, 0.9}; };
  const Degradation entries[] = {
      entry(PartKind::kHost, [](Degradation& slow) { slow.which.random_fraction = 0.3; }),
      entry(PartKind::kChip, varied),
      entry(PartKind::kChip, [&](Degradation& slow) { varied(slow), slow.which.together = Domain::kHost; }),
      entry(PartKind::kHost,
            [](Degradation& slow) {
              slow.which.data_ranks = {0, 3};
            }),
      entry(PartKind::kChip,
            [&](Degradation& slow) {
              varied(slow), slow.which.stages = {1, 7};
            }),
      entry(PartKind::kHost,
            [](Degradation& slow) {
              slow.which.numbers = {{0, 9}, {40, 63}};
              slow.which.random_fraction = 0.5;
            }),
      entry(PartKind::kChip,
            [](Degradation& slow) {
              slow.season.chance_share = 0.2;
              slow.season.chance_slot = Time::seconds(1);
            }),
      entry(PartKind::kHost, [](Degradation&) {})};
  const Spec healthy = testing::load("llama3_70b_512_h100");
  for (const Degradation& slow : entries)
    for (const int host : {0, 1, 40, 63})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Spec before = healthy;
        before.adversities.degradations = {slow};
        before.adversities.seed = seed;
        Spec after = before;
        const std::string lost = "node:" + std::to_string(host);
        ASSERT_EQ(lose_chips(after, {lost}).why, "");
        std::vector<Borne> left = borne_in(before);
        left.erase(left.begin() + host * 8, left.begin() + host * 8 + 8);
        left.resize(static_cast<std::size_t>(after.cluster.fabric.chips));
        EXPECT_EQ(borne_in(after), left) << lost << ", seed " << seed << ", entry " << &slow - entries;
      }
}

TEST(LostChips, of_a_cube_leave_the_others_as_slow_as_they_were) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  Degradation slow;
  slow.which.random_fraction = 0.5;
  slow.factor.mean = 0.5;
  spec.adversities.degradations = {slow};
  const std::vector<Borne> before = borne_in(spec);
  ASSERT_EQ(lose_chips(spec, {"cube:0"}).why, "");
  const std::vector<Borne> after = borne_in(spec);
  ASSERT_EQ(after.size(), before.size());
  int replaced = 0;  // chips of the cube that is gone, which are others and at full speed
  for (std::size_t chip = 0; chip < after.size(); ++chip) {
    if (after[chip] == before[chip]) continue;
    EXPECT_EQ(after[chip], Borne{}) << chip;
    ++replaced;
  }
  EXPECT_GT(replaced, 16);
  EXPECT_LE(replaced, 64);
}

TEST(LostChips, may_be_a_host_that_is_filled_in_part) {
  const std::vector<Override> six = {{"cluster.chip", "gb200"},
                                     {"cluster.fabric", "nvl72_gb200"},
                                     {"cluster.chips", "6"},
                                     {"job.mesh.data.size", "6"},
                                     {"job.global_batch_sequences", "66000"}};
  Spec spec = testing::load("dlrm_64_h100", six);  // hosts of 4
  EXPECT_EQ(add_slow(spec, "node:2=0.5x"), "there is no host \"2\" among 2");
  ASSERT_EQ(add_slow(spec, "node:1=0.5x"), "");
  ASSERT_EQ(spec.adversities.degradations.size(), 2u);
  EXPECT_EQ(spec.adversities.degradations[0].chip, 4);
  EXPECT_EQ(spec.adversities.degradations[1].chip, 5);
  EXPECT_NE(add_slow(spec, "chip:node1/chip2=0.5x"), "");
  ASSERT_EQ(lose_chips(spec, {"node:1"}).why, "");
  EXPECT_EQ(spec.cluster.fabric.chips, 4);
  EXPECT_TRUE(spec.adversities.degradations.empty());
}

}  // namespace
}  // namespace podsim::lost_chips_test
