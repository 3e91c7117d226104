// What chips draw while they wait, and what their hosts draw, fitted to measured power.
#pragma once

#include <span>
#include <string>

namespace podsim {

// A run or figure with measured power, and what the chip did meanwhile.
struct PowerRow {
  std::string family;                           // of servers or chips, left out together
  double working_share = 0, waiting_share = 0;  // of a step: Activity
  double idle_w = 0, busy_w = 0;                // of the chip
  bool with_host = false;                       // measured with its share of host and network
  double host_w = 0;                            // of the host, by chip
  double measured_w = 0;                        // of a chip
};

struct PowerFit {
  double waiting_share = 0;  // of busy less idle watts, while a chip waits; [0, 1]
  double host_share = 0;     // of a chip's watts; >= 0
};

double watts(const PowerRow& row, const PowerFit& fit);

// Least squares of relative errors; the share of waiting to a thousandth. REQUIRES: a row with a host.
PowerFit fit_power(std::span<const PowerRow> rows);

}  // namespace podsim
