// A training run of weeks as it is planned: the nodes, what fails, how the job saves and comes back.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/random.h"
#include "scheduler/reliability/weeks/milliseconds.h"

namespace podsim {

// How long something takes: the same each time, or drawn anew.
struct Delay {
  enum class Kind : std::uint8_t { kFixed, kExponential, kLognormal };
  Kind kind = Kind::kFixed;
  double mean_s = 0;                    // 0 = it does not happen
  double coefficient_of_variation = 0;  // of kLognormal

  Milliseconds draw(const RandomStream& stream, std::uint64_t index) const;
};

// What fails, in the order of FailureRate.Component (proto/reliability.proto), which begins with one more.
enum class Component : std::uint8_t {
  kGpu,
  kHbm,
  kGpuMemory,
  kGpuProcessor,
  kThermal,
  kSilentCorruption,
  kHost,
  kCpu,
  kMemory,
  kStorage,
  kPower,
  kChassis,
  kNic,
  kNetwork,
  kSwitch,
  kCable,
  kIciLink,
  kOcs,
  kSoftware,
  kCollectiveLibrary,
  kMaintenance,
  kPreemption,
  kOther,
};
inline constexpr std::size_t kComponents = static_cast<std::size_t>(Component::kOther) + 1;
std::string_view to_string(Component component);  // "gpu", "hbm", "gpu_memory", ...

// One way to fail. Failures come by chance at a constant rate, or at regular times.
struct FailureSource {
  Component component = Component::kOther;
  double per_s = 0;          // on the whole cluster with its spares, while all of it is up
  bool regular = false;      // every 1 / per_s, beginning one period after the start
  int domain_nodes = 1;      // consecutive nodes that it strikes at once; 0 = the job and no node
  Delay repair;              // so long the nodes are out; does not happen: they are good after the restart
  Milliseconds notice = {};  // so long before it is known
  // Instead of stopping, the job runs at this speed until the repair: traffic goes round a link. 0 = it
  // stops.
  double slows_to = 0;
  Delay swapped_after;  // until it is found; then the job saves and the nodes go. Does not happen: it stays
                        // until its repair

  bool is_swapped() const { return slows_to > 0 && swapped_after.mean_s > 0; }
};

// How the rate of chance failures that strike nodes changes over the run: factor = 1 + (infant - 1) e^(-t /
// decay)
// + how far wear has come, times 1 + swing cos(2 pi (t - peak) / day).
struct Hazard {
  double infant_factor = 1;                      // at the start
  double infant_decay_s = 0;                     // > 0 where the factor is not 1
  double wear_begins_s = 0, wear_doubles_s = 0;  // from then on by the base rate each so many s; 0 = none
  double diurnal_swing = 0;                      // [0, 1)
  double diurnal_peak_s = 0;                     // after the start of the run

  bool constant() const { return infant_factor == 1 && wear_doubles_s == 0 && diurnal_swing == 0; }
  double factor(double t_s) const;
  double most(double length_s) const;  // no factor until then is larger
};

// Nodes that fail more often than the others by themselves, one node at a time.
struct Lemons {
  int nodes = 0;          // which ones is drawn
  double factor = 1;      // of the rate of the others, >= 1
  int removed_after = 0;  // so many of these failures; then a good node is in its place; 0 = never
};

// From a failure until training goes on. Each part begins when the one before has ended; another failure
// begins them again. What is announced is neither detected nor diagnosed.
struct Recovery {
  Delay detection, diagnosis;
  Delay scheduling;  // of a replacement, when one is taken
  Delay restart, restore, warm_up;
};

// Between two checkpoints the job trains for `interval`; then it stands still for `pause`, and `persist`
// later the checkpoint can be used. REQUIRES: persist <= interval.
struct Checkpoints {
  Milliseconds interval = {};  // > 0
  Milliseconds pause = {};
  Milliseconds persist = {};  // 0 for blocking ones

  // Copies in the memory of other nodes: one each interval, and to storage only each n-th time.
  struct Replicas {
    Milliseconds pause = {};
    Delay restore;
    int saves_per_storage_save = 1;
    int survives_units = 1;  // lost at once; after more the job goes back to storage
  };
  std::optional<Replicas> replicas;
};

// A job that can go on with fewer data-parallel replicas.
struct Elastic {
  int units_per_replica = 1;
  int least_replicas = 1;
  Delay reconfigure;
  bool keeps_work = false;   // the others go on from where they are; else all go back to the checkpoint
  double speed_of_rest = 1;  // per chip while replicas are missing, of that with all, (0, 1]
};

// A unit is what is taken out and replaced as a whole: a node, a rack, an OCS cube.
struct TrainingRun {
  int chips_per_node = 8;
  int nodes_per_unit = 1;
  int units = 1;  // of the job
  int spare_units = 0;
  int repair_crews = 0;  // repairs at a time; 0 = all
  std::vector<FailureSource> failures;
  Hazard hazard;
  Lemons lemons;
  Recovery recovery;
  Checkpoints checkpoints;
  std::optional<Elastic> elastic;
  double redundant_share = 0;  // of all computation, done twice so that neighbours can take over, [0, 1)
  double straggler_share = 0, input_share = 0;  // of a step
  Milliseconds length;                          // the run ends here, or
  std::optional<std::int64_t> work_chip_ms;     // when so much has been trained and kept

  int nodes() const { return (units + spare_units) * nodes_per_unit; }
  int job_nodes() const { return units * nodes_per_unit; }
  // Of what strikes from `first` on: the last domain may be cut off by the end of the cluster.
  int domain_end(const FailureSource& failure, int first) const {
    return std::min(nodes(), first + failure.domain_nodes);
  }
  std::int64_t chips() const { return std::int64_t{nodes()} * chips_per_node; }
  std::int64_t job_chips() const { return std::int64_t{job_nodes()} * chips_per_node; }
};

// Failures per second that strike the job while it has all its nodes, those that only slow it and those of
// lemons included, without the hazard's changes.
double failures_per_s(const TrainingRun& run);

// Of them, those that stop it.
double interruptions_per_s(const TrainingRun& run);

// Of them, those after which all that was trained since a checkpoint is lost: neither those before which the
// job saves nor losses of nodes that an elastic job goes on from.
double rollbacks_per_s(const TrainingRun& run);

// Share of time that the other interruptions take: [0, inf), first order.
double stopped_without_rollback(const TrainingRun& run);

// While nothing is recovered or saved, of the speed with all nodes in order: what is computed twice, slow
// nodes (each of n that are slow at a time on average multiplies the speed by s: exp(-n (1 - s)) for Poisson
// counts), and nodes in repair beyond the spares: an elastic job is short of the replicas that have some,
// another waits. Repairs begin at once, whatever the crews.
double mean_speed(const TrainingRun& run);

// Of the rollbacks, those that strike more units at once than copies in memory survive.
double lost_copies_per_s(const TrainingRun& run);

// Of as many nodes as the job has, those that are out at a time, the lemons among them included; those that
// only restart, or are slow and stay, are not out.
double mean_nodes_in_repair(const TrainingRun& run);

// From failure to training when nothing comes between, on average; without waiting for repair.
double mean_recovery_s(const TrainingRun& run);

// The same where the copies in memory are there.
double mean_recovery_from_memory_s(const TrainingRun& run);

}  // namespace podsim
