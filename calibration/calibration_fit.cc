// Gauss-Newton rounds with secant slopes around a robust linear fit.
#include "calibration/calibration_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "calibration/robust_fit.h"
#include "calibration/slope_basis.h"
#include "engine/check.h"

namespace podsim {
namespace {

// Slopes are taken over half a spread.
constexpr double kSecantStep = 0.5;
// Offsets that differ by less than this are not simulated again.
constexpr double kOffsetsSettled = 0.02;

std::vector<bool> all_rows(const FittedModel& model) {
  return std::vector<bool>(model.families().size(), true);
}

}  // namespace

double family_correlation(const std::vector<int>& families, const std::vector<double>& errors) {
  struct Sums {
    double rows = 0, sum = 0;
  };
  std::map<int, Sums> of;
  Sums all;
  for (std::size_t row = 0; row < errors.size(); ++row) {
    for (Sums* sums : {&of[families[row]], &all}) {
      sums->rows += 1;
      sums->sum += errors[row];
    }
  }
  const double groups = static_cast<double>(of.size());
  if (of.size() < 2 || all.rows <= groups) return 0;
  double between = 0, within = 0, squares = 0;
  for (const auto& [family, sums] : of) {
    between += sums.rows * std::pow(sums.sum / sums.rows - all.sum / all.rows, 2);
    squares += sums.rows * sums.rows;
  }
  for (std::size_t row = 0; row < errors.size(); ++row)
    within += std::pow(errors[row] - of[families[row]].sum / of[families[row]].rows, 2);
  between /= groups - 1;
  within /= all.rows - groups;
  const double size = (all.rows - squares / all.rows) / (groups - 1);
  const double total = between + (size - 1) * within;
  return total <= 0 ? 0 : std::clamp((between - within) / total, 0.0, 1.0);
}

// One fit on its way: the best offsets that were simulated, and slopes that agree with all simulations.
struct Calibrator::Attempt {
  FitProblem problem;
  Fitted best;
  std::vector<double> last, last_error;  // the simulation before
  bool done = false;
};

Calibrator::Calibrator(const FittedModel& model, const FitSettings& settings)
    : model_(model), settings_(settings) {
  const std::size_t rows = model.families().size();
  const std::vector<double> zero(model.parameters(), 0);
  std::vector<FitQuestion> questions(model.parameters() + 1, {zero, std::vector<bool>(rows, false)});
  for (std::size_t p = 0; p < model.parameters(); ++p) questions[p].offsets[p] = kSecantStep;
  questions.back().wanted = all_rows(model);
  std::vector<SlopeBasis> bases;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::vector<double>> effects;
    concerns_.emplace_back();
    for (std::size_t p = 0; p < model.parameters(); ++p) {
      effects.push_back(model.effect(p, row));
      concerns_.back().push_back(
          std::ranges::any_of(effects.back(), [](double moved) { return moved != 0; }));
    }
    if (!model.fitted()[row]) effects.clear();
    bases.push_back(slope_basis(effects));
    for (const std::size_t p : bases.back().moved) questions[p].wanted[row] = true;
  }
  const auto errors = model.log_errors(questions);
  start_ = errors.back();
  slope_.assign(rows, std::vector<double>(model.parameters(), 0));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t p = 0; p < model.parameters(); ++p)
      for (std::size_t i = 0; i < bases[row].moved.size(); ++i)
        slope_[row][p] +=
            bases[row].combination[p][i] * (errors[bases[row].moved[i]][row] - start_[row]) / kSecantStep;
}

