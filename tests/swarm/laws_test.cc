// The laws themselves: each notices what breaks it, and what they find becomes small.
#include "tests/swarm/laws.h"

#include <gtest/gtest.h>

#include "proto/scenario/load.h"
#include "proto/writing/write.h"
#include "tests/rounds.h"
#include "tests/swarm/random_scenario.h"
#include "tests/swarm/report_figures.h"
#include "tests/swarm/scenario_variants.h"
#include "tests/swarm/shrink.h"

namespace podsim::testing::laws_test {
namespace {

constexpr const char* kScenario = R"(name: "small" steps: 2
cluster { chip: "h100" chips: 4 fabric: "dgx_h100" }
job { model: "llama3_8b" model_override { layers: 2 } stack: "torchtitan" mesh { name: "fsdp" size: 4 } sharding: "fsdp"
      global_batch_sequences: 8 sequence_tokens: 1024 }
adversity { slow_chip { chip: 1 speed_fraction: 0.5 } })";

const Catalog& catalog() {
  static const Catalog built_in;
  return built_in;
}

Prediction predicted() {
  return predict_step(*load_scenario("small.textproto", kScenario, catalog(), {}).spec, {});
}

TEST(Laws, hold_of_a_small_scenario) {
  const Judgement judged = judge(kScenario, catalog());
  EXPECT_TRUE(judged.accepted);
  EXPECT_FALSE(judged.finding) << judged.finding->law << " " << judged.finding->what;
}

// Two slices whose gathers and reductions take the same time to the picosecond, one launching them 1 ms late:
// a launch comes at the instant at which the reduction before it ends.
constexpr const char* kLateAtAnEnd = R"(
cluster { chip: "tpu_v2" fabric: "v2_pod" slice_shape: 1 slices: 2 }
job { stack: "maxtext_2025" mesh { name: "fsdp" size: 2 } sharding: "hsdp" global_batch_sequences: 2 sequence_tokens: 1
  program {
    dimension { name: "embed" size: 1 } dimension { name: "ffn" size: 1024 }
    part { name: "stem" data { name: "ids" dims: "batch sequence" } parameter { name: "table" dims: "rows=999 embed" }
      operation { kind: embedding input: "table" input: "ids" output: "x" } }
    part { name: "block" input { name: "x" dims: "batch sequence embed" }
      parameter { name: "scale" } parameter { name: "w_in" dims: "embed ffn" } parameter { name: "w_out" dims: "ffn embed" }
      operation { kind: norm input: "x" input: "scale" output: "n" }
      operation { kind: einsum input: "n" input: "w_in" output: "h" dims: "batch sequence ffn" }
      operation { kind: elementwise input: "h" output: "a" }
      operation { kind: einsum input: "a" input: "w_out" output: "o" dims: "batch sequence embed" } }
    part { name: "head" input { name: "x" dims: "batch sequence embed" } parameter { name: "w" dims: "embed classes=999" }
      operation { kind: einsum input: "x" input: "w" output: "z" dims: "batch sequence classes=999" }
      operation { kind: loss input: "z" output: "l" } } } }
adversity { late_launch { chip: 0 late_ms: 1 } })";

TEST(Laws, hold_where_a_late_launch_comes_as_the_collective_before_it_ends) {
  const Judgement judged = judge(kLateAtAnEnd, catalog());
  EXPECT_TRUE(judged.accepted);
  EXPECT_FALSE(judged.finding) << judged.finding->law << " " << judged.finding->what;
}

// As many as a test run affords, in parts that run side by side; ./dev fuzz draws others.
class DrawnScenarios : public ::testing::TestWithParam<int> {};

TEST_P(DrawnScenarios, hold_every_law) {
  for (int k = 0; k < rounds(10); ++k) {
    const auto seed = static_cast<std::uint64_t>(10 * GetParam() + k + 1);
    const Judgement judged = judge(swarm_scenario(seed), catalog());
    if (judged.finding)
      ADD_FAILURE() << "drawn scenario " << seed << ": " << judged.finding->law << ": "
                    << judged.finding->what;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawnScenarios, ::testing::Range(0, 3));

TEST(Laws, a_refused_scenario_needs_no_more_than_problems_with_places) {
  const Judgement judged = judge("cluster { chip: \"h1000\" }\njob {}", catalog());
  EXPECT_FALSE(judged.accepted);
  EXPECT_FALSE(judged.finding) << judged.finding->what;
}

TEST(Laws, a_picosecond_more_in_one_part_is_found) {
  Prediction prediction = predicted();
  ASSERT_FALSE(broken_sum(prediction));
  prediction.report.compute += Time{1};
  ASSERT_TRUE(broken_sum(prediction));
  EXPECT_EQ(broken_sum(prediction)->what, "the parts of the step do not add up");
}

TEST(Laws, links_that_carry_too_much_and_chip_seconds_that_nobody_caused_are_found) {
  Prediction prediction = predicted();
  ASSERT_FALSE(prediction.report.link_use.empty());
  prediction.report.link_use.front().max_utilisation = 1.1;
  EXPECT_TRUE(broken_sum(prediction));
  prediction = predicted();
  ASSERT_FALSE(prediction.report.slow_parties.empty());
  prediction.report.slow_parties.front().caused_chip_s += 1;
  EXPECT_TRUE(broken_sum(prediction));
}

TEST(ReportFigures, are_the_same_in_all_formats_and_another_figure_is_found) {
  const Prediction prediction = predicted();
  EXPECT_FALSE(broken_format(prediction)) << broken_format(prediction)->what;
  Report other = prediction.report;
  other.memory.stages.front().weights += 1;
  const Figures mine = figures_of_json(report_json(prediction.report));
  EXPECT_GT(mine.size(), 60u);
  EXPECT_NE(first_difference(mine, figures_of_textproto(report_textproto(other))), "");
  EXPECT_EQ(first_difference(mine, figures_of_textproto(report_textproto(prediction.report))), "");
}

TEST(ScenarioVariants, say_the_same_otherwise) {
  const std::vector<ScenarioVariant> variants = equal_variants(kScenario);
  EXPECT_EQ(variants.size(), 3u);  // a name, an axis, another slow chip
  for (const ScenarioVariant& variant : variants)
    EXPECT_TRUE(load_scenario("other.textproto", variant.text, catalog(), {}).spec) << variant.what;
}

TEST(Shrink, leaves_what_the_finding_needs) {
  const auto still = [](const std::string& text) { return text.find("slow_chip") != std::string::npos; };
  EXPECT_EQ(shrink(kScenario, still, 300), "adversity {\n  slow_chip {\n  }\n}\n");
}

TEST(Shrink, halves_sizes_that_belong_together) {
  const auto loads = [](const std::string& text) {
    return load_scenario("s.textproto", text, catalog(), {}).spec.has_value();
  };
  const std::string small = shrink(kScenario, loads, 300);
  EXPECT_NE(small.find("chips: 1\n"), std::string::npos) << small;
  EXPECT_NE(small.find("size: 1\n"), std::string::npos) << small;
}

}  // namespace
}  // namespace podsim::testing::laws_test
