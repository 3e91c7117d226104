// A queued job, event by event: grains fail and are mended around it.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include "engine/random.h"
#include "scheduler/reliability/availability/job_outlook.h"
#include "scheduler/reliability/availability/sample.h"

namespace podsim {
namespace {

// One draw. `up` of `grains` count those that are not at work for the job.
class JobRun {
 public:
  JobRun(const SlicePool& pool, const GrainRates& rates, const QueuedJob& job, std::uint64_t seed,
         std::uint64_t draw)
      : pool_(pool), rates_(rates), job_(job), stream_(seed, RandomPurpose::kQueuedJob, draw) {
    needed_ = (job.slices_in_use + 1) * pool.grains_per_slice;
  }

  JobOutlook run(const std::vector<double>& up_at_random) {
    JobOutlook seen;
    int up = first(up_at_random);
    seen.starts_at_once = up >= needed_ ? 1 : 0;
    seen.wait_h = wait(up);
    double now = seen.wait_h;
    for (double done = 0; done < job_.length_h;) {
      const double left = job_.length_h - done;
      const double piece = job_.checkpoint_every_h > 0 ? std::min(job_.checkpoint_every_h, left) : left;
      const double failure = hours_until(rates_.slice_fails_per_h);
      int others = up - pool_.grains_per_slice;
      advance(others, std::min(piece, failure));
      if (failure >= piece) {
        now += piece;
        done += piece;
        up = others + pool_.grains_per_slice;
        continue;
      }
      ++seen.restarts;
      up = others + pool_.grains_per_slice - 1;
      now += failure + wait(up) + job_.restart_h;
      others = up - pool_.grains_per_slice;
      advance(others, job_.restart_h);
      up = others + pool_.grains_per_slice;
    }
    seen.without_restart = seen.restarts == 0 ? 1 : 0;
    seen.finish_h = now;
    return seen;
  }

 private:
  double uniform() { return stream_.uniform(index_++); }
  double hours_until(double rate) {
    return rate > 0 ? stream_.exponential(index_++) / rate : std::numeric_limits<double>::infinity();
  }

  int first(const std::vector<double>& up_at_random) {
    double left = uniform();
    std::size_t k = 0;
    while (k + 1 < up_at_random.size() && left > up_at_random[k]) left -= up_at_random[k++];
    return static_cast<int>(k);
  }

  // One change among `grains`, of which `up` are up.
  void change(int& up, int grains) {
    const double fails = up * rates_.fails_per_h, mended = (grains - up) * rates_.mended_per_h;
    up += uniform() * (fails + mended) < mended ? 1 : -1;
  }

  double change_rate(int up, int grains) const {
    const int down = grains - up;
    return up * rates_.fails_per_h + (down > 0 ? down * rates_.mended_per_h : 0);
  }

  // Hours until enough grains are up.
  double wait(int& up) {
    double hours = 0;
    while (up < needed_) {
      hours += hours_until(change_rate(up, pool_.grains()));
      change(up, pool_.grains());
    }
    return hours;
  }

  // Those outside the slice, for some hours.
  void advance(int& up, double hours) {
    const int grains = pool_.grains() - pool_.grains_per_slice;
    if (grains == 0) return;
    for (double left = hours - hours_until(change_rate(up, grains)); left > 0;
         left -= hours_until(change_rate(up, grains)))
      change(up, grains);
  }

  const SlicePool& pool_;
  const GrainRates& rates_;
  const QueuedJob& job_;
  int needed_;
  const RandomStream stream_;
  std::uint64_t index_ = 0;
};

}  // namespace

SimulatedOutlook simulate_job(const SlicePool& pool, const PartAvailability& of, const QueuedJob& job,
                              std::int64_t draws, std::uint64_t seed) {
  const GrainRates rates = grain_rates(pool, of, job.repair_h);
  if (rates.slice_fails_per_h == 0) return {job_outlook(pool, of, job), {}};
  const std::vector<double> up_at_random = binomial(pool.grains(), rates.up);
  constexpr double JobOutlook::*kFigures[] = {&JobOutlook::starts_at_once, &JobOutlook::without_restart,
                                              &JobOutlook::wait_h, &JobOutlook::restarts,
                                              &JobOutlook::finish_h};
  std::array<Sample, std::size(kFigures)> samples;
  for (std::int64_t d = 0; d < draws; ++d) {
    const JobOutlook seen = JobRun(pool, rates, job, seed, static_cast<std::uint64_t>(d)).run(up_at_random);
    for (std::size_t f = 0; f < samples.size(); ++f) samples[f].add(seen.*kFigures[f]);
  }
  SimulatedOutlook outlook;
  for (std::size_t f = 0; f < samples.size(); ++f) {
    outlook.mean.*kFigures[f] = samples[f].mean();
    outlook.standard_error.*kFigures[f] = samples[f].standard_error();
  }
  return outlook;
}

}  // namespace podsim
