// The software that is assumed where nobody names it.
#include "proto/catalog/assumed_stacks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/catalog/convert.h"
#include "proto/scenario/chosen_fabric.h"
#include "tests/proto/scenario.h"

namespace podsim::assumed_stacks_test {
namespace {

TEST(AssumedStacks, are_entries_of_the_catalogue_under_their_own_names) {
  for (const auto known : {KnownOfSoftware::kGpu, KnownOfSoftware::kTorus, KnownOfSoftware::kMegatron,
                           KnownOfSoftware::kMaxText, KnownOfSoftware::kXla, KnownOfSoftware::kXlaOnGpus}) {
    EXPECT_EQ(assumed_stack(known), assumed_stacks(known).front());
    for (const std::string& stack : assumed_stacks(known))
      EXPECT_EQ(built_in().canonical(Catalog::Section::kStacks, stack), stack);
  }
}

TEST(AssumedStacks, of_a_network_have_kernels_for_every_chip_that_it_is_built_of) {
  for (const std::string& name : built_in().names(Catalog::Section::kChips)) {
    const std::vector<std::string> fabrics = built_in().fabrics_of(name);
    if (fabrics.empty()) continue;
    std::optional<FabricSpec> fabric;
    for (const int chips : {4, 8, 64, 72})
      if (!fabric)
        fabric = chosen_fabric(built_in(), {.name = fabrics.front(), .chips = chips, .shape = {}}).first;
    ASSERT_TRUE(fabric) << fabrics.front();
    const Chip chip = *catalog_chip(built_in(), name);
    const auto has_kernels = [&](const std::string& stack) {
      return std::ranges::count(chip.attention, catalog_stack(built_in(), stack)->attention_kernel,
                                &AttentionRate::kernel) > 0;
    };
    const auto stacks = assumed_stacks(fabric->gpu ? KnownOfSoftware::kGpu : KnownOfSoftware::kTorus);
    EXPECT_TRUE(std::ranges::any_of(stacks, has_kernels)) << name;
  }
}

}  // namespace
}  // namespace podsim::assumed_stacks_test