// Takes a simulation into the problem: keeps it if it is the best, and turns the slopes of each row the least
// that makes them agree with it (Broyden 1965).
void Calibrator::correct(Attempt& attempt, const std::vector<double>& offsets,
                         const std::vector<double>& error) const {
  FitProblem& problem = attempt.problem;
  const double cost = fit_cost(problem, error, offsets);
  if (cost < attempt.best.cost) attempt.best = {offsets, error, cost};
  for (std::size_t row = 0; row < error.size(); ++row) {
    double length = 0, expected = attempt.last_error[row];
    for (std::size_t p = 0; p < offsets.size(); ++p) {
      const double step = offsets[p] - attempt.last[p];
      expected += problem.slope[row][p] * step;
      if (concerns_[row][p]) length += step * step;
    }
    problem.error[row] = error[row];
    for (std::size_t p = 0; p < offsets.size(); ++p) {
      if (length > 0 && concerns_[row][p])
        problem.slope[row][p] += (error[row] - expected) * (offsets[p] - attempt.last[p]) / length;
      problem.error[row] -= problem.slope[row][p] * offsets[p];
    }
  }
  attempt.last = offsets;
  attempt.last_error = error;
}

Calibrator::Attempt Calibrator::begin(const std::vector<bool>& left_out) const {
  const std::vector<double> zero(model_.parameters(), 0);
  std::vector<bool> fitted = model_.fitted();
  for (std::size_t row = 0; row < fitted.size(); ++row) fitted[row] = fitted[row] && !left_out[row];
  Attempt attempt;
  attempt.problem = {start_, slope_, family_weights(model_.families(), fitted, settings_.family_correlation),
                     model_.scales()};
  attempt.best = {zero, start_, fit_cost(attempt.problem, start_, zero)};
  attempt.last = zero;
  attempt.last_error = start_;
  return attempt;
}

void Calibrator::simulate_round(std::vector<Attempt>& attempts) const {
  std::vector<FitQuestion> questions;
  std::vector<Attempt*> asking;
  for (Attempt& attempt : attempts) {
    if (attempt.done) continue;
    std::vector<double> offsets = fit_offsets(attempt.problem);
    double moved = 0;
    for (std::size_t p = 0; p < offsets.size(); ++p)
      moved = std::max(moved, std::abs(offsets[p] - attempt.last[p]));
    attempt.done = moved < kOffsetsSettled;
    if (attempt.done) continue;
    questions.push_back({std::move(offsets), all_rows(model_)});
    asking.push_back(&attempt);
  }
  const auto errors = model_.log_errors(questions);
  for (std::size_t i = 0; i < asking.size(); ++i) correct(*asking[i], questions[i].offsets, errors[i]);
}

Fitted Calibrator::fit() const {
  std::vector<Attempt> attempts = {begin(std::vector<bool>(model_.families().size(), false))};
  for (int round = 0; round < settings_.rounds; ++round) simulate_round(attempts);
  return std::move(attempts.front().best);
}

std::vector<std::vector<double>> Calibrator::predict(const std::vector<std::vector<bool>>& left_out) const {
  std::vector<Attempt> attempts;
  for (const std::vector<bool>& rows : left_out) attempts.push_back(begin(rows));
  for (int round = 0; round < settings_.left_out_rounds; ++round) simulate_round(attempts);
  std::vector<FitQuestion> questions;
  for (std::size_t i = 0; i < attempts.size(); ++i)
    questions.push_back({fit_offsets(attempts[i].problem), left_out[i]});
  return model_.log_errors(questions);
}

std::vector<double> left_out_errors(const Calibrator& calibrator, const std::vector<int>& group, int folds) {
  PODSIM_CHECK(!group.empty() && folds != 1, "what is left out is predicted from the rest");
  const int groups = *std::ranges::max_element(group) + 1;
  const int parts = folds == 0 ? groups : std::min(folds, groups);
  std::vector<std::vector<bool>> left_out;
  for (int fold = 0; fold < parts; ++fold) {
    left_out.emplace_back();
    for (const int of : group) left_out.back().push_back(of % parts == fold);
  }
  const auto predicted = calibrator.predict(left_out);
  std::vector<double> errors;
  for (std::size_t row = 0; row < group.size(); ++row)
    errors.push_back(predicted[static_cast<std::size_t>(group[row] % parts)][row]);
  return errors;
}

}  // namespace podsim
