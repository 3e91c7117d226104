// --anchor as users give it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::anchor_command_test {
namespace {

using nlohmann::json;

std::string generic() { return small_scenario() + " --set job.stack=generic_fsdp"; }

std::string table_of(const std::string& step_time_s) {
  return temporary_file("runs.csv", "step_time_s,job.stack\n" + step_time_s + ",generic_fsdp\n");
}

json report_of(const std::string& arguments) {
  const CommandResult result = podsim_command("run " + arguments + " --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

TEST(Anchors, a_slower_step_makes_the_prediction_longer_and_its_band_narrower) {
  const json before = report_of(generic());
  const double step_s = before["step_time_s"];
  const json after = report_of(generic() + " --anchor " + table_of(std::to_string(1.2 * step_s)));
  EXPECT_GT(after["step_time_s"].get<double>(), 1.1 * step_s);
  EXPECT_EQ(after["step_time_band"], "anchored");
  EXPECT_EQ(after["anchor"]["runs"], 1);
  EXPECT_EQ(after["anchor"]["step_time_before_s"], before["step_time_s"]);
  EXPECT_EQ(after["anchor"]["step_time_low_before_s"], before["step_time_low_s"]);
  EXPECT_NE(after["scenario_sha256"], before["scenario_sha256"]);
  const auto width = [](const json& of) {
    return of["step_time_high_s"].get<double>() / of["step_time_low_s"].get<double>();
  };
  EXPECT_LT(width(after), width(before));
}

TEST(Anchors, the_measured_step_is_of_the_file_and_not_of_what_set_changes) {
  const std::string file = small_scenario();
  const double step_s = report_of(file)["step_time_s"];
  const std::string changed = file + " --set job.sequence_tokens=1024";
  const json after = report_of(changed + " --anchor-step-time " + std::to_string(step_s));
  EXPECT_NEAR(after["step_time_s"].get<double>() / report_of(changed)["step_time_s"].get<double>(), 1, 1e-3);
}

TEST(Anchors, every_format_tells_of_them) {
  const std::string asked = "run " + generic() + " --anchor " + table_of("3") + " --quiet --format ";
  EXPECT_NE(podsim_command(asked + "table").out.find("what measured steps moved"), std::string::npos);
  EXPECT_NE(podsim_command(asked + "table").out.find("1 of your own"), std::string::npos);
  EXPECT_NE(podsim_command(asked + "csv").out.find("anchor.step_time_before_s"), std::string::npos);
  EXPECT_NE(podsim_command(asked + "textproto").out.find("parameter: \"matmul rate\""), std::string::npos);
}

TEST(Anchors, a_saved_stack_is_an_entry_of_the_catalogue) {
  const std::string readme = temporary_file("readme", ""), folder = readme + "_of_catalogue";
  std::filesystem::create_directory(folder);
  const json after =
      report_of(generic() + " --anchor " + table_of("3") + " --save-stack " + folder + "/ours");
  const json saved = report_of(small_scenario() + " --catalog " + folder + " --set job.stack=ours");
  EXPECT_EQ(saved["stack"], "ours");
  EXPECT_NEAR(saved["step_time_s"].get<double>(), after["step_time_s"].get<double>(), 1e-6);
}

TEST(Anchors, a_saved_stack_has_what_the_scenario_set_of_it_and_says_so) {
  const std::string path = temporary_file("site.textproto", "");
  const std::string text = read_file(small_scenario());
  const std::string overridden =
      temporary_file("overridden.textproto",
                     std::string(text).insert(text.find("stack:"),
                                              "stack_override { gemm_factor: 0.9 fixed_step_ms: 20 } "));
  const CommandResult result =
      podsim_command("run " + overridden + " --format json --anchor-step-time 3 --save-stack " + path);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("job.stack_override"), std::string::npos) << result.err;
  const json saved = report_of(small_scenario() + " --catalog " + path + " --set job.stack=site");
  EXPECT_NEAR(saved["step_time_s"].get<double>(), json::parse(result.out)["step_time_s"].get<double>(), 1e-6);
  EXPECT_EQ(podsim_command("run " + small_scenario() + " --anchor-step-time 3 --save-stack " + path)
                .err.find("job.stack_override"),
            std::string::npos);
}

TEST(Anchors, a_name_of_a_stack_that_no_file_can_have_is_refused) {
  const CommandResult result =
      podsim_command("run " + small_scenario() + " --anchor-step-time 3 --save-stack '9 \"x.textproto'");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("expected the name of the stack"), std::string::npos) << result.err;
}

TEST(Anchors, of_short_steps_bring_the_prediction_nearer_and_never_beyond_what_was_measured) {
  for (const std::string name : {"custom_mlp_8_h100", "dlrm_8_h100", "resnet50_spatial_64_v5p"}) {
    const std::string file = "scenarios/" + name + ".textproto";
    const double before = report_of(file)["step_time_s"];
    double last = 0;
    for (const double factor : {0.8, 0.95, 1.02, 1.05, 1.1, 1.3}) {
      const json report = report_of(file + " --anchor-step-time " + std::to_string(before * factor));
      const double after = report["step_time_s"].get<double>() / before;
      EXPECT_GE(after, last) << name << " " << factor << ": a slower step gives no faster prediction";
      EXPECT_LT(std::abs(std::log(after / factor)), std::abs(std::log(factor))) << name << " " << factor;
      EXPECT_GE((after - factor) * (1 - factor), -1e-3) << name << " " << factor << " became " << after;
      last = after;
    }
  }
}

TEST(Anchors, what_they_cannot_move_is_told) {
  const CommandResult other = podsim_command("run " + small_scenario() + " --anchor " + table_of("3"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("no measured step is of the stack"), std::string::npos) << other.err;
  const CommandResult none = podsim_command("run " + small_scenario() + " --save-stack ours");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("give them with --anchor"), std::string::npos) << none.err;
}

TEST(Anchors, a_step_that_nothing_plausible_explains_is_told) {
  const CommandResult result = podsim_command("run " + small_scenario() + " --anchor-step-time 1000");
  EXPECT_NE(result.err.find("is the scenario what was measured?"), std::string::npos) << result.err;
}

TEST(Anchors, scale_and_compare_take_them) {
  const std::string anchor = " --quiet --format json --anchor-step-time 3";
  const json scaled =
      json::parse(podsim_command("scale " + small_scenario() + " --chips 16,32" + anchor).out);
  for (const json& report : scaled) EXPECT_EQ(report["step_time_band"], "anchored");
  const json compared = json::parse(
      podsim_command("compare " + small_scenario() + " --set job.sequence_tokens=1024" + anchor).out);
  for (const json& report : compared) EXPECT_EQ(report["step_time_band"], "anchored");
}

// Two rows of a site that differ in their microbatch.
constexpr char kRunHeader[] =
    "id,family,chip,chips,model,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch_seqs,micro_batch,"
    "tp,"
    "sp,pp,vp,dp,dp_sharding,recompute,precision,stack,fabric,step_time_s\n";

std::string run_row(const std::string& id, int micro_batch, const std::string& stack,
                    const std::string& step_time_s) {
  return id + ",mine,h100,8,m,8,2048,16,8192,32000,2048,64," + std::to_string(micro_batch) +
         ",1,0,1,1,8,fsdp,none,bf16," + stack + ",dgx_h100," + step_time_s + "\n";
}

TEST(Anchors, validate_tells_rows_of_other_stacks_that_they_stay_as_they_are) {
  const std::string anchor = temporary_file("one.csv", kRunHeader + run_row("a", 1, "generic_fsdp", "0.9"));
  const std::string other = run_row("b", 2, "torchtitan", "0.8");
  const auto validate = [&](const std::string& rows) {
    return podsim_command("validate " + temporary_file("all.csv", kRunHeader + rows) +
                          " --quiet --format json --anchor " + anchor);
  };
  const CommandResult none = validate(other);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("no measured step is of the stack torchtitan: they are of generic_fsdp"),
            std::string::npos)
      << none.err;
  const CommandResult mixed = validate(other + run_row("c", 2, "generic_fsdp", "0.8"));
  EXPECT_EQ(mixed.exit_code, 0);
  EXPECT_NE(mixed.err.find("no measured step is of the stack torchtitan, which stays as it is"),
            std::string::npos)
      << mixed.err;
}

TEST(Anchors, validate_predicts_the_other_rows_of_a_site) {
  const std::string one = kRunHeader + run_row("a", 1, "generic_fsdp", "0.9");
  const std::string table = temporary_file("all.csv", one + run_row("b", 2, "generic_fsdp", "0.8")),
                    anchor = temporary_file("one.csv", one);
  const CommandResult result =
      podsim_command("validate " + table + " --quiet --format json --anchor " + anchor);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json told = json::parse(result.out);
  ASSERT_EQ(told["rows"].size(), 1u) << result.out;
  EXPECT_EQ(told["rows"][0]["id"], "b");
  EXPECT_EQ(told["rows"][0]["band"], "anchored");
  EXPECT_EQ(told["skipped"][0]["id"], "a");
}

}  // namespace
}  // namespace podsim::anchor_command_test
