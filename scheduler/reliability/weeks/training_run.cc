// Delays, names of components, and what a plan says by itself.
#include "scheduler/reliability/weeks/training_run.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/check.h"
#include "engine/unit_factors.h"
#include "scheduler/reliability/weeks/closed_forms.h"

namespace podsim {
namespace {

constexpr std::array<std::string_view, kComponents> kComponentNames = {"gpu",         "hbm",
                                                                       "gpu_memory",  "gpu_processor",
                                                                       "thermal",     "silent_corruption",
                                                                       "host",        "cpu",
                                                                       "memory",      "storage",
                                                                       "power",       "chassis",
                                                                       "nic",         "network",
                                                                       "switch",      "cable",
                                                                       "ici_link",    "ocs",
                                                                       "software",    "collective_library",
                                                                       "maintenance", "preemption",
                                                                       "other"};

// While the job has all its nodes.
double strikes_per_s(const TrainingRun& run, const FailureSource& source) {
  const double share = static_cast<double>(run.units) / (run.units + run.spare_units);
  const double lemons = 1 + (run.lemons.factor - 1) * run.lemons.nodes / run.nodes();
  double rate = source.per_s;
  if (source.domain_nodes > 0) rate *= share;
  if (source.domain_nodes == 1 && !source.regular) rate *= lemons;
  return rate;
}

double stops_per_s(const TrainingRun& run, const FailureSource& source) {
  const bool stays = source.slows_to > 0 && !source.is_swapped();
  return stays ? 0 : strikes_per_s(run, source);
}

int units_struck(const TrainingRun& run, const FailureSource& source) {
  return std::min(run.units, (source.domain_nodes + run.nodes_per_unit - 1) / run.nodes_per_unit);
}

// The other replicas of the job go on from where they are, while none was missing before.
bool goes_on_without(const TrainingRun& run, const FailureSource& source) {
  if (!run.elastic || !run.elastic->keeps_work || source.domain_nodes == 0) return false;
  const int out = source.repair.mean_s > 0 ? units_struck(run, source) : 0;
  const int left = run.units - std::max(0, out - run.spare_units);
  return left / run.elastic->units_per_replica >= run.elastic->least_replicas;
}

// The job saves before it stops.
bool saves_before(const TrainingRun& run, const FailureSource& source) {
  return source.is_swapped() ||
         (source.notice.ms > 0 && run.checkpoints.pause + run.checkpoints.persist <= source.notice);
}

bool loses_training(const TrainingRun& run, const FailureSource& source) {
  return !goes_on_without(run, source) && !saves_before(run, source);
}

// What is trained between the save that a notice gives time for and the failure; where that is long, other
// saves come between.
double trained_after_save_s(const TrainingRun& run, const FailureSource& source) {
  if (source.is_swapped()) return 0;
  const Checkpoints& checkpoints = run.checkpoints;
  const double left_s = (source.notice - checkpoints.pause).in_seconds();
  return left_s <= checkpoints.interval.in_seconds() ? left_s : checkpoints.interval.in_seconds() / 2;
}

// Of a failure after which the job does not go back to a checkpoint of before its notice. What was announced
// needs no detection and no diagnosis.
double mean_stop_s(const TrainingRun& run, const FailureSource& source) {
  const double save_s = saves_before(run, source) ? run.checkpoints.pause.in_seconds() : 0;
  if (goes_on_without(run, source)) return save_s + run.elastic->reconfigure.mean_s;
  return save_s + trained_after_save_s(run, source) + mean_recovery_s(run) - run.recovery.detection.mean_s -
         run.recovery.diagnosis.mean_s;
}

// Of the speed with all units: the replicas that an elastic job has whole. Another waits for its last unit.
double speed_without(const TrainingRun& run, int missing_units) {
  if (missing_units <= 0) return 1;
  if (!run.elastic) return 0;
  const Elastic& elastic = *run.elastic;
  const int replicas = std::max(0, run.units - missing_units) / elastic.units_per_replica;
  if (replicas < elastic.least_replicas) return 0;
  return static_cast<double>(replicas) * elastic.units_per_replica / run.units * elastic.speed_of_rest;
}

// Mean of speed_without over what is in repair at a time. Spares fail as the job's own units do.
double speed_with_nodes_in_repair(const TrainingRun& run) {
  const double all_per_job = static_cast<double>(run.units + run.spare_units) / run.units;
  std::vector<Outages> outages;
  for (const FailureSource& source : run.failures)
    if (const double mean = stops_per_s(run, source) * all_per_job * source.repair.mean_s;
        source.domain_nodes > 0 && mean > 0)
      outages.push_back({units_struck(run, source), mean});
  if (outages.empty()) return 1;
  const std::vector<double> p = probabilities_of_outages(outages, run.spare_units + run.units);
  double speed = 0;
  for (int out = 0; out <= run.spare_units + run.units; ++out)
    speed += p[static_cast<std::size_t>(out)] * speed_without(run, out - run.spare_units);
  return speed;
}

}  // namespace

std::string_view to_string(Component component) {
  return kComponentNames[static_cast<std::size_t>(component)];
}

Milliseconds Delay::draw(const RandomStream& stream, std::uint64_t index) const {
  switch (kind) {
    case Kind::kFixed:
      break;
    case Kind::kExponential:
      return Milliseconds::seconds(mean_s * stream.exponential(index));
    case Kind::kLognormal:
      return Milliseconds::seconds(mean_s * Lognormal(coefficient_of_variation)(stream.normal(index)));
  }
  return Milliseconds::seconds(mean_s);
}

double Hazard::factor(double t_s) const {
  double factor = 1;
  if (infant_factor != 1) factor += (infant_factor - 1) * portable_exp(-t_s / infant_decay_s);
  if (wear_doubles_s > 0 && t_s > wear_begins_s) factor += (t_s - wear_begins_s) / wear_doubles_s;
  return factor *
         (1 + diurnal_swing * std::cos(2 * std::numbers::pi * (t_s - diurnal_peak_s) / kSecondsPerDay));
}

double Hazard::most(double length_s) const {
  double most = std::max(1.0, infant_factor);
  if (wear_doubles_s > 0 && length_s > wear_begins_s) most += (length_s - wear_begins_s) / wear_doubles_s;
  return most * (1 + diurnal_swing);
}

double failures_per_s(const TrainingRun& run) {
  double sum = 0;
  for (const FailureSource& source : run.failures) sum += strikes_per_s(run, source);
  return sum;
}

double interruptions_per_s(const TrainingRun& run) {
  double sum = 0;
  for (const FailureSource& source : run.failures) sum += stops_per_s(run, source);
  return sum;
}

double rollbacks_per_s(const TrainingRun& run) {
  double sum = 0;
  for (const FailureSource& source : run.failures)
    if (loses_training(run, source)) sum += stops_per_s(run, source);
  return sum;
}

double stopped_without_rollback(const TrainingRun& run) {
  double sum = 0;
  for (const FailureSource& source : run.failures)
    if (!loses_training(run, source)) sum += stops_per_s(run, source) * mean_stop_s(run, source);
  return sum;
}

double mean_speed(const TrainingRun& run) {
  double speed = (1 - run.redundant_share) * speed_with_nodes_in_repair(run);
  for (const FailureSource& source : run.failures) {
    const Delay& slow = source.is_swapped() ? source.swapped_after : source.repair;
    if (source.slows_to > 0)
      speed *= portable_exp(-strikes_per_s(run, source) * slow.mean_s * (1 - source.slows_to));
  }
  return speed;
}

double lost_copies_per_s(const TrainingRun& run) {
  if (!run.checkpoints.replicas) return 0;
  double sum = 0;
  for (const FailureSource& source : run.failures)
    if (loses_training(run, source) && units_struck(run, source) > run.checkpoints.replicas->survives_units)
      sum += stops_per_s(run, source);
  return sum;
}

double mean_nodes_in_repair(const TrainingRun& run) {
  double sum = 0;
  for (const FailureSource& source : run.failures)
    sum += nodes_in_repair(source.domain_nodes, stops_per_s(run, source), source.repair.mean_s);
  return sum;
}

double mean_recovery_s(const TrainingRun& run) {
  const Recovery& recovery = run.recovery;
  return recovery.detection.mean_s + recovery.diagnosis.mean_s + recovery.restart.mean_s +
         recovery.restore.mean_s + recovery.warm_up.mean_s;
}

double mean_recovery_from_memory_s(const TrainingRun& run) {
  PODSIM_CHECK(run.checkpoints.replicas.has_value(), "copies in memory are restored where there are some");
  return mean_recovery_s(run) - run.recovery.restore.mean_s + run.checkpoints.replicas->restore.mean_s;
}

}  // namespace podsim
