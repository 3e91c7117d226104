// A question about how much of a pod or cluster can be used, and its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/reliability/availability/job_outlook.h"

namespace podsim {

// A pod, how often its parts are up, and the slices and policies to be compared on it.
struct AvailabilityQuestion {
  std::string name, question;
  std::string sha256;  // of the scenario and of what its names mean
  PodParts pod;
  PartAvailability parts;  // host: see host_availability
  // Each with each. REQUIRES: explain_impossible is empty.
  std::vector<int> slice_chips;
  std::vector<double> host_availability;
  std::vector<SlicePolicy> policies;
  std::vector<int> at_least_slices;
  std::optional<QueuedJob> job;
  bool simulate = false;  // else closed form
  std::int64_t draws = 100'000;
  std::uint64_t seed = 1;
};

// Percentiles count down from the full pod: the number is at least p5 with probability 95 %, p95 with 5 %.
struct SliceAvailability {
  int slice_chips = 0;
  double host_availability = 1;
  SlicePolicy policy = SlicePolicy::kAnyCubes;
  SlicePool pool;
  double grain_availability = 1;  // of the pool's grains
  double slices = 0;              // mean
  int slices_p5 = 0, slices_p50 = 0, slices_p95 = 0;
  double any_slice = 0;               // probability of at least one
  std::vector<double> at_least;       // probability; as at_least_slices of the question
  double chips_per_slice_of_pod = 0;  // share of the pod's chips that one slice takes
  double optical_bandwidth = 1;       // mean share that is there where traffic is routed around what is down
  std::optional<JobOutlook> job;
  // Of a simulated answer.
  std::optional<double> slices_error;  // standard error of the mean
  std::vector<double> at_least_error;
  std::optional<JobOutlook> job_error;

  // Share of the pod's chips in slices that can be used.
  double goodput() const { return slices * chips_per_slice_of_pod; }
};

// Slice sizes vary fastest, then host availabilities, then policies.
std::vector<SliceAvailability> answer(const AvailabilityQuestion& question);

}  // namespace podsim
