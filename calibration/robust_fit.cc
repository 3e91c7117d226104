// Regularised robust least squares by iterative reweighting.
#include "calibration/robust_fit.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr int kIterations = 50;
constexpr double kConverged = 1e-9;

// Weight of a row in the next least-squares problem: its own, less where the error is large.
double huber_weight(double error, double scale) {
  return std::abs(error) <= scale ? 1 : scale / std::abs(error);
}

}  // namespace

std::vector<double> errors_at(const FitProblem& problem, const std::vector<double>& offsets) {
  std::vector<double> errors = problem.error;
  for (std::size_t row = 0; row < errors.size(); ++row) {
    PODSIM_CHECK(problem.slope[row].size() == offsets.size(), "one slope for each parameter");
    for (std::size_t p = 0; p < offsets.size(); ++p) errors[row] += problem.slope[row][p] * offsets[p];
  }
  return errors;
}

std::vector<double> fit_offsets(const FitProblem& problem) {
  const std::size_t count = problem.slope.empty() ? 0 : problem.slope.front().size();
  const auto size = static_cast<Eigen::Index>(count);
  std::vector<double> offsets(count, 0);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const std::vector<double> errors = errors_at(problem, offsets);
    Eigen::MatrixXd normal = Eigen::MatrixXd::Identity(size, size);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
    for (std::size_t row = 0; row < errors.size(); ++row) {
      if (problem.weight[row] == 0) continue;
      const double scale = problem.scale[row];
      const double weight = problem.weight[row] * huber_weight(errors[row], scale) / (scale * scale);
      const Eigen::Map<const Eigen::VectorXd> slope(problem.slope[row].data(), size);
      normal.noalias() += weight * slope * slope.transpose();
      right.noalias() -= weight * problem.error[row] * slope;
    }
    const Eigen::VectorXd next = normal.ldlt().solve(right);
    double moved = 0;
    for (std::size_t p = 0; p < count; ++p) {
      const double value = next[static_cast<Eigen::Index>(p)];
      moved = std::max(moved, std::abs(value - offsets[p]));
      offsets[p] = value;
    }
    if (moved < kConverged) break;
  }
  return offsets;
}

double fit_cost(const FitProblem& problem, const std::vector<double>& errors,
                const std::vector<double>& offsets) {
  double cost = 0;
  for (std::size_t row = 0; row < errors.size(); ++row) {
    const double size = std::abs(errors[row]) / problem.scale[row];
    cost += problem.weight[row] * (size <= 1 ? size * size : 2 * size - 1);
  }
  for (const double offset : offsets) cost += offset * offset;
  return cost;
}

}  // namespace podsim
