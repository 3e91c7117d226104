// The outlook of a queued job in closed form.
#include "scheduler/reliability/availability/job_outlook.h"

#include <cmath>
#include <limits>

#include "engine/check.h"

namespace podsim {
namespace {

// [k]: mean hours from k grains up to `needed`; 0 from there on. With birth rate b and death rate d, one more
// than k takes t(k) = (1 + d(k) t(k - 1)) / b(k).
std::vector<double> hours_until(int needed, int grains, const GrainRates& rates) {
  PODSIM_CHECK(needed <= grains, "a wait for more than there is has no end");
  std::vector<double> step(static_cast<std::size_t>(needed), 0.0);
  for (int k = 0; k < needed; ++k) {
    const double below = k == 0 ? 0 : k * rates.fails_per_h * step[k - 1];
    step[k] = (1 + below) / ((grains - k) * rates.mended_per_h);
  }
  std::vector<double> hours(static_cast<std::size_t>(needed) + 1, 0.0);
  for (int k = needed - 1; k >= 0; --k) hours[k] = hours[k + 1] + step[k];
  return hours;
}

// Mean hours until enough are up when `sure` grains are, one is not, and of the others each may be.
double mean_wait(const std::vector<double>& hours, int sure, int others, double up) {
  const std::vector<double> of_others = binomial(others, up);
  const auto needed = static_cast<int>(hours.size()) - 1;
  double wait = 0;
  for (int k = 0; k <= others && sure + k < needed; ++k)
    if (of_others[k] > 0) wait += of_others[k] * hours[sure + k];
  return wait;
}

// Pieces of work between checkpoints, the last perhaps shorter.
struct Pieces {
  double whole = 0;  // how many of `each_h`
  double each_h = 0, last_h = 0;
};

Pieces pieces_of(const QueuedJob& job) {
  if (job.checkpoint_every_h <= 0 || job.checkpoint_every_h >= job.length_h) return {0, 0, job.length_h};
  const double whole = std::floor(job.length_h / job.checkpoint_every_h);
  return {whole, job.checkpoint_every_h, std::fmax(0, job.length_h - whole * job.checkpoint_every_h)};
}

}  // namespace

GrainRates grain_rates(const SlicePool& pool, const PartAvailability& of, double repair_h) {
  GrainRates rates;
  const double grain = failures_per_h(pool.grain, of, repair_h);
  const double group = failures_per_h(pool.group, of, repair_h);
  rates.fails_per_h = grain + group;
  rates.up = availability(pool.grain, of) * availability(pool.group, of);
  rates.mended_per_h =
      rates.up < 1 ? rates.fails_per_h * rates.up / (1 - rates.up) : std::numeric_limits<double>::infinity();
  const int groups = (pool.grains_per_slice + pool.grains_per_group - 1) / pool.grains_per_group;
  rates.slice_fails_per_h = pool.grains_per_slice * grain + groups * group;
  return rates;
}

JobOutlook job_outlook(const SlicePool& pool, const PartAvailability& of, const QueuedJob& job) {
  const GrainRates rates = grain_rates(pool, of, job.repair_h);
  JobOutlook outlook{1, 1, 0, 0, job.length_h};
  if (rates.slice_fails_per_h == 0) return outlook;
  const int needed = (job.slices_in_use + 1) * pool.grains_per_slice;
  const std::vector<double> hours = hours_until(needed, pool.grains(), rates);
  const std::vector<double> up = binomial(pool.grains(), rates.up);
  outlook.starts_at_once = 0;
  for (int k = pool.grains(); k >= needed; --k) outlook.starts_at_once += up[k];
  outlook.starts_at_once = std::fmin(1, outlook.starts_at_once);  // the terms are rounded
  outlook.wait_h = mean_wait(hours, 0, pool.grains(), rates.up);

  const double fails = rates.slice_fails_per_h;
  outlook.without_restart = std::exp(-fails * job.length_h);
  const Pieces pieces = pieces_of(job);
  outlook.restarts = pieces.whole * std::expm1(fails * pieces.each_h) + std::expm1(fails * pieces.last_h);
  const double lost = job.restart_h + mean_wait(hours, pool.grains_per_slice - 1,
                                                pool.grains() - pool.grains_per_slice, rates.up);
  outlook.finish_h = outlook.wait_h + outlook.restarts * (1 / fails + lost);
  return outlook;
}

double events_per_draw(const SlicePool& pool, const PartAvailability& of, const QueuedJob& job) {
  const GrainRates rates = grain_rates(pool, of, job.repair_h);
  return 1 + job_outlook(pool, of, job).finish_h * 2 * pool.grains() * rates.up * rates.fails_per_h;
}

}  // namespace podsim
