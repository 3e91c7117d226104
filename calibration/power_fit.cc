// Two parameters of power by least squares.
#include "calibration/power_fit.h"

#include <algorithm>
#include <limits>

#include "engine/check.h"

namespace podsim {
namespace {

double chip_watts(const PowerRow& row, double waiting_share) {
  return row.idle_w + (row.busy_w - row.idle_w) * (row.working_share + waiting_share * row.waiting_share);
}

// The best share of hosts for a share of waiting: errors are linear in it.
double best_host_share(std::span<const PowerRow> rows, double waiting_share) {
  double slopes = 0, against = 0;
  for (const PowerRow& row : rows) {
    if (!row.with_host) continue;
    const double slope = chip_watts(row, waiting_share) / row.measured_w;
    slopes += slope * slope;
    against += slope * (1 - slope - row.host_w / row.measured_w);
  }
  PODSIM_CHECK(slopes > 0, "power is fitted to a row with a host");
  return std::max(0.0, against / slopes);
}

double squares(std::span<const PowerRow> rows, const PowerFit& fit) {
  double sum = 0;
  for (const PowerRow& row : rows) {
    const double error = watts(row, fit) / row.measured_w - 1;
    sum += error * error;
  }
  return sum;
}

}  // namespace

double watts(const PowerRow& row, const PowerFit& fit) {
  const double chip_w = chip_watts(row, fit.waiting_share);
  return row.with_host ? chip_w * (1 + fit.host_share) + row.host_w : chip_w;
}

PowerFit fit_power(std::span<const PowerRow> rows) {
  constexpr int kWaitingSteps = 1000;
  PowerFit best;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= kWaitingSteps; ++step) {
    const double waiting = static_cast<double>(step) / kWaitingSteps;
    const PowerFit fit{waiting, best_host_share(rows, waiting)};
    const double sum = squares(rows, fit);
    if (sum >= least) continue;
    least = sum;
    best = fit;
  }
  return best;
}

}  // namespace podsim
