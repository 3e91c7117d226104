// A job that waits for a slice and works on it while parts fail and are mended.
#pragma once

#include <cstdint>

#include "scheduler/reliability/availability/slice_pool.h"

namespace podsim {

// It comes at a random moment. `slices_in_use` slices are others' and are served first: it needs one more.
// When a part of its slice fails it loses the work since its last checkpoint, waits until enough grains are
// up again, and spends `restart_h` before it goes on.
struct QueuedJob {
  double length_h = 0;  // of work
  double repair_h = 0;  // mean, exponential
  int slices_in_use = 0;
  double restart_h = 0;
  double checkpoint_every_h = 0;  // 0 = none: it begins again
};

// What a job that comes to the pod at a random moment has to expect; times in hours.
struct JobOutlook {
  double starts_at_once = 0;   // probability
  double without_restart = 0;  // probability, from its start on
  double wait_h = 0;           // mean, until it starts
  double restarts = 0;         // mean
  double finish_h = 0;         // mean, from its coming to its end
};

// Standard errors of the figures of a simulated outlook.
struct SimulatedOutlook {
  JobOutlook mean, standard_error;
};

// Grains go up and down independently of each other: up until one of their parts fails, down for a time that
// is exponential, too, with the mean that gives them their availability. The number of grains up is a
// birth-death chain, whose passage times are exact (Karlin and Taylor, A First Course in Stochastic
// Processes, section 4.7); after a failure the grains outside the slice are taken to be as at a random
// moment. Time to finish a piece of work u, begun again at each failure: (e^(L u) - 1) (1/L + r), L =
// failures per hour of the slice, r = wait and restart. REQUIRES: pool.pod needs nothing, and most_slices() >
// slices_in_use.
JobOutlook job_outlook(const SlicePool& pool, const PartAvailability& of, const QueuedJob& job);

// Grains that fail or are mended in one simulated draw, about: what it costs.
double events_per_draw(const SlicePool& pool, const PartAvailability& of, const QueuedJob& job);

// The same chain and job, event by event, so often.
SimulatedOutlook simulate_job(const SlicePool& pool, const PartAvailability& of, const QueuedJob& job,
                              std::int64_t draws, std::uint64_t seed);

// How often grains and slices change.
struct GrainRates {
  double fails_per_h = 0;   // of a grain that is up
  double mended_per_h = 0;  // of one that is down; infinite for one that never is
  double up = 1;            // share of the time
  double slice_fails_per_h = 0;
};
GrainRates grain_rates(const SlicePool& pool, const PartAvailability& of, double repair_h);

}  // namespace podsim
