// The band around a predicted step time: whose errors it is made of, and its percentiles by hand.
#include "prediction/error_band.h"

#include <gtest/gtest.h>

#include <cmath>

#include "prediction/predict.h"
#include "proto/catalog/convert.h"
#include "tests/prediction/scenario.h"

namespace podsim::error_band_test {
namespace {

constexpr Time kStep = {1'000'000'000'000};  // one second: the band's ends are its factors

// `count` runs of a family of their own each, whose errors are first, first + step, ...
std::vector<Residual> ladder(const std::string& chip, const std::string& stack, int count, double first,
                             double step, ChipKind kind = ChipKind::kGpu) {
  std::vector<Residual> rows;
  for (int i = 0; i < count; ++i) {
    const std::string name = chip + stack + std::to_string(i);
    rows.push_back({name, name, name, chip, stack, false, first + step * i, first + step * i, kind});
  }
  return rows;
}

void append(std::vector<Residual>& rows, const std::vector<Residual>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

PredictionKind dense(const std::string& chip, const std::string& stack, ChipKind kind = ChipKind::kGpu) {
  return {chip, stack, kind, false};
}

TEST(ErrorBand, percentiles_of_equal_weights_are_order_statistics_by_n_plus_one) {
  // 9 rows: the 10th percentile is the first row, the 90th the last.
  const auto band = step_time_band(kStep, dense("x", "s"), ladder("a", "s", 9, -0.04, 0.01));
  ASSERT_TRUE(band);
  EXPECT_EQ(band->kind, "unseen chip");
  EXPECT_EQ(band->rows, 9);
  EXPECT_NEAR(band->low.in_seconds(), std::exp(-0.04), 1e-4);
  EXPECT_NEAR(band->high.in_seconds(), std::exp(0.04), 1e-4);
  // 14 rows: at 0.1 x 15 = 1.5, halfway between the first and the second.
  const auto wider = step_time_band(kStep, dense("x", "s"), ladder("a", "s", 14, 0, 0.1));
  EXPECT_NEAR(wider->high.in_seconds(), std::exp(-0.05), 1e-4);
  EXPECT_NEAR(wider->low.in_seconds(), std::exp(-1.25), 1e-4);
}

TEST(ErrorBand, measured_over_predicted_is_the_inverse_of_the_error) {
  // Predictions 20 to 25 % too long: the measured step is shorter than the predicted one.
  const auto band =
      step_time_band(kStep, dense("a", "s"), ladder("a", "s", 20, std::log(1.2), std::log(1.25 / 1.2) / 19));
  EXPECT_GT(band->low.in_seconds(), 1 / 1.2501);
  EXPECT_LT(band->high.in_seconds(), 1 / 1.1999);
  EXPECT_LT(band->low, band->high);
}

TEST(ErrorBand, the_narrowest_kind_with_ten_rows_names_the_band) {
  std::vector<Residual> rows = ladder("a", "s", 10, 0, 0.01);
  append(rows, ladder("a", "t", 9, 0, 0.01));
  append(rows, ladder("b", "s", 9, 0, 0.01));
  append(rows, ladder("c", "s", 9, 0.5, 0.01, ChipKind::kTpu));
  const auto kind = [&](const std::string& chip, const std::string& stack) {
    const auto band =
        step_time_band(kStep, dense(chip, stack, chip == "c" ? ChipKind::kTpu : ChipKind::kGpu), rows);
    return band->kind + " " + std::to_string(band->rows);
  };
  EXPECT_EQ(kind("a", "s"), "same chip and stack 10");
  EXPECT_EQ(kind("a", "t"), "same chip 19");
  EXPECT_EQ(kind("b", "s"), "unseen chip 28");
  EXPECT_EQ(kind("c", "s"), "unseen chip 9");
  PredictionKind moe = dense("a", "s");
  moe.experts = true;
  EXPECT_FALSE(step_time_band(kStep, moe, rows));
  PredictionKind other = dense("a", "s");
  other.experts.reset();
  EXPECT_EQ(step_time_band(kStep, other, rows)->kind, "unseen kind of model");
  EXPECT_EQ(step_time_band(kStep, other, rows)->rows, 28);
}

TEST(ErrorBand, a_chip_that_is_neither_a_gpu_nor_a_tpu_has_the_errors_of_both) {
  std::vector<Residual> rows = ladder("a", "s", 9, 0, 0.01);
  append(rows, ladder("c", "s", 9, 0.5, 0.01, ChipKind::kTpu));
  const Catalog catalog;
  const auto rows_of = [&](const std::string& chip, const std::vector<Override>& overrides = {}) {
    const std::string kernel = chip.starts_with("tpu_") ? "splash" : "unfused";
    const LoadResult loaded = load_scenario(
        "plain",
        "cluster { chip: \"" + chip + "\" chips: 8 fabric: \"" + catalog.fabrics_of(chip).at(0) +
            "\" }\njob { model: \"gpt2_124m\" stack: \"generic_eager\" stack_override { attention_kernel: "
            "\"" +
            kernel +
            "\" } mesh { name: \"data\" size: 8 } sharding: \"data\" global_batch_sequences: 8 "
            "sequence_tokens: 1024 }\n",
        catalog, overrides);
    if (!loaded.spec) throw std::runtime_error(chip + ": " + format_problem(loaded.problems.at(0)));
    return step_time_band(kStep, kind_of(*loaded.spec), rows)->rows;
  };
  EXPECT_EQ(rows_of("h100"), 9);
  EXPECT_EQ(rows_of("mi300x"), 9);
  EXPECT_EQ(rows_of("tpu_v5p"), 9);
  for (const char* chip : {"gaudi2", "gaudi3", "trainium1", "trainium2"})
    EXPECT_EQ(rows_of(chip), 18) << chip;
  EXPECT_EQ(rows_of("h100", {{"cluster.chip_override.kind", "neither"}}), 18);
}

TEST(ErrorBand, what_a_chip_is_called_does_not_make_it_a_tpu) {
  const auto kind_with = [&](const std::string& scenario, const std::string& name) {
    return kind_of(testing::load(scenario, {{"cluster.chip_override.name", name}})).chip_kind;
  };
  EXPECT_EQ(kind_with("llama3_70b_512_v5p", "my_chip"), ChipKind::kTpu);
  EXPECT_EQ(kind_with("llama3_70b_512_h100", "tpu_like"), ChipKind::kGpu);
}

TEST(ErrorBand, a_stack_that_no_run_of_the_fit_is_of_has_the_errors_of_generic_stacks) {
  const auto band = [](const std::string& stack) {
    return *builtin_step_time_band(kStep, dense("h100", stack), "");
  };
  EXPECT_EQ(band("torchtitan").kind, "same chip");
  for (const char* stack : {"generic_eager", "generic_megatron", "mine"}) {
    EXPECT_EQ(band(stack).kind, "new stack");
    EXPECT_LT(band(stack).low, band("torchtitan").low);
    EXPECT_GT(band(stack).high, band("torchtitan").high);
  }
  EXPECT_TRUE(builtin_step_time_band(kStep, dense("tpu_v5p", "generic_xla"), ""));
}

TEST(ErrorBand, an_unseen_chip_has_the_errors_with_the_chip_left_out) {
  std::vector<Residual> rows = ladder("a", "s", 30, 0, 0);
  for (Residual& row : rows) row.chip_left_out_log_error = -0.2;
  EXPECT_NEAR(step_time_band(kStep, dense("b", "s"), rows)->high.in_seconds(), std::exp(0.2), 1e-4);
  EXPECT_NEAR(step_time_band(kStep, dense("a", "s"), rows)->low.in_seconds(), 1, 1e-4);
}

TEST(ErrorBand, few_rows_lean_on_the_wider_kind_and_many_speak_for_themselves) {
  const auto width = [](int rows_on_chip) {
    std::vector<Residual> rows = ladder("a", "s", rows_on_chip, 0, 0);
    append(rows, ladder("b", "s", 100, -0.3, 0.006));
    const auto band = step_time_band(kStep, dense("a", "s"), rows);
    return band->high.in_seconds() - band->low.in_seconds();
  };
  EXPECT_GT(width(10), 0.1);
  EXPECT_GT(width(10), width(30));
  EXPECT_NEAR(width(1000), 0, 1e-3);
}

TEST(ErrorBand, a_large_family_does_not_dominate) {
  std::vector<Residual> rows = ladder("a", "s", 10, 0.1, 0);
  std::vector<Residual> crowd = ladder("a", "s", 90, 0, 0);
  for (Residual& row : crowd) row.family = "crowd";
  append(rows, crowd);
  // As one row in ten the others would just not reach the 90th percentile; weighed they are a third.
  EXPECT_NEAR(step_time_band(kStep, dense("a", "s"), rows)->low.in_seconds(), std::exp(-0.1), 1e-4);
}

TEST(ErrorBand, a_run_does_not_vouch_for_itself) {
  std::vector<Residual> rows = ladder("a", "s", 10, 0, 0);
  rows[3].group = rows[4].group = "twins";
  EXPECT_EQ(step_time_band(kStep, dense("a", "s"), rows, "twins")->rows, 8);
  EXPECT_EQ(step_time_band(kStep, dense("a", "s"), rows)->rows, 10);
}

TEST(ErrorBand, bands_of_unseen_runs_hold_eight_in_ten_of_a_smooth_sample) {
  std::vector<Residual> rows = ladder("a", "s", 50, -0.25, 0.01);
  append(rows, ladder("b", "s", 50, -0.25, 0.01));
  int group = 0, chip = 0;
  for (const Residual& row : rows) {
    group += inside_with_group_left_out(row, rows).value() ? 1 : 0;
    chip += inside_with_chip_left_out(row, rows).value() ? 1 : 0;
  }
  EXPECT_NEAR(group, 80, 3);
  EXPECT_NEAR(chip, 80, 3);
  EXPECT_FALSE(inside_with_chip_left_out(rows[0], {rows[0], rows[1]}));
}

TEST(ErrorBand, shipped_residuals_are_of_shipped_runs_and_catalogue_names) {
  const Catalog catalog;
  EXPECT_GT(builtin_residuals().size(), 250u);
  for (const Residual& row : builtin_residuals()) {
    const auto chip = catalog_chip(catalog, row.chip);
    ASSERT_TRUE(chip) << row.id;
    EXPECT_EQ(chip->kind, row.chip_kind) << row.id;
    EXPECT_TRUE(catalog.text(Catalog::Section::kStacks, row.stack)) << row.id;
    EXPECT_EQ(find_residual(builtin_residuals(), row.family, row.id), &row);
  }
}

TEST(ErrorBand, every_prediction_has_one) {
  for (const char* scenario : {"llama3_70b_512_h100", "mixtral_8x22b_256_v5p", "dlrm_8_h100"}) {
    const Report report = predict_step(testing::load(scenario), {}).report;
    ASSERT_TRUE(report.band) << scenario;
    EXPECT_LT(report.band->low, report.band->high);
    EXPECT_LT(report.band->low, 2 * report.step_time);
  }
  const JobsReport jobs = *predict_step(testing::load("two_jobs_oversubscribed"), {}).jobs;
  EXPECT_TRUE(jobs.jobs[0].alone.band && jobs.jobs[0].together.band);
}

TEST(ErrorBand, a_residual_that_cannot_be_read_is_told_with_its_place) {
  const std::string header = "id,family,group,chip,chip_kind,stack,arch,log_error,chip_left_out_log_error\n";
  const Residuals read = read_residuals(
      "r.csv",
      header + "a,f,g,h100,GPU,s,sparse,0.1,0.1\nb,f,g,h100,GPU,s,moe,x,0\nc,f,g,h100,CPU,s,moe,0,0\n");
  ASSERT_EQ(read.problems.size(), 3u);
  EXPECT_EQ(read.problems[0].line, 2);
  EXPECT_EQ(read.problems[1].column, 22);
  EXPECT_EQ(read.problems[2].column, 12);
}

TEST(ErrorBand, a_new_stack_on_a_chip_that_no_run_is_on_adds_what_a_chip_left_out_adds) {
  // Medians 0 and 0.02; percentiles 0.04 and 0.03 from them: 0.05 in quadrature.
  const std::vector<Residual> generic = ladder("a", "generic", 9, -0.04, 0.01);
  std::vector<Residual> fitted = ladder("a", "s", 9, 0, 0);
  for (std::size_t i = 0; i < fitted.size(); ++i)
    fitted[i].chip_left_out_log_error = -0.01 + 0.0075 * static_cast<double>(i);
  const auto known = new_stack_band(kStep, dense("a", "mine"), generic, fitted);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->kind, "new stack");
  EXPECT_NEAR(known->high.in_seconds(), std::exp(0.04), 1e-4);
  const auto unseen = new_stack_band(kStep, dense("b", "mine"), generic, fitted);
  ASSERT_TRUE(unseen);
  EXPECT_EQ(unseen->kind, "new stack and chip");
  EXPECT_EQ(unseen->rows, 9);
  EXPECT_NEAR(unseen->high.in_seconds(), std::exp(0.05 - 0.02), 1e-4);
  EXPECT_NEAR(unseen->low.in_seconds(), std::exp(-0.05 - 0.02), 1e-4);
}

}  // namespace
}  // namespace podsim::error_band_test
