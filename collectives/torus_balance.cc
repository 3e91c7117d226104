// The linear program of a multi-ring, solved by visiting its vertices.
#include "collectives/torus_balance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr double kTolerance = 1e-12;  // of numbers near 1

using Row = std::array<double, 5>;  // up to 4 unknowns and the right-hand side

// Solves `unknowns` equations by elimination with row exchange; nothing if they are dependent.
std::optional<std::array<double, 4>> solve(std::array<Row, 4> rows, int unknowns) {
  for (int column = 0; column < unknowns; ++column) {
    int pivot = column;
    for (int row = column + 1; row < unknowns; ++row)
      if (std::abs(rows[row][column]) > std::abs(rows[pivot][column])) pivot = row;
    if (std::abs(rows[pivot][column]) < kTolerance) return std::nullopt;
    std::swap(rows[pivot], rows[column]);
    for (int row = 0; row < unknowns; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (int k = column; k < 5; ++k) rows[row][k] -= factor * rows[column][k];
    }
  }
  std::array<double, 4> x = {};
  for (int i = 0; i < unknowns; ++i) x[i] = rows[i][4] / rows[i][i];
  return x;
}

// The fractions with which only the orders in `used` take data and all dimensions in `tied` carry the same.
std::optional<std::vector<double>> vertex(std::span<const std::array<double, 3>> loads, unsigned used,
                                          unsigned tied) {
  std::vector<int> orders;
  for (int p = 0; p < static_cast<int>(loads.size()); ++p)
    if (used >> p & 1) orders.push_back(p);
  const int count = static_cast<int>(orders.size());
  std::array<Row, 4> rows = {};
  int row = 0;
  for (int d = 0; d < 3; ++d) {
    if (!(tied >> d & 1)) continue;
    for (int i = 0; i < count; ++i) rows[row][i] = loads[orders[i]][d];
    rows[row++][count] = -1;  // the common load
  }
  for (int i = 0; i < count; ++i) rows[row][i] = 1;
  rows[row][4] = 1;
  const auto x = solve(rows, count + 1);
  if (!x) return std::nullopt;
  std::vector<double> fraction(loads.size(), 0.0);
  for (int i = 0; i < count; ++i) {
    if ((*x)[i] < -kTolerance) return std::nullopt;
    fraction[orders[i]] = std::max((*x)[i], 0.0);
  }
  return fraction;
}

std::array<double, 3> loads_of(std::span<const std::array<double, 3>> loads,
                               const std::vector<double>& fraction) {
  std::array<double, 3> sum = {};
  for (std::size_t p = 0; p < loads.size(); ++p)
    for (int d = 0; d < 3; ++d) sum[d] += fraction[p] * loads[p][d];
  return sum;
}

}  // namespace

TorusBalance balance_orders(std::span<const std::array<double, 3>> loads) {
  PODSIM_CHECK(!loads.empty() && loads.size() <= 6, "a torus has 1 to 6 orders of its dimensions");
  TorusBalance best;
  double least = INFINITY, largest_part = INFINITY;
  for (unsigned used = 1; used < 1u << loads.size(); ++used)
    for (unsigned tied = 1; tied < 8; ++tied) {
      if (std::popcount(used) != std::popcount(tied)) continue;
      auto fraction = vertex(loads, used, tied);
      if (!fraction) continue;
      const auto load = loads_of(loads, *fraction);
      const double busiest = *std::ranges::max_element(load);
      const double part = *std::ranges::max_element(*fraction);
      const bool ties = std::abs(busiest - least) <= least * kTolerance;
      if (ties ? part >= largest_part - kTolerance : busiest > least) continue;
      least = std::min(least, busiest);
      largest_part = part;
      best = {*std::move(fraction), load};
    }
  for (double& load : best.load)
    if (load > least * (1 - kTolerance)) load = least;
  return best;
}

}  // namespace podsim
