// podsim validate on tables of training runs, as a user sees it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/traces/trace_file.h"
#include "tests/cli/command.h"

namespace podsim::validate_test {
namespace {

using nlohmann::json;

constexpr char kTable[] = "validate scenarios/measurements/gpu_runs.csv ";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ValidateRuns, json_has_every_row_with_error_and_fit_and_a_summary_by_group) {
  const CommandResult result = podsim_command(std::string(kTable) + "--only family=nemo2407 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  ASSERT_EQ(report["rows"].size(), 9u);
  for (const json& row : report["rows"]) {
    const double measured = row["measured_step_time_s"], predicted = row["predicted_step_time_s"];
    EXPECT_NEAR(row["error_pct"].get<double>(), 100 * (predicted / measured - 1), 1e-9);
    EXPECT_TRUE(row["fits"].is_boolean());
  }
  const json& summary = report["summary"];
  EXPECT_EQ(summary["all"]["rows"], 9);
  EXPECT_EQ(summary["by_family"]["nemo2407-h100-fp8"], summary["all"]);
  EXPECT_EQ(summary["by_chip"].size(), 1u);
  EXPECT_EQ(summary["simulated"], 9);
}

TEST(ValidateRuns, json_tells_rates_measured_and_predicted_and_where_all_of_the_time_goes) {
  const CommandResult result = podsim_command(std::string(kTable) + "--only id=g357 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json row = json::parse(result.out)["rows"][0];
  const double measured = row["measured_step_time_s"], predicted = row["predicted_step_time_s"];
  for (const char* rate : {"tokens_per_s_per_chip", "model_tflops_per_s_per_chip", "mfu_full", "mfu_causal"})
    EXPECT_NEAR(row[std::string("measured_") + rate].get<double>() * measured,
                row[std::string("predicted_") + rate].get<double>() * predicted, 1e-6 * predicted)
        << rate;
  double sum = 0;
  for (const auto& [part, seconds] : row["breakdown"].items()) sum += seconds.get<double>();
  EXPECT_EQ(row["breakdown"].count("offload_wait_s"), 1u);
  EXPECT_EQ(row["breakdown"].count("skew_wait_s"), 1u);
  EXPECT_NEAR(sum, predicted, 1e-9);
}

TEST(ValidateRuns, an_id_of_several_rows_tells_of_none_of_them) {
  const std::string table = temporary_file(
      "twice.csv",
      "id,chip,chips,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch_seqs,micro_batch,dp,"
      "dp_sharding,recompute,precision,stack,fabric\n"
      "a,h100,8,8,2048,16,8192,32000,2048,64,1,8,fsdp,none,bf16,generic_fsdp,dgx_h100\n"
      "a,h100,8,8,2048,16,8192,32000,2048,64,2,8,fsdp,none,bf16,generic_fsdp,dgx_h100\n");
  for (const char* option : {" --explain a", " --scenario a"}) {
    const CommandResult result = podsim_command("validate " + table + option);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(has(result.err, "2 rows have the id a")) << result.err;
  }
}

TEST(ValidateRuns, every_row_has_a_band_and_the_summary_its_coverage) {
  const CommandResult result =
      podsim_command(std::string(kTable) + "--only family=mbridge-dense-hopper --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  int inside = 0;
  for (const json& row : report["rows"]) {
    const double measured = row["measured_step_time_s"], low = row["predicted_step_time_low_s"],
                 high = row["predicted_step_time_high_s"];
    EXPECT_EQ(row["inside_band"], low <= measured && measured <= high);
    inside += row["inside_band"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(report["summary"]["all"]["with_band"], 3);
  EXPECT_EQ(report["summary"]["all"]["inside_band"], inside);
  EXPECT_EQ(report["summary"]["by_architecture"]["dense"], report["summary"]["all"]);
  EXPECT_EQ(report["summary"]["by_stated"]["in full"], report["summary"]["all"]);
}

TEST(ValidateRuns, layouts_of_one_job_are_ranked) {
  std::string table =
      "id,family,chip,chips,model,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch_seqs,micro_batch,"
      "tp,"
      "sp,pp,vp,dp,dp_sharding,recompute,precision,stack,fabric,step_time_s\n";
  for (const std::string micro_batch : {"1", "2", "4"})
    table += micro_batch + ",mine,h100,8,m,8,2048,16,8192,32000,2048,64," + micro_batch +
             ",1,0,1,1,8,fsdp,none,bf16,generic_fsdp,dgx_h100,0." + micro_batch + "\n";
  const std::string asked = "validate " + temporary_file("layouts.csv", table) + " --quiet";
  const json rankings = json::parse(podsim_command(asked + " --format json").out)["layout_rankings"];
  ASSERT_EQ(rankings["groups"].size(), 1u);
  EXPECT_EQ(rankings["groups"][0]["rows"], 3);
  EXPECT_EQ(rankings["groups"][0]["kendall_tau"], rankings["mean_kendall_tau"]);
  EXPECT_NE(podsim_command(asked).out.find("regret of the first choice"), std::string::npos);
}

TEST(ValidateRuns, several_tables_are_one) {
  const std::string both =
      "validate scenarios/measurements/gpu_runs.csv scenarios/measurements/tpu_runs.csv ";
  const CommandResult result = podsim_command(both + "--only g566 --format csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\n\"g566\","));
  const CommandResult tpu = podsim_command(both + "--scenario palm-540b-6144");
  EXPECT_TRUE(has(tpu.out, "# row: palm-540b-6144")) << tpu.err;
  const CommandResult mixed = podsim_command(
      "validate scenarios/measurements/gpu_runs.csv scenarios/measurements/nccl_allreduce.csv");
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_TRUE(has(mixed.err, "nccl_allreduce.csv is no table of training runs")) << mixed.err;
}

TEST(ValidateRuns, a_row_becomes_a_scenario_that_runs) {
  const CommandResult written = podsim_command(std::string(kTable) + "--scenario g566");
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_TRUE(has(written.out, "# measured_step_time_s: 4.606"));
  const std::string path = temporary_file("g566.textproto", written.out);
  const CommandResult run = podsim_command("run " + path + " --format json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const CommandResult validated = podsim_command(std::string(kTable) + "--only id=g566 --format json");
  EXPECT_EQ(json::parse(validated.out)["rows"][0]["predicted_step_time_s"],
            json::parse(run.out)["step_time_s"]);
}

TEST(ValidateRuns, a_condition_on_what_runs_do_not_have_is_told) {
  const CommandResult result = podsim_command(std::string(kTable) + "--only famly=mosaic");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(has(result.err, "runs have no \"famly\"; did you mean \"family\"?")) << result.err;
}

TEST(ValidateRuns, explains_one_row) {
  const CommandResult result = podsim_command(std::string(kTable) + "--explain g357");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "assumed: 64 of the 72 GPUs of an NVLink domain are used"));
  EXPECT_TRUE(has(result.out, "measured 58.31 s, predicted "));
  EXPECT_TRUE(has(result.out, "model_tflops_per_s_per_chip"));
  EXPECT_TRUE(has(result.out, "compute"));
}

TEST(ValidateRuns, ready_rows_are_simulated_and_others_on_demand) {
  const std::string row =
      "validate " PODSIM_SOURCE_DIR "/scenarios/measurements/tpu_runs.csv --only id=palm-8b-flops";
  EXPECT_EQ(podsim_command(row).exit_code, 2);
  const CommandResult all = podsim_command(row + " --all");
  EXPECT_EQ(all.exit_code, 2);  // nothing could be answered
  EXPECT_TRUE(has(all.out, "Not simulated:"));
  EXPECT_TRUE(has(all.out, "palm-8b-flops  states FLOP per token, no speed"));
}

TEST(ValidateRuns, output_does_not_depend_on_the_number_of_threads) {
  const std::string few = std::string(kTable) + "--only family=mbridge-sft ";
  const CommandResult one = podsim_command(few + "--threads 1");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.out, podsim_command(few + "--threads 3").out);
}

TEST(ValidateRuns, a_table_of_ones_own_names_stack_and_fabric) {
  const std::string header =
      "id,chip,chips,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch_seqs,micro_batch,dp_sharding,"
      "recompute,precision,step_time_s,stack,fabric\n";
  const std::string row =
      "a,h100,16,32,4096,32,11008,32000,4096,32,1,zero3,none,bf16,0.7,torchtitan,dgx_h100\n";
  const std::string table = temporary_file("own.csv", header + row);
  const CommandResult result = podsim_command("validate " + table + " --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json made = json::parse(result.out)["rows"][0];
  EXPECT_EQ(made["family"], "own");
  EXPECT_EQ(made["parallelism"], "FSDP");
  EXPECT_EQ(made["assumptions"], json::array({"the NIC is not stated, that of dgx_h100 assumed"}));
  const std::string wrong = temporary_file("wrong.csv", header + row + "b,h100,sixteen,,,,,,,,,,,,,,\n");
  const CommandResult told = podsim_command("validate " + wrong);
  EXPECT_EQ(told.exit_code, 2);
  EXPECT_TRUE(has(told.err, "wrong.csv:3:8: chips is \"sixteen\"")) << told.err;
}

TEST(ValidateRuns, a_table_that_names_models_needs_no_shapes_and_rows_left_out_are_told) {
  const std::string header =
      "id,chip,chips,catalog_model,seq_len,global_batch_seqs,micro_batch,dp_sharding,recompute,precision,"
      "step_time_s,stack,fabric\n";
  const auto validate = [&](const std::string& step_time_s) {
    return podsim_command("validate " +
                          temporary_file("named.csv", header +
                                                          "a,h100,16,llama3_8b,4096,32,1,zero3,full,bf16," +
                                                          step_time_s + ",generic_fsdp,dgx_h100\n") +
                          " --format json");
  };
  const CommandResult measured = validate("0.7");
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_EQ(json::parse(measured.out)["rows"][0]["id"], "a");
  const CommandResult unmeasured = validate("");
  EXPECT_EQ(unmeasured.exit_code, 2);
  EXPECT_TRUE(has(unmeasured.err, "1 row is left out")) << unmeasured.err;
  EXPECT_TRUE(has(unmeasured.err, "--all takes them")) << unmeasured.err;
}

// Writes the table and gives its path.
std::string kernel_table(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

constexpr char kKernels[] =
    "chip,dtype,m,n,k,latency_ms\n"
    "h100,bfloat16,8192,8192,8192,1.4\n"
    "b200,nvfp4,8192,8192,8192,0.3\n"
    "h100,w4a16,8192,8192,8192,1.4\n";

TEST(ValidateKernels, plain_and_packed_tables_are_read_alike_and_tell_what_is_left_out) {
  const std::string plain = kernel_table("kernels.csv", kKernels);
  const std::string packed = kernel_table("kernels.csv.gz", gzipped(kKernels));
  const CommandResult result = podsim_command("validate " + plain);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "matmul h100 bfloat16")) << result.out;
  EXPECT_TRUE(has(result.out, "Left out, 1 rows from line 4 on: no number format \"w4a16\"")) << result.out;
  EXPECT_EQ(podsim_command("validate " + packed).out, result.out);
  const json report = json::parse(podsim_command("validate " + packed + " --format json").out);
  EXPECT_EQ(report["summary"][0]["rows"], 2);
  EXPECT_EQ(report["worst"].size(), 2u);
  EXPECT_EQ(report["left_out"][0]["first_line"], 4);
  const CommandResult rows = podsim_command("validate " + plain + " --only chip=b200 --format csv");
  EXPECT_TRUE(has(rows.out, "3,matmul,b200,nvfp4,m=8192 n=8192 k=8192,3e-04,")) << rows.out;
  EXPECT_FALSE(has(rows.out, "h100"));
}

TEST(ValidateKernels, what_cannot_be_used_ends_with_code_2) {
  const std::string packed = gzipped(kKernels);
  EXPECT_EQ(
      podsim_command("validate " + kernel_table("cut.csv.gz", packed.substr(0, packed.size() / 2))).exit_code,
      2);
  const CommandResult none = podsim_command(
      "validate " + kernel_table("none.csv", "chip,dtype,m,n,k,latency_ms\nmi300x,bf16,1,1,1,1\n"));
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(has(none.err, "chip mi300x has no kernels")) << none.err;
  EXPECT_EQ(podsim_command("validate " + kernel_table("only.csv", kKernels) + " --only chip=v100").exit_code,
            2);
}

}  // namespace
}  // namespace podsim::validate_test
