// Delays, names of components, and what a plan says by itself.
#include "scheduler/weeks/training_run.h"

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::array<std::string_view, kComponents> kNames = {"gpu",         "hbm",
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

}  // namespace

std::string_view to_string(Component component) { return kNames[static_cast<std::size_t>(component)]; }

Tick Delay::draw(const RandomStream& stream, std::uint64_t index) const {
  switch (kind) {
    case Kind::kFixed:
      break;
    case Kind::kExponential:
      return Tick::seconds(mean_s * stream.exponential(index));
    case Kind::kLognormal:
      return Tick::seconds(mean_s * Lognormal(coefficient_of_variation)(stream.normal(index)));
  }
  return Tick::seconds(mean_s);
}

double interruptions_per_s(const TrainingRun& run) {
  const double share = static_cast<double>(run.units) / (run.units + run.spare_units);
  double sum = 0;
  for (const FailureSource& source : run.failures)
    sum += source.domain_nodes == 0 ? source.per_s : source.per_s * share;
  return sum;
}

double mean_recovery_s(const TrainingRun& run) {
  const Recovery& recovery = run.recovery;
  return recovery.detection.mean_s + recovery.diagnosis.mean_s + recovery.restart.mean_s +
         recovery.restore.mean_s + recovery.warm_up.mean_s;
}

}  // namespace podsim
