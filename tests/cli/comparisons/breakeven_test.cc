// podsim breakeven and sensitivity: the tie is one, and the widest swing comes first.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::breakeven_verb_test {
namespace {

std::string job(const std::string& chip, const std::string& fabric, const std::string& stack) {
  return "cluster { chip: \"" + chip + "\" chips: 8 fabric: \"" + fabric +
         "\" }\n"
         "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"" +
         stack +
         "\"\n"
         "  mesh { name: \"data\" size: 8 } sharding: \"data\"\n"
         "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 }\n";
}

double cost(const std::string& file, const std::string& options) {
  const CommandResult run = podsim_command("run " + file + " --format json " + options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return nlohmann::json::parse(run.out)["cost_usd_per_million_tokens"];
}

TEST(BreakevenVerb, at_the_price_that_it_finds_both_cost_the_same_to_a_thousandth) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025")),
                    tpu = temporary_file("tpu.textproto", job("tpu_v5p", "v5p_pod", "maxtext_2025"));
  const CommandResult found = podsim_command("breakeven " + gpu + " " + tpu +
                                             " --over cluster.usd_per_chip_hour=0.1..100 --format json");
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto tie = nlohmann::json::parse(found.out);
  const double below = tie["below"], above = tie["above"];
  EXPECT_LE(above, below * 1.001);
  const auto at = [&](double price) {
    return cost(gpu, "--set cluster.usd_per_chip_hour=" + std::to_string(price));
  };
  const double other = cost(tpu, "");
  EXPECT_LE(at(below * 0.99999), other);
  EXPECT_GE(at(above * 1.00001), other);
}

TEST(BreakevenVerb, range_without_a_tie_ends_with_3_and_names_who_has_less) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025"));
  const CommandResult none =
      podsim_command("breakeven " + gpu + " " + gpu + " --over cluster.usd_per_chip_hour=1000..2000");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.err.find("there is no tie between"), std::string::npos) << none.err;
}

TEST(BreakevenVerb, of_two_that_are_equal_neither_has_less) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025"));
  const CommandResult equal =
      podsim_command("breakeven " + gpu + " " + gpu + " --both --over cluster.usd_per_chip_hour=1..2");
  EXPECT_EQ(equal.exit_code, 3);
  EXPECT_NE(equal.err.find("neither has less"), std::string::npos) << equal.err;
}

TEST(BreakevenVerb, wrong_words_are_told_with_what_is_expected) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025"));
  for (const char* words : {"cluster.usd_per_chip_hour", "=1..2", "cluster.usd_per_chip_hour=2..1",
                            "cluster.usd_per_chip_hour=0..1", "cluster.usd_per_chip_hour=a..b"}) {
    const CommandResult result = podsim_command("sensitivity " + gpu + " --vary '" + words + "'");
    EXPECT_EQ(result.exit_code, 2) << words;
    EXPECT_NE(result.err.find("such as cluster.usd_per_chip_hour=0.5..10"), std::string::npos) << result.err;
  }
  const CommandResult field = podsim_command("sensitivity " + gpu + " --vary cluster.usd_per_kw=1..2");
  EXPECT_EQ(field.exit_code, 2);
  EXPECT_NE(field.err.find("usd_per_kwh"), std::string::npos) << field.err;
  const CommandResult figure =
      podsim_command("sensitivity " + gpu + " --vary cluster.usd_per_kwh=0.1..0.2 --figure step_time");
  EXPECT_EQ(figure.exit_code, 2);
  EXPECT_NE(figure.err.find("step_time_s"), std::string::npos) << figure.err;
}

TEST(SensitivityVerb, figures_are_those_of_run_and_the_widest_swing_comes_first) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025"));
  const CommandResult told = podsim_command("sensitivity " + gpu +
                                            " --format csv --vary cluster.usd_per_chip_hour=1.99..2 --vary "
                                            "job.global_batch_sequences=16..64");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const std::size_t batch = told.out.find("job.global_batch_sequences,16,64"),
                    price = told.out.find("cluster.usd_per_chip_hour,1.99,2");
  ASSERT_NE(batch, std::string::npos) << told.out;
  EXPECT_LT(batch, price) << told.out;
  const nlohmann::json expected = cost(gpu, "--set job.global_batch_sequences=64");
  EXPECT_NE(told.out.find("," + expected.dump() + ","), std::string::npos) << told.out << expected;
}

TEST(SensitivityVerb, warns_of_what_has_no_effect_and_reads_standard_input) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025"));
  const std::string vary = " --vary cluster.owned.years=3..5 --format json";
  const CommandResult file = podsim_command("sensitivity " + gpu + vary),
                      input = podsim_command("sensitivity -" + vary + " < " + gpu);
  ASSERT_EQ(file.exit_code, 0) << file.err;
  EXPECT_NE(file.err.find("no effect"), std::string::npos) << file.err;
  ASSERT_EQ(input.exit_code, 0) << input.err;
  const auto of_file = nlohmann::json::parse(file.out), of_input = nlohmann::json::parse(input.out);
  EXPECT_EQ(of_file["fields"][0]["files"][0]["figure_base"],
            of_input["fields"][0]["files"][0]["figure_base"]);
  EXPECT_EQ(of_file["scenario_sha256"], of_input["scenario_sha256"]);
  EXPECT_EQ(of_file["scenario_sha256"].get<std::string>().size(), 64u);
}

TEST(SensitivityVerb, a_figure_that_is_0_has_no_share_and_whole_numbers_have_whole_ends) {
  const std::string gpu = temporary_file("gpu.textproto", job("h100", "dgx_h100", "megatron_bridge_2025"));
  const CommandResult none = podsim_command(
      "sensitivity " + gpu + " --figure straggler_delay_s --vary cluster.usd_per_chip_hour=1..2");
  ASSERT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(none.out.find("nan"), std::string::npos) << none.out;
  const CommandResult half =
      podsim_command("sensitivity " + gpu + " --vary job.microbatch_sequences=1.5..2.9");
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_NE(half.err.find("takes whole numbers"), std::string::npos) << half.err;
}

}  // namespace
}  // namespace podsim::breakeven_verb_test
