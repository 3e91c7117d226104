// Axes for experts beside attention, and rules of what ranks share.
#include "workload/sharding/expert_ranks.h"

#include <gtest/gtest.h>

namespace podsim::expert_ranks_test {
namespace {

using Lie = ExpertAxes::Lie;
using Names = std::vector<std::string>;

TEST(ExpertAxes, are_there_where_experts_fit_whole_parts_of_the_tensor_ranks) {
  const auto beside = expert_axes(4, 8, 8);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->lie, Lie::kBesideTensor);
  EXPECT_EQ(beside->expert, 4);
  const auto over = expert_axes(8, 8, 2);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->lie, Lie::kOverTensor);
  EXPECT_EQ(over->expert * over->tensor, 8) << "ranks of experts";
  EXPECT_EQ(over->tensor * over->expert_tensor, 8) << "ranks of attention";
  EXPECT_EQ(expert_axes(1, 8, 1)->lie, Lie::kCopied);
  for (const auto& [expert, expert_tensor] : {std::pair(4, 1), {1, 2}, {8, 3}, {8, 16}}) {
    EXPECT_FALSE(expert_axes(expert, 8, expert_tensor)) << expert << " " << expert_tensor;
    EXPECT_NE(no_expert_axes(expert, 8, expert_tensor), "");
  }
}

// Of tensor ranks each holds all of the state of weights that they cut, and a part of that of copied experts.
TEST(SharedState, is_cut_over_the_ranks_that_copy_it) {
  const ExpertAxes none, copied{1, 4, 1, Lie::kCopied};
  const auto axes = [](const std::vector<ShardingRule>& rules) {
    return rules.empty() ? Names{} : rules.front().axes;
  };
  EXPECT_EQ(axes(shared_state_rules(SharedState::kZero1, {"data", "expert", "tensor"}, none)),
            (Names{"data", "expert"}));
  EXPECT_EQ(axes(shared_state_rules(SharedState::kZero1, {"context", "tensor"}, none)), (Names{"context"}));
  EXPECT_EQ(axes(shared_state_rules(SharedState::kZero3, {"data", "fsdp", "expert"}, none)),
            (Names{"fsdp", "expert"}));
  EXPECT_EQ(axes(shared_state_rules(SharedState::kZero3, {"expert"}, none)), (Names{"expert"}));
  EXPECT_EQ(axes(shared_state_rules(SharedState::kZero1, {"data", "optimizer", "context"}, none)),
            (Names{"optimizer", "context"}));
  EXPECT_EQ(axes(shared_state_rules(SharedState::kZero1, {"data", "tensor"}, copied)),
            (Names{"data", "tensor"}));
  EXPECT_TRUE(shared_state_rules(SharedState::kZero3, {"data", "fsdp"}, none).empty())
      << "the preset says it";
  EXPECT_TRUE(shared_state_rules(SharedState::kWhole, {"data", "expert"}, none).empty());
  EXPECT_EQ(shared_state_rules(SharedState::kZero2, {"data"}, none).size(), 2u);
}

}  // namespace
}  // namespace podsim::expert_ranks_test
