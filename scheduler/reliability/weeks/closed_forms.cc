// The formulas of failures and checkpoints.
#include "scheduler/reliability/weeks/closed_forms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim {

double mttf_s(double nodes, double failures_per_node_s) {
  PODSIM_CHECK(nodes > 0 && failures_per_node_s > 0, "what never fails has no mean time to failure");
  return 1 / (nodes * failures_per_node_s);
}

double young_interval_s(double save_s, double mttf_s) {
  PODSIM_CHECK(save_s >= 0 && mttf_s > 0, "an interval needs failures");
  return std::sqrt(2 * save_s * mttf_s);
}

double daly_interval_s(double save_s, double mttf_s) {
  PODSIM_CHECK(save_s >= 0 && mttf_s > 0, "an interval needs failures");
  if (save_s >= 2 * mttf_s) return mttf_s;
  const double ratio = save_s / (2 * mttf_s);
  return young_interval_s(save_s, mttf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - save_s;
}

double checkpointed_goodput(double interval_s, double save_s, double restart_s, double mttf_s,
                            double persist_s) {
  PODSIM_CHECK(interval_s > 0 && save_s >= 0 && restart_s >= 0 && mttf_s > 0, "a segment trains");
  PODSIM_CHECK(persist_s >= 0, "a checkpoint is not there before it is begun");
  const double segment_s =
      mttf_s * std::exp((restart_s + persist_s) / mttf_s) * std::expm1((interval_s + save_s) / mttf_s);
  return interval_s / segment_s;
}

double goodput_with_copies(const MemoryCopies& copies, double mttf_s, double share_lost) {
  PODSIM_CHECK(share_lost >= 0 && share_lost <= 1, "a share is one of failures");
  const double round_s = copies.interval_s + copies.save_s;
  const double kept =  // of the time between failures that take the copies
      share_lost == 1 ? copies.interval_s / round_s
                      : checkpointed_goodput(copies.interval_s, copies.save_s, copies.memory_restart_s,
                                             mttf_s / (1 - share_lost));
  if (share_lost == 0) return kept;
  const double storage_interval_s = copies.interval_s * copies.saves_per_storage_save;
  return checkpointed_goodput(storage_interval_s,
                              std::max(0.0, storage_interval_s / kept - storage_interval_s),
                              copies.storage_restart_s, mttf_s / share_lost, copies.persist_s);
}

double best_interval_s(double save_s, double mttf_s) {
  PODSIM_CHECK(save_s >= 0 && mttf_s > 0, "an interval needs failures");
  if (save_s == 0) return 0;
  const double save = save_s / mttf_s;
  double x = std::min(1.0, std::sqrt(2 * save));
  // Newton's method on a function whose slope does not change sign: it converges from any x in (0, 1].
  for (int round = 0; round < 60; ++round) {
    const double still_up = std::exp(-x - save);
    const double step = (x - 1 + still_up) / (1 - still_up);
    x -= step;
    if (std::abs(step) <= 1e-16 * x) break;
  }
  return x * mttf_s;
}

double expected_ettr(double interval_s, double save_s, double restart_s, double mttf_s) {
  PODSIM_CHECK(interval_s > 0 && save_s >= 0 && restart_s >= 0 && mttf_s > 0, "a segment trains");
  const double kept = 1 - (restart_s + interval_s / 2) / mttf_s;
  return std::max(0.0, kept) / (1 + save_s / interval_s);
}

double nodes_in_repair(double nodes, double failures_per_node_s, double repair_s) {
  PODSIM_CHECK(nodes >= 0 && failures_per_node_s >= 0 && repair_s >= 0, "rates and times have no sign");
  return nodes * failures_per_node_s * repair_s;
}

std::int64_t poisson_quantile(double mean, double probability) {
  PODSIM_CHECK(mean >= 0 && probability >= 0 && probability < 1, "a quantile is of a probability below 1");
  // Probabilities relative to that of the mode, so that none underflows that matters.
  constexpr double kNegligible = 1e-20;
  const auto mode = static_cast<std::int64_t>(mean);
  double below = 0, first = 1;
  std::int64_t n = mode;
  for (; n > 0 && first > kNegligible; --n) {
    first *= static_cast<double>(n) / mean;
    below += first;
  }
  double above = 1, term = 1;
  for (std::int64_t k = mode + 1; term > kNegligible; ++k) {
    term *= mean / static_cast<double>(k);
    above += term;
  }
  const double wanted = probability * (below + above);
  double sum = first, at = first;
  if (n == mode) sum = at = 1;
  while (sum < wanted) {
    ++n;
    at *= mean / static_cast<double>(n);
    sum += at;
  }
  return n;
}

std::vector<double> probabilities_of_outages(std::span<const Outages> outages, std::int64_t most) {
  PODSIM_CHECK(most >= 0, "things are counted from 0");
  // Relative to that of none, made smaller by a power of two where they grow: none that matters underflows.
  constexpr int kShift = 800;
  std::vector<double> p(static_cast<std::size_t>(most) + 1, 0.0);
  double log_scale = 0;
  for (const Outages& each : outages) {
    PODSIM_CHECK(each.size > 0 && each.mean >= 0, "an outage is of something");
    log_scale -= each.mean;
  }
  p[0] = 1;
  for (std::int64_t n = 1; n <= most; ++n) {
    double sum = 0;
    for (const Outages& each : outages)
      if (each.size <= n) sum += each.mean * each.size * p[static_cast<std::size_t>(n - each.size)];
    double& here = p[static_cast<std::size_t>(n)];
    here = sum / static_cast<double>(n);
    if (here < std::ldexp(1.0, kShift)) continue;
    for (double& before : p) before = std::ldexp(before, -kShift);
    log_scale += kShift * std::numbers::ln2;
  }
  const double scale = portable_exp(log_scale);
  for (double& each : p) each *= scale;
  return p;
}

double probability_of_any(double count, double probability) {
  PODSIM_CHECK(count >= 0 && probability >= 0 && probability <= 1, "a probability is at most 1");
  return -std::expm1(count * std::log1p(-probability));
}

}  // namespace podsim
