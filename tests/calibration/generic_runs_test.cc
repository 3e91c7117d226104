// Runs with generic stacks: errors written back, and what one measured step is worth.
#include "calibration/generic_runs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validation/validate_runs.h"

namespace podsim::generic_runs_test {
namespace {

const Catalog& catalog() {
  static const Catalog kCatalog;
  return kCatalog;
}

constexpr char kHeader[] =
    "id,family,chip,chips,model,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch_seqs,micro_batch,"
    "tp,"
    "sp,pp,vp,dp,dp_sharding,recompute,precision,stack,fabric,step_time_s\n";

std::string line(const std::string& id, const std::string& family, int micro_batch, double step_time_s) {
  return id + "," + family + ",h100,8,m,4,2048,16,8192,32000,2048,64," + std::to_string(micro_batch) +
         ",1,0,1,1,8,fsdp,none,bf16,torchtitan,dgx_h100," + std::to_string(step_time_s) + "\n";
}

InputText table(const std::string& lines) { return {"folder/mine.csv", kHeader + lines}; }

InputText residuals(const std::string& lines) {
  return {
      "residuals.csv",
      "# a "
      "comment\nid,table,family,group,chip,chip_kind,stack,arch,chips,log_error,chip_left_out_log_error\n" +
          lines};
}

std::string residual(const std::string& id, const std::string& family, const std::string& of = "mine") {
  return id + "," + of + "," + family + ",g,h100,GPU,generic_fsdp,dense,8,0.5,0.5\n";
}

double predicted_s(const GenericRun& run) {
  return predict_run(run.run, catalog()).report.step_time.in_seconds();
}

TEST(GenericRuns, errors_are_those_of_the_stack_of_the_line_and_other_lines_stay) {
  const InputText before = residuals(residual("a", "f") + residual("z", "f", "theirs"));
  const GenericRuns runs = read_generic_runs(before, {table(line("a", "f", 1, 0.2))}, catalog());
  ASSERT_TRUE(runs.problems.empty()) << format_problem(runs.problems.front());
  ASSERT_EQ(runs.runs.size(), 1u);
  EXPECT_EQ(runs.runs[0].run.stack, "generic_fsdp");
  const std::string after = residuals_of(before, runs, catalog(), 1);
  EXPECT_NE(after.find("# a comment\nid,table"), std::string::npos) << after;
  EXPECT_NE(after.find(residual("z", "f", "theirs")), std::string::npos) << after;
  const double log_error = std::stod(after.substr(after.find("dense,8,") + 8));
  EXPECT_NEAR(log_error, std::log(predicted_s(runs.runs[0]) / 0.2), 1e-5);
}

TEST(GenericRuns, what_a_table_states_of_software_counts_where_it_is_asked_for) {
  std::string text = kHeader + line("a", "f", 1, 0.2);
  text.insert(text.find(",step_time_s"), ",attention_kernel");
  text.insert(text.rfind(','), ",unfused");
  const auto read = [&](bool stated) {
    return read_generic_runs(residuals(residual("a", "f")), {{"folder/mine.csv", text}}, catalog(), stated);
  };
  const GenericRuns untold = read(false), stated = read(true);
  ASSERT_EQ(untold.runs.size() + stated.runs.size(), 2u);
  EXPECT_EQ(untold.runs[0].run.text.find("attention_kernel"), std::string::npos);
  EXPECT_NE(stated.runs[0].run.text.find("attention_kernel: \"unfused\""), std::string::npos);
  EXPECT_NE(stated_text(untold, stated, catalog(), 1).find("| GPU, dense | 1 |"), std::string::npos);
}

TEST(GenericRuns, a_run_that_no_table_has_is_told_at_its_line) {
  const GenericRuns runs =
      read_generic_runs(residuals(residual("b", "f")), {table(line("a", "f", 1, 0.2))}, catalog());
  ASSERT_EQ(runs.problems.size(), 1u);
  EXPECT_EQ(runs.problems[0].line, 3);
}

TEST(GenericRuns, slopes_say_how_much_a_run_feels_each_number) {
  const GenericRuns runs =
      read_generic_runs(residuals(residual("a", "f")), {table(line("a", "f", 1, 0.2))}, catalog());
  AnchorPriors priors;
  priors.parameters = {{"rate", {find_stack_number("gemm_factor")}, false, 0.1, 0.1, 0.1, 2},
                       {"sends", {find_stack_number("send_exposed")}, true, 0.5, 0.5, 0, 1}};
  const std::string text = slopes_text(runs, catalog(), priors, 64, 1);
  EXPECT_TRUE(
      text.starts_with("id,family,stack,chip,arch,chips,measured_s,log_error,rate,sends\n"
                       "a,f,generic_fsdp,h100,dense,8,"))
      << text;
  const std::size_t last = text.rfind(','), before = text.rfind(',', last - 1);
  const double rate = std::stod(text.substr(before + 1)), sends = std::stod(text.substr(last + 1));
  EXPECT_LT(rate, -0.01);
  EXPECT_GT(rate, -0.1) << "a tenth faster matmuls";
  EXPECT_EQ(sends, 0) << "there is no pipeline";
  EXPECT_EQ(slopes_text(runs, catalog(), priors, 4, 1).find("a,f"), std::string::npos) << "too many chips";
}

TEST(GenericRuns, the_run_of_median_step_time_anchors_the_others_of_its_family) {
  const std::string all =
      residual("a", "f") + residual("b", "f") + residual("c", "f") + residual("d", "lone");
  const auto made = [&](double a_s, double b_s, double c_s) {
    return read_generic_runs(residuals(all),
                             {table(line("a", "f", 1, a_s) + line("b", "f", 2, b_s) + line("c", "f", 4, c_s) +
                                    line("d", "lone", 1, 1))},
                             catalog());
  };
  const GenericRuns first = made(1, 1, 1);
  ASSERT_TRUE(first.problems.empty()) << format_problem(first.problems.front());
  const double a = predicted_s(first.runs[0]), b = predicted_s(first.runs[1]), c = predicted_s(first.runs[2]);
  const auto families =
      anchored_families(made(1.2 * a, 1.2 * b, 1.2 * c), catalog(), builtin_anchor_priors(), 64, 1, 2);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].family, "f");
  EXPECT_EQ(families[0].rows, 2);
  EXPECT_NEAR(families[0].before, 1 - 1 / 1.2, 1e-4);
  EXPECT_LT(families[0].after, families[0].before / 2);
  EXPECT_EQ(families[0].inside, 2);
  EXPECT_TRUE(anchored_families(first, catalog(), builtin_anchor_priors(), 4, 1, 1).empty());
}

}  // namespace
}  // namespace podsim::generic_runs_test
