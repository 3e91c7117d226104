// The fit of power on rows that a fit made, and on all measured power that is known.
#include "calibration/power_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "prediction/predict.h"
#include "proto/catalog/owning_tables.h"
#include "proto/text/csv_table.h"
#include "proto/text/read_file.h"
#include "tests/prediction/scenario.h"

namespace podsim::power_fit_test {
namespace {

PowerRow made(const std::string& family, double working, bool with_host, const PowerFit& fit) {
  PowerRow row{family, working, 1 - working, 100, 700, with_host, with_host ? 60.0 : 0.0, 0};
  row.measured_w = watts(row, fit);
  return row;
}

// To the rows of all other families. REQUIRES: one of them has a host.
PowerFit fit_power_without(const std::vector<PowerRow>& rows, const std::string& family) {
  std::vector<PowerRow> others;
  for (const PowerRow& row : rows)
    if (row.family != family) others.push_back(row);
  return fit_power(others);
}

TEST(PowerFit, finds_the_shares_that_made_the_watts) {
  const PowerFit truth{0.37, 0.45};
  const std::vector<PowerRow> rows = {made("a", 0.9, true, truth), made("a", 0.4, true, truth),
                                      made("b", 0.2, false, truth)};
  for (const PowerFit& fit : {fit_power(rows), fit_power_without(rows, "b")}) {
    EXPECT_NEAR(fit.waiting_share, 0.37, 1e-9);
    EXPECT_NEAR(fit.host_share, 0.45, 1e-9);
  }
}

TEST(PowerFit, of_others_does_not_see_the_family_that_is_left_out) {
  const PowerFit truth{0.5, 0.4};
  std::vector<PowerRow> rows = {made("a", 0.9, true, truth), made("a", 0.4, true, truth),
                                made("b", 0.2, true, truth)};
  rows[2].measured_w *= 2;
  EXPECT_NEAR(fit_power_without(rows, "b").host_share, 0.4, 1e-9);
  EXPECT_GT(std::abs(fit_power(rows).host_share - 0.4), 0.05);
}

// A row of scenarios/calibration/power.csv.
struct Measured {
  std::string id;
  PowerRow row;
  double predicted_w = 0;              // of a chip, by the catalogue
  double table_w = 0, left_out_w = 0;  // as the table has them
};

std::vector<Measured> measured_power() {
  std::vector<Problem> problems;
  const auto text = read_file(PODSIM_SOURCE_DIR "/scenarios/calibration/power.csv", problems);
  CsvTable table("power.csv", text.value());
  std::vector<Measured> rows;
  for (const CsvRow& line : table.rows()) {
    const Spec spec = testing::load(table.cell(line, "scenario").text);
    const Chip& chip = spec.cluster.chip;
    const PowerReport power = predict_step(spec, {}).report.power;
    Measured measured;
    measured.id = table.cell(line, "id").text;
    PowerRow& row = measured.row;
    row.family = table.cell(line, "family").text;
    row.with_host = table.cell(line, "of").text == "server";
    row.working_share = (power.matmul_w + power.memory_w) / (chip.power_busy_w - chip.power_idle_w);
    row.waiting_share = power.waiting_share;
    row.idle_w = chip.power_idle_w;
    row.busy_w = chip.power_busy_w;
    row.host_w = usual_power().host_w / spec.cluster.fabric.chips_per_host;
    row.measured_w = table.number(line, "measured_w", CsvNumber::kPositive).value();
    measured.predicted_w = row.with_host ? power.system_w : power.chip_w;
    measured.table_w = table.number(line, "predicted_w", CsvNumber::kNotNegative).value();
    measured.left_out_w = table.number(line, "left_out_w", CsvNumber::kNotNegative).value();
    rows.push_back(measured);
  }
  return rows;
}

std::vector<PowerRow> rows_of(const std::vector<Measured>& measured) {
  std::vector<PowerRow> rows;
  for (const Measured& each : measured) rows.push_back(each.row);
  return rows;
}

TEST(PowerFit, of_all_measured_power_gives_the_shares_of_the_catalogue) {
  const PowerFit fit = fit_power(rows_of(measured_power()));
  EXPECT_NEAR(fit.waiting_share, usual_power().waiting_share, 0.006) << fit.waiting_share;
  EXPECT_NEAR(fit.host_share, usual_power().host_share, 0.006) << fit.host_share;
}

TEST(PowerFit, with_each_family_left_out_errs_by_less_than_8_percent_in_the_mean) {
  const std::vector<Measured> measured = measured_power();
  const std::vector<PowerRow> rows = rows_of(measured);
  double sum = 0, own_sum = 0;
  for (const Measured& each : measured) {
    const double left_out_w = watts(each.row, fit_power_without(rows, each.row.family));
    const double error = left_out_w / each.row.measured_w - 1;
    sum += std::abs(error);
    own_sum += std::abs(each.predicted_w / each.row.measured_w - 1);
    std::printf("%s measured %.1f predicted %.1f left out %.1f (%+.1f %%)\n", each.id.c_str(),
                each.row.measured_w, each.predicted_w, left_out_w, 100 * error);
    EXPECT_NEAR(each.predicted_w, each.table_w, 0.06) << each.id;
    EXPECT_NEAR(left_out_w, each.left_out_w, 0.06) << each.id;
  }
  const auto count = static_cast<double>(measured.size());
  std::printf("mean: %.2f %% left out, %.2f %% as it is\n", 100 * sum / count, 100 * own_sum / count);
  EXPECT_EQ(measured.size(), 8u);
  EXPECT_LT(sum / count, 0.08);
  EXPECT_LT(own_sum / count, 0.055);
}

}  // namespace
}  // namespace podsim::power_fit_test
