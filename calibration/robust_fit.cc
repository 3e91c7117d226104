// Regularised robust least squares by iterative reweighting.
#include "calibration/robust_fit.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr int kIterations = 50;
constexpr double kConverged = 1e-9;

// Weight of a row in the next least-squares problem: its own, less where the error is beyond the bound.
double huber_weight(double error, double bound) {
  return std::abs(error) <= bound ? 1 : bound / std::abs(error);
}

struct NormalEquations {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd right;
};

// Of the least-squares problem that the errors at these offsets weigh.
NormalEquations normal_equations(const FitProblem& problem, const std::vector<double>& offsets) {
  const std::vector<double> errors = errors_at(problem, offsets);
  const auto size = static_cast<Eigen::Index>(offsets.size());
  NormalEquations normal{Eigen::MatrixXd::Identity(size, size), Eigen::VectorXd::Zero(size)};
  for (std::size_t row = 0; row < errors.size(); ++row) {
    if (problem.weight[row] == 0) continue;
    const double scale = problem.scale[row];
    const double weight =
        problem.weight[row] * huber_weight(errors[row], problem.linear_beyond * scale) / (scale * scale);
    const Eigen::Map<const Eigen::VectorXd> slope(problem.slope[row].data(), size);
    normal.matrix.noalias() += weight * slope * slope.transpose();
    normal.right.noalias() -= weight * problem.error[row] * slope;
  }
  return normal;
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
  std::vector<double> offsets(count, 0);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const NormalEquations normal = normal_equations(problem, offsets);
    const Eigen::VectorXd next = normal.matrix.ldlt().solve(normal.right);
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

std::vector<std::vector<double>> fit_covariance(const FitProblem& problem,
                                                const std::vector<double>& offsets) {
  const Eigen::MatrixXd inverse = normal_equations(problem, offsets).matrix.inverse();
  std::vector<std::vector<double>> covariance(offsets.size(), std::vector<double>(offsets.size()));
  for (std::size_t p = 0; p < offsets.size(); ++p)
    for (std::size_t q = 0; q < offsets.size(); ++q)
      covariance[p][q] = inverse(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(q));
  return covariance;
}

double fit_cost(const FitProblem& problem, const std::vector<double>& errors,
                const std::vector<double>& offsets) {
  double cost = 0;
  for (std::size_t row = 0; row < errors.size(); ++row) {
    const double size = std::abs(errors[row]) / problem.scale[row];
    const double bound = problem.linear_beyond;
    cost += problem.weight[row] * (size <= bound ? size * size : 2 * bound * size - bound * bound);
  }
  for (const double offset : offsets) cost += offset * offset;
  return cost;
}

}  // namespace podsim
