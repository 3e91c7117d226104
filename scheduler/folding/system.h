// The system that is simulated: classes of chips, groups and links that must behave alike, one representative
// of each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/folding/fold_request.h"
#include "scheduler/lowering/instructions.h"
#include "scheduler/traffic/traffic.h"
#include "workload/job/sequence_lengths.h"

namespace podsim {

struct Adversities;
struct LaidJob;

// How the documents of a job's steps are packed; without bins it has none.
struct JobPacking {
  SequenceLengths lengths;
  PackingShape shape;
};
JobPacking packing_of(const LaidJob& job);

// Chips that run the same program at the same speed beside equal neighbours: one of them is simulated.
struct ChipClass {
  ChipId representative;  // the lowest chip of the class
  std::int64_t chips;
  int program;  // index into the stages of the step
  double speed;
  std::vector<std::int32_t> group_class;              // [communicator] as member or source, -1 = none
  std::vector<std::int32_t> group_class_destination;  // [communicator] as destination, -1 = none
  std::int32_t profile = -1;                          // of System::profiles, on top of `speed`; -1 = none
  int data_rank = 0;        // whose share of the batch it has; known where documents have lengths
  std::int32_t chance = 0;  // chips of the same number share all that is drawn for chips
};

// A phase of a group class. Uses are those of all groups of the class on one link of each link class.
struct ClassPhase {
  Time latency;
  Ramp ramp;
  double work_per_byte = 0;
  std::vector<Use> uses;  // of links that may limit it; resource = link class
  std::vector<Use>
      nonbinding_uses;  // of links that never do (scheduler/traffic/nonbinding_links.h): only counted
};

// Groups of one communicator whose members are of the same classes: they meet at the same instants.
struct GroupClass {
  int communicator;
  std::int64_t groups;
  std::vector<std::int32_t> members;  // distinct chip classes; point to point: {source, destination}
  std::vector<std::vector<ClassPhase>>
      patterns;  // [pattern][phase]; empty where the pattern is of another communicator
};

// Links of equal bandwidth that the same classes of groups load alike.
struct LinkClass {
  LinkKind kind;
  Bandwidth bandwidth;
  std::int64_t links;
  std::int32_t profile = -1;  // of System::profiles, on top of `bandwidth`; -1 = none
  std::int32_t flap = -1;     // entry of Adversities::slow that takes it down; -1 = none
};

// The class of every chip and of every link of the fabric, made when somebody asks.
struct ClassLists {
  std::function<std::vector<std::int32_t>()> chips, links;
};

// Everything that `simulate` needs to know, and nothing that it does not.
struct System {
  std::vector<Mesh> meshes;                   // [job]
  LoweredStep step;                           // of all jobs
  std::vector<std::int32_t> pattern_of;       // [message]
  std::vector<std::int32_t> communicator_of;  // [message]
  std::vector<PlannedCollective> patterns;
  std::vector<ChipClass> chips;
  std::vector<std::int32_t> class_of;  // [chip of the fabric], -1 for a chip without work; see chip_classes
  std::vector<GroupClass> groups;
  std::vector<LinkClass> links;
  std::vector<std::int32_t> link_class_of;  // [link of the fabric]; see link_classes
  std::optional<ClassLists> lists;          // in place of both, of a system that was folded by orbits
  std::vector<Hit> hits;                    // [entry of Adversities::slow]
  std::vector<SpeedProfile> profiles;       // of speeds that change with time
  int chips_per_host = 1;
  std::vector<JobPacking> packing;  // [job]
  std::int32_t limiting_links = 0;  // link classes below this number may limit transfers, others never do
};

// System::class_of and System::link_class_of, which a system that was folded by orbits does not keep.
std::vector<std::int32_t> chip_classes(const System& system);
std::vector<std::int32_t> link_classes(const System& system);

// Bytes per second of each link class that may limit transfers, where no profile says less: the resources
// that they share.
std::vector<double> link_capacities(const System& system);

// Groups chips, groups and links into the coarsest classes that must behave alike (docs/theory/folding.md):
// the equitable partition that begins with (program, speed, profile) of chips and (kind, bandwidth, profile)
// of links, where a group is told by its members and by the usages of its links, a chip by its groups, a link
// by the usages on it. Every link of a class carries the same of the same group classes, so max-min rates and
// therefore event times are equal within a class, and one of each is enough. Chips that the request tells
// apart have draws of their own; one without work is in no class. REQUIRES: the request has a program and a
// speed of every chip of the fabric. O((memberships + link uses) log chips), once over them when nothing
// splits.
System fold(const Fabric& fabric, std::vector<Mesh> meshes, LoweredStep step, const Traffic& traffic,
            FoldRequest request);

// Lowers all jobs, plans what they send on the fabric, and folds. `fabric` has slow links already; what
// else is slow is put on it here: plans know of links that always are, not of those that are for a time.
// REQUIRES: no chip belongs to two jobs. With `plans` traffic that is known from before is not planned again.
System assemble(const Fabric& fabric, std::span<const LaidJob> jobs, const Adversities& adversities,
                bool fold, TrafficPlans* plans = nullptr);

// The same of jobs that have been lowered: `step` is that of all of them, each as lower_for has it.
System assemble(const Fabric& fabric, std::span<const LaidJob> jobs, LoweredStep step,
                const Adversities& adversities, bool fold, TrafficPlans* plans = nullptr);
LoweredStep lower_for(const LaidJob& job, const Adversities& adversities);

}  // namespace podsim
