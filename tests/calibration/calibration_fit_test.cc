// Laws of a calibration on formulas in place of the simulator.
#include "calibration/calibration_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podsim::calibration_fit_test {
namespace {

// Steps of compute and of traffic that is partly exposed: time = work / rate + traffic x exposed, where the
// parameters are log(rate) and exposed in spreads of 0.2 and 0.3 around 1 and 0.5.
class Formula : public FittedModel {
 public:
  struct Row {
    int family;
    double work, traffic, measured;
  };
  explicit Formula(std::vector<Row> rows, double scale) : rows_(std::move(rows)) {
    for (const Row& row : rows_) families_.push_back(row.family);
    scales_.assign(rows_.size(), scale);
    fitted_.assign(rows_.size(), true);
  }
  static double time(const Row& row, double rate, double exposed) {
    return row.work / rate + row.traffic * exposed;
  }
  static double rate(double offset) { return std::exp(0.2 * offset); }
  static double exposed(double offset) { return std::clamp(0.5 + 0.3 * offset, 0.0, 1.0); }

  std::size_t parameters() const override { return 2; }
  const std::vector<int>& families() const override { return families_; }
  const std::vector<double>& scales() const override { return scales_; }
  const std::vector<bool>& fitted() const override { return fitted_; }
  std::vector<double> effect(std::size_t parameter, std::size_t row) const override {
    return {parameter == 0 ? 0.2 : 0.0, parameter == 1 && rows_[row].traffic > 0 ? 0.3 : 0.0};
  }
  std::vector<std::vector<double>> log_errors(const std::vector<FitQuestion>& questions) const override {
    std::vector<std::vector<double>> errors;
    for (const FitQuestion& question : questions) {
      errors.emplace_back();
      for (std::size_t row = 0; row < rows_.size(); ++row)
        errors.back().push_back(question.wanted[row] ? std::log(time(rows_[row], rate(question.offsets[0]),
                                                                     exposed(question.offsets[1])) /
                                                                rows_[row].measured)
                                                     : 0);
    }
    return errors;
  }

  std::vector<Row> rows_;
  std::vector<bool> fitted_;

