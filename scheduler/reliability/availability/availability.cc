// Answers a question about availability, each combination by itself.
#include "scheduler/reliability/availability/availability.h"

#include <algorithm>
#include <cmath>

#include "scheduler/reliability/availability/simulate_slices.h"

namespace podsim {
namespace {

void tell_slices(const AvailabilityQuestion& question, const std::vector<double>& probability_of,
                 SliceAvailability& row) {
  double squares = 0;
  for (std::size_t n = 0; n < probability_of.size(); ++n) {
    row.slices += static_cast<double>(n) * probability_of[n];
    squares += static_cast<double>(n * n) * probability_of[n];
    if (n > 0) row.any_slice += probability_of[n];
  }
  row.any_slice = std::min(1.0, row.any_slice);
  row.slices_p5 = reached_with(probability_of, 0.95);
  row.slices_p50 = reached_with(probability_of, 0.5);
  row.slices_p95 = reached_with(probability_of, 0.05);
  const auto draws = static_cast<double>(question.draws);
  for (const int wanted : question.at_least_slices) {
    double reached = 0;
    for (auto n = static_cast<std::size_t>(wanted); n < probability_of.size(); ++n)
      reached += probability_of[n];
    reached = std::min(1.0, reached);  // the terms are rounded
    row.at_least.push_back(reached);
    if (question.simulate) row.at_least_error.push_back(std::sqrt(reached * (1 - reached) / draws));
  }
  if (question.simulate)
    row.slices_error = std::sqrt(std::max(0.0, squares - row.slices * row.slices) / (draws - 1));
}

void tell_job(const AvailabilityQuestion& question, const PartAvailability& parts, SliceAvailability& row) {
  if (!question.job || row.pool.most_slices() <= question.job->slices_in_use) return;
  if (!question.simulate) {
    row.job = job_outlook(row.pool, parts, *question.job);
    return;
  }
  const SimulatedOutlook outlook =
      simulate_job(row.pool, parts, *question.job, question.draws, question.seed);
  row.job = outlook.mean;
  row.job_error = outlook.standard_error;
}

SliceAvailability answer_one(const AvailabilityQuestion& question, int slice_chips, double host,
                             SlicePolicy policy) {
  PartAvailability parts = question.parts;
  parts.host = host;
  SliceAvailability row;
  row.slice_chips = slice_chips;
  row.host_availability = host;
  row.policy = policy;
  row.pool = cut_slices(question.pod, slice_chips, policy, parts.optical_stops);
  row.grain_availability = availability(row.pool.grain, parts) * availability(row.pool.group, parts);
  row.chips_per_slice_of_pod = static_cast<double>(slice_chips) / question.pod.chips();
  const bool optical = question.pod.cube > 0 && slice_chips >= question.pod.chips_per_block();
  if (optical && !parts.optical_stops) row.optical_bandwidth = parts.optical_link * parts.ocs;
  tell_slices(question,
              question.simulate ? simulate_slices(row.pool, parts, question.draws, question.seed)
                                : slices_there(row.pool, parts),
              row);
  tell_job(question, parts, row);
  return row;
}

}  // namespace

std::vector<SliceAvailability> answer(const AvailabilityQuestion& question) {
  std::vector<SliceAvailability> rows;
  for (const SlicePolicy policy : question.policies)
    for (const double host : question.host_availability)
      for (const int chips : question.slice_chips) rows.push_back(answer_one(question, chips, host, policy));
  return rows;
}

}  // namespace podsim
