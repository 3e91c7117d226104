// Regularised robust least squares by iterative reweighting.
#include "calibration/robust_fit.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr int kIterations = 50, kIterationsBetweenBounds = 2000;
constexpr double kConverged = 1e-9;

// In scales of the row.
double linear_beyond(const FitProblem& problem, std::size_t row) {
  return problem.linear_beyond.empty() ? 1 : problem.linear_beyond[row];
}

// What the square of an error counts in the next least-squares problem: less where it is beyond the bound.
double square_weight(const FitProblem& problem, std::size_t row, double error) {
  const double scale = problem.scale[row], size = std::abs(error) / scale;
  const double bound = linear_beyond(problem, row);
  return problem.weight[row] * (size <= bound ? 1 : bound / size) / (scale * scale);
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
    const double weight = square_weight(problem, row, errors[row]);
    const Eigen::Map<const Eigen::VectorXd> slope(problem.slope[row].data(), size);
    normal.matrix.noalias() += weight * slope * slope.transpose();
    normal.right.noalias() -= weight * problem.error[row] * slope;
  }
  return normal;
}

// How hard an offset is pressed against its bound: half the sum's slope inwards; 0 of one that is free.
double pressed(const FitProblem& problem, std::size_t parameter, double offset, double half_gradient) {
  if (problem.low.empty()) return 0;
  if (offset <= problem.low[parameter]) return std::max(0.0, half_gradient);
  if (offset >= problem.high[parameter]) return std::max(0.0, -half_gradient);
  return 0;
}

// The least of a sum that is quadratic, between bounds: the active set method for a convex one.
class BoundedLeastSquares {
 public:
  BoundedLeastSquares(const NormalEquations& normal, const FitProblem& problem)
      : normal_(normal), problem_(problem), held_(problem.low.size(), false) {}

  Eigen::VectorXd solve() {
    const std::size_t most = 20 * (held_.size() + 1);  // rounding alone could make it go round in circles
    at_ = Eigen::VectorXd::Zero(normal_.right.size());
    for (std::size_t round = 0; round < most; ++round)
      if (!stopped_on_the_way_to(least_of_the_free()) && !released()) break;
    return at_;
  }

 private:
  Eigen::VectorXd least_of_the_free() const {
    NormalEquations free = normal_;
    for (std::size_t p = 0; p < held_.size(); ++p)
      if (held_[p]) free.right -= normal_.matrix.col(index(p)) * at_[index(p)];
    for (std::size_t p = 0; p < held_.size(); ++p) {
      if (!held_[p]) continue;
      free.matrix.row(index(p)).setZero();
      free.matrix.col(index(p)).setZero();
      free.matrix(index(p), index(p)) = 1;
      free.right[index(p)] = at_[index(p)];
    }
    return free.matrix.ldlt().solve(free.right);
  }

  // Goes as far as the bounds let it; what meets one is held there.
  bool stopped_on_the_way_to(const Eigen::VectorXd& next) {
    double share = 1;
    std::size_t meets = held_.size();
    for (std::size_t p = 0; p < held_.size(); ++p) {
      const double from = at_[index(p)], to = next[index(p)];
      const double bound = std::clamp(to, problem_.low[p], problem_.high[p]);
      if (held_[p] || bound == to || (bound - from) / (to - from) >= share) continue;
      share = (bound - from) / (to - from);
      meets = p;
    }
    if (meets == held_.size()) {
      at_ = next;
      return false;
    }
    at_ += share * (next - at_);
    at_[index(meets)] = next[index(meets)] < problem_.low[meets] ? problem_.low[meets] : problem_.high[meets];
    held_[meets] = true;
    return true;
  }

  // Lets the one go that its bound keeps back most.
  bool released() {
    constexpr double kPull = 1e-9;
    const Eigen::VectorXd half_gradient = normal_.matrix * at_ - normal_.right;
    std::size_t kept = held_.size();
    double most = kPull;
    for (std::size_t p = 0; p < held_.size(); ++p) {
      if (!held_[p] || problem_.low[p] == problem_.high[p]) continue;
      const double gradient = half_gradient[index(p)];
      const double pull = at_[index(p)] <= problem_.low[p] ? -gradient : gradient;
      if (pull <= most) continue;
      most = pull;
      kept = p;
    }
    if (kept == held_.size()) return false;
    held_[kept] = false;
    return true;
  }

  static Eigen::Index index(std::size_t parameter) { return static_cast<Eigen::Index>(parameter); }

  const NormalEquations& normal_;
  const FitProblem& problem_;
  std::vector<bool> held_;
  Eigen::VectorXd at_;
};

Eigen::VectorXd least_of(const NormalEquations& normal, const FitProblem& problem) {
  if (problem.low.empty()) return normal.matrix.ldlt().solve(normal.right);
  return BoundedLeastSquares(normal, problem).solve();
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
  const int most = problem.low.empty() ? kIterations : kIterationsBetweenBounds;
  for (int iteration = 0; iteration < most; ++iteration) {
    const NormalEquations normal = normal_equations(problem, offsets);
    const Eigen::VectorXd next = least_of(normal, problem);
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
  NormalEquations normal = normal_equations(problem, offsets);
  const Eigen::Map<const Eigen::VectorXd> at(offsets.data(), static_cast<Eigen::Index>(offsets.size()));
  const Eigen::VectorXd half_gradient = normal.matrix * at - normal.right;
  for (std::size_t p = 0; p < offsets.size(); ++p) {
    const auto index = static_cast<Eigen::Index>(p);
    const double press = pressed(problem, p, offsets[p], half_gradient[index]);
    normal.matrix(index, index) += press * press;
  }
  const Eigen::MatrixXd inverse = normal.matrix.inverse();
  std::vector<std::vector<double>> covariance(offsets.size(), std::vector<double>(offsets.size()));
  for (std::size_t p = 0; p < offsets.size(); ++p)
    for (std::size_t q = 0; q < offsets.size(); ++q)
      covariance[p][q] = inverse(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(q));
  return covariance;
}

std::vector<double> fit_response(const FitProblem& problem, const std::vector<double>& offsets,
                                 const std::vector<std::vector<double>>& covariance,
                                 const std::vector<double>& fall) {
  const std::vector<double> errors = errors_at(problem, offsets);
  std::vector<double> response(offsets.size(), 0);
  for (std::size_t row = 0; row < errors.size(); ++row) {
    const double pull = square_weight(problem, row, errors[row]) * fall[row];
    for (std::size_t p = 0; p < offsets.size(); ++p)
      for (std::size_t q = 0; q < offsets.size(); ++q)
        response[p] += covariance[p][q] * problem.slope[row][q] * pull;
  }
  return response;
}

double fit_cost(const FitProblem& problem, const std::vector<double>& errors,
                const std::vector<double>& offsets) {
  double cost = 0;
  for (std::size_t row = 0; row < errors.size(); ++row) {
    const double size = std::abs(errors[row]) / problem.scale[row];
    const double bound = linear_beyond(problem, row);
    cost += problem.weight[row] * (size <= bound ? size * size : 2 * bound * size - bound * bound);
  }
  for (const double offset : offsets) cost += offset * offset;
  return cost;
}

}  // namespace podsim