 private:
  std::vector<int> families_;
  std::vector<double> scales_;
};

// Runs measured without error on a machine of these parameters.
Formula exact(double rate_offset, double exposed_offset, double scale = 0.05) {
  std::vector<Formula::Row> rows;
  for (int i = 0; i < 12; ++i) {
    Formula::Row row{i % 3, 1.0 + i, i % 4 * 1.5, 0};
    row.measured = Formula::time(row, Formula::rate(rate_offset), Formula::exposed(exposed_offset));
    rows.push_back(row);
  }
  return Formula(rows, scale);
}

std::vector<bool> all(const Formula& model) { return std::vector<bool>(model.rows_.size(), true); }

TEST(CalibrationFit, exact_measurements_give_their_parameters_back) {
  const Formula model = exact(-1.2, 0.9, 0.01);
  FitSettings settings;
  settings.rounds = 6;
  const Fitted fitted = Calibrator(model, settings).fit();
  EXPECT_NEAR(fitted.offsets[0], -1.2, 0.02);
  EXPECT_NEAR(fitted.offsets[1], 0.9, 0.05);
  for (const double error : fitted.log_error) EXPECT_NEAR(error, 0, 0.01);
}

TEST(CalibrationFit, rows_that_agree_with_the_starts_move_nothing) {
  const Formula model = exact(0, 0);
  const Fitted fitted = Calibrator(model, {}).fit();
  EXPECT_EQ(fitted.offsets, (std::vector<double>{0, 0}));
  EXPECT_NEAR(fitted.cost, 0, 1e-20);
}

TEST(CalibrationFit, the_errors_told_are_those_of_the_model_at_the_fitted_parameters) {
  const Formula model = exact(-1, 2.5);
  const Fitted fitted = Calibrator(model, {}).fit();
  EXPECT_EQ(fitted.log_error, model.log_errors({{fitted.offsets, all(model)}}).front());
}

TEST(CalibrationFit, more_rounds_never_cost_more) {
  const Formula model = exact(-2, 1.4);
  double before = 1e300;
  for (int rounds = 1; rounds < 6; ++rounds) {
    FitSettings settings;
    settings.rounds = rounds;
    const double cost = Calibrator(model, settings).fit().cost;
    EXPECT_LE(cost, before);
    before = cost;
  }
}

TEST(CalibrationFit, what_a_left_out_row_measured_changes_nothing_of_what_is_predicted_for_it) {
  Formula model = exact(-1, 0.5);
  const std::vector<int> groups = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
  for (const int folds : {0, 3}) {
    FitSettings settings;
    settings.left_out_rounds = folds;
    const std::vector<double> before = left_out_errors(Calibrator(model, settings), groups, folds);
    Formula other = model;
    for (const std::size_t row : {4u, 5u}) other.rows_[row].measured *= 7;
    const std::vector<double> after = left_out_errors(Calibrator(other, settings), groups, folds);
    for (const std::size_t row : {4u, 5u}) EXPECT_NEAR(after[row] + std::log(7), before[row], 1e-12) << folds;
    EXPECT_NE(after[0], before[0]) << "the others see it";
  }
}

TEST(CalibrationFit, a_row_left_out_is_predicted_as_the_fit_of_the_others_predicts_it) {
  const Formula model = exact(-1, 0.5);
  std::vector<int> groups;
  for (int row = 0; row < 12; ++row) groups.push_back(row);
  const std::vector<double> errors = left_out_errors(Calibrator(model, {}), groups, 0);
  std::vector<bool> one(12, false);
  one[7] = true;
  const std::vector<double> alone = Calibrator(model, {}).predict({one}).front();
  EXPECT_EQ(errors[7], alone[7]);
  EXPECT_EQ(alone[6], 0) << "it was fitted";
}

TEST(CalibrationFit, what_fits_without_error_is_predicted_without_seeing_it) {
  const Formula model = exact(-0.5, 0.4, 0.005);
  FitSettings settings;
  settings.left_out_rounds = 4;
  for (const double error :
       left_out_errors(Calibrator(model, settings), {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, 4))
    EXPECT_NEAR(error, 0, 0.01);
}

TEST(CalibrationFit, a_row_that_is_only_predicted_has_no_say) {
  Formula model = exact(-1, 0.5);
  model.fitted_[3] = false;
  const Fitted before = Calibrator(model, {}).fit();
  model.rows_[3].measured *= 7;
  const Fitted after = Calibrator(model, {}).fit();
  EXPECT_EQ(after.offsets, before.offsets);
  EXPECT_NEAR(after.log_error[3] + std::log(7), before.log_error[3], 1e-12);
}

TEST(CalibrationFit, a_row_of_a_family_counts_as_its_correlation_with_the_others_says) {
  const std::vector<int> families = {0, 0, 0, 1, 2};
  const std::vector<bool> fitted = {true, true, true, true, false};
  EXPECT_EQ(family_weights(families, fitted, 0), (std::vector<double>{1, 1, 1, 1, 0}));
  EXPECT_EQ(family_weights(families, fitted, 0.5), (std::vector<double>{0.5, 0.5, 0.5, 1, 0}));
  const auto whole = family_weights(families, fitted, 1);
  EXPECT_NEAR(whole[0] + whole[1] + whole[2], 1, 1e-12) << "families count alike";
}

// Two families at +d and -d that do not scatter err wholly alike; pure scatter shows no correlation.
TEST(CalibrationFit, the_correlation_within_families_is_seen_in_the_errors) {
  const std::vector<int> families = {0, 0, 1, 1};
  EXPECT_NEAR(family_correlation(families, {0.1, 0.1, -0.1, -0.1}), 1, 1e-12);
  EXPECT_EQ(family_correlation(families, {0.1, -0.1, 0.1, -0.1}), 0);
  // Between: 2 x 0.1^2 x 2 / 1 = 0.04; within: 4 x 0.05^2 / 2 = 0.005; (0.04 - 0.005) / (0.04 + 0.005).
  EXPECT_NEAR(family_correlation(families, {0.15, 0.05, -0.05, -0.15}), 7.0 / 9, 1e-12);
  EXPECT_EQ(family_correlation({0, 0}, {0.1, 0.2}), 0);
}

}  // namespace
}  // namespace podsim::calibration_fit_test
