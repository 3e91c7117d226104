// Picks independent effects one after another.
#include "calibration/slope_basis.h"

#include <Eigen/QR>

#include "engine/check.h"

namespace podsim {
namespace {

// What a combination leaves of an effect, relative to it, when it is that combination.
constexpr double kSame = 1e-9;

}  // namespace

SlopeBasis slope_basis(const std::vector<std::vector<double>>& effect) {
  SlopeBasis basis;
  const auto numbers = static_cast<Eigen::Index>(effect.empty() ? 0 : effect.front().size());
  Eigen::MatrixXd chosen(numbers, 0);
  std::vector<std::vector<double>> combination;
  for (std::size_t p = 0; p < effect.size(); ++p) {
    PODSIM_CHECK(static_cast<Eigen::Index>(effect[p].size()) == numbers, "effects on the same numbers");
    const Eigen::Map<const Eigen::VectorXd> moves(effect[p].data(), numbers);
    combination.emplace_back();
    if (numbers == 0 || moves.isZero(0)) continue;
    Eigen::VectorXd shares;
    if (chosen.cols() > 0) shares = chosen.colPivHouseholderQr().solve(moves);
    if (chosen.cols() > 0 && (chosen * shares - moves).norm() <= kSame * moves.norm()) {
      combination.back().assign(shares.data(), shares.data() + shares.size());
      continue;
    }
    chosen.conservativeResize(Eigen::NoChange, chosen.cols() + 1);
    chosen.rightCols(1) = moves;
    combination.back().assign(basis.moved.size(), 0);
    combination.back().push_back(1);
    basis.moved.push_back(p);
  }
  for (std::vector<double>& shares : combination) shares.resize(basis.moved.size(), 0);
  basis.combination = std::move(combination);
  return basis;
}

}  // namespace podsim
