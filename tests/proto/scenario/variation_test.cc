// Jitter and pauses in a scenario: names, overrides, and what is told of wrong ones.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::variation_test {
namespace {

Adversities adversities(const std::string& block) {
  const LoadResult result = load(valid_scenario() + "adversity {\n" + block + "}\n");
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec ? result.spec->adversities : Adversities{};
}

Lines problems(const std::string& block) {
  return problems_of(valid_scenario() + "adversity {\n" + block + "}\n");
}

TEST(Variation, typical_jitter_is_of_the_whole_job) {
  const Adversities typical = adversities("jitter: \"typical\"\n");
  EXPECT_TRUE(typical.random());
  EXPECT_FALSE(typical.random_by(Entity::kChip));
  EXPECT_FALSE(typical.random_by(Entity::kHost));
  EXPECT_GT(typical.variation.of_step[static_cast<std::size_t>(Entity::kJob)], 0);
  EXPECT_EQ(typical.variation.hiccups.size(), 1u);
}

TEST(Variation, an_override_changes_single_fields_and_replaces_lists) {
  const Adversities changed = adversities(
      "jitter: \"typical\"\n"
      "jitter_override { of_run: 0.5 of_chip_step: 0.01 hiccup { of: host probability: 0.2 mean_share: 3 } "
      "}\n");
  EXPECT_EQ(changed.variation.of_run, 0.5);
  EXPECT_EQ(changed.variation.of_step[0], 0.01);
  EXPECT_EQ(changed.variation.of_step[2], adversities("jitter: \"typical\"\n").variation.of_step[2]);
  ASSERT_EQ(changed.variation.hiccups.size(), 1u);
  EXPECT_EQ(changed.variation.hiccups[0].of, Entity::kHost);
  EXPECT_EQ(changed.variation.hiccups[0].mean, 3);
}

TEST(Variation, of_operations_is_the_same_by_either_name) {
  EXPECT_EQ(adversities("jitter_override { of_operation: 0.05 }\n").jitter.coefficient_of_variation, 0.05);
  EXPECT_EQ(adversities("jitter_coefficient_of_variation: 0.05\n").jitter.coefficient_of_variation, 0.05);
}

TEST(Variation, garbage_collection_is_of_each_chip_unless_said) {
  const GarbageCollection own =
      adversities("garbage_collection { every_steps: 20 pause_ms: 300 }\n").variation.collection;
  EXPECT_EQ(own.of, Entity::kChip);
  EXPECT_EQ(own.pause, Time::seconds(0.3));
  const GarbageCollection all =
      adversities("garbage_collection { of: job every_steps: 500 pause_ms: 300 }\n").variation.collection;
  EXPECT_EQ(all.of, Entity::kJob);
}

TEST(Variation, an_unknown_jitter_is_told_with_the_nearest_name) {
  EXPECT_EQ(problems("  jitter: \"typicl\"\n"),
            Lines{"18:3 the catalogue has no jitter \"typicl\" | did you mean \"typical\"?"});
}

TEST(Variation, wrong_numbers_and_missing_fields_are_told_where_they_stand) {
  EXPECT_EQ(problems("  jitter_override { of_step: -1 }\n"),
            Lines{"18:21 adversity.jitter_override.of_step must be from 0 to 10, not -1"});
  EXPECT_EQ(
      problems("  jitter_override { hiccup { probability: 1.5 mean_share: 1 } }\n"),
      Lines{"18:30 adversity.jitter_override.hiccup[0].probability must be from 0 to 1, not 1.5 | a share: "
            "1.5 % is 0.015"});
  EXPECT_EQ(
      problems("  garbage_collection { every_steps: 20 pause_ms: 0 }\n"),
      Lines{"18:40 adversity.garbage_collection.pause_ms must be above 0 and at most 1,000,000, not 0"});
  EXPECT_EQ(problems("  garbage_collection { pause_ms: 300 }\n"),
            Lines{"18:3 adversity.garbage_collection.every_steps is missing | write, for example, "
                  "every_steps: 20"});
}

TEST(Variation, stalls_and_late_launches_are_read_in_milliseconds) {
  const StepVariation read = adversities(
                                 "input_stall { probability: 0.01 mean_ms: 500 }\n"
                                 "late_launch { chip: 3 late_ms: 1 more_each_step_ms: 0.5 random_ms: 2 }\n")
                                 .variation;
  EXPECT_EQ(read.input.mean, Time::seconds(0.5));
  ASSERT_EQ(read.late.size(), 1u);
  EXPECT_EQ(read.late[0].per_step, Time::seconds(0.5e-3));
  EXPECT_EQ(read.late[0].random, Time::seconds(2e-3));
}

TEST(Variation, a_late_launch_is_of_a_chip_there_is_once_and_by_something) {
  EXPECT_EQ(
      problems("  late_launch { chip: 512 late_ms: 1 }\n"),
      Lines{"18:17 adversity.late_launch[0].chip must be below the 512 chips, not 512 | chips count from 0"});
  EXPECT_EQ(problems("  late_launch { chip: 5 late_ms: 1 }\n  late_launch { chip: 5 late_ms: 2 }\n"),
            Lines{"19:17 chip 5 has two late_launch blocks | late_ms, more_each_step_ms and random_ms of one "
                  "block add up"});
  EXPECT_EQ(problems("  late_launch { chip: 5 }\n"),
            Lines{"18:3 a late launch is late by nothing | write, for example, late_ms: 5"});
}

std::string with_lengths(const std::string& lengths) {
  return valid_but("  sequence_tokens: 8192\n", "  sequence_tokens: 8192\n" + lengths);
}

TEST(Lengths, of_the_catalogue_and_their_balance_are_read) {
  const LoadResult result = load(with_lengths("  lengths: \"long_tail_32k\"\n  length_balance: squares\n"));
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->job.lengths.bins.size(), 7u);
  EXPECT_EQ(result.spec->job.lengths.balance, LengthBalance::kSquares);
  EXPECT_TRUE(result.spec->adversities.random());
}

TEST(Lengths, that_are_wrong_are_told_where_they_stand) {
  EXPECT_EQ(problems_of(replaced(mlp_scenario(), "sequence_tokens: 1\n",
                                 "sequence_tokens: 1\n  lengths: \"long_tail_32k\"\n")),
            Lines{"8:3 only a sequence of tokens is filled with documents, and a sample here has none"
                  " | remove the lengths, or name a model of text"});
  EXPECT_EQ(problems_of(with_lengths("  lengths: \"long_tail\"\n")),
            Lines{"16:3 the catalogue has no lengths \"long_tail\" | did you mean \"long_tail_32k\"?"});
  EXPECT_EQ(problems_of(with_lengths("  lengths_override { bin { tokens: 0 share: 1 } }\n")),
            Lines{"16:28 job.lengths_override.bin[0].tokens must be from 1 to 100,000,000, not 0"});
  EXPECT_EQ(problems_of(with_lengths("  length_balance: squares\n")),
            Lines{"16:3 there is nothing to balance: every document fills a sequence | name lengths, such as "
                  "lengths: \"long_tail_32k\""});
}

TEST(Variation, an_entity_misspelt_is_told_with_those_there_are) {
  EXPECT_EQ(problems("  garbage_collection { of: hosts every_steps: 20 pause_ms: 300 }\n").size(), 1u);
}

}  // namespace
}  // namespace podsim::variation_test
