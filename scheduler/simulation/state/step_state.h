// The state of a step that every loop works on, and where its events stand in the event queue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/check.h"
#include "engine/indexed_event_queue.h"
#include "scheduler/simulation/state/accounts.h"
#include "scheduler/simulation/state/host_copies.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/step_delays.h"
#include "scheduler/simulation/state/stream_queues.h"

namespace podsim {

// Which event each slot of the event queue is: the end of what a chip class computes, by its number; then
// what the operation of a rendezvous does next; the end of a copy; a late launch of a chip; and what a loop
// adds.
struct EventSlots {
  std::size_t first_rendezvous, first_copy, first_late, first_added;

  EventSlots(const System& system, const SimulateOptions& options, const StreamOperations& lists)
      : first_rendezvous(system.chips.size()),
        first_copy(first_rendezvous + lists.all_rendezvous().size()),
        first_late(first_copy + HostCopies::slots(system)),
        first_added(first_late + LateLaunches::slots(system, options.variation)) {}

  bool any_copies() const { return first_copy < first_late; }
  bool any_late() const { return first_late < first_added; }

  // The slot of something.
  std::size_t of_rendezvous(std::int32_t m) const { return first_rendezvous + static_cast<std::size_t>(m); }
  std::size_t of_late(std::int32_t chip) const { return first_late + static_cast<std::size_t>(chip); }

  // What the slot is the event of.
  bool is_chip(std::size_t slot) const { return slot < first_rendezvous; }
  bool is_rendezvous(std::size_t slot) const { return slot >= first_rendezvous && slot < first_copy; }
  bool is_copy(std::size_t slot) const { return slot >= first_copy && slot < first_late; }
  // REQUIRES: it is that of a rendezvous.
  std::int32_t rendezvous(std::size_t slot) const {
    PODSIM_CHECK(is_rendezvous(slot), "the event is one of a rendezvous");
    return static_cast<std::int32_t>(slot - first_rendezvous);
  }
};

// Plain data, and the questions that are answered by it alone: who changes it, and in which order, is up to
// the loop. Chips, rendezvous and links are classes of the system, numbered as there.
struct StepState {
  // `added`: slots that the loop needs besides. REQUIRES: all of them outlive this object; the lists are
  // those of the system.
  StepState(const System& system, const StreamOperations& lists, const SimulateOptions& options,
            std::size_t added);
  StepState(const StepState&) = delete;  // parts of it refer to each other
  StepState& operator=(const StepState&) = delete;

  const System& system;
  const SimulateOptions& options;
  StreamQueues queues;  // how far each chip is on each of its streams
  const EventSlots slots;
  IndexedEventQueue event_queue;
  Accounts accounts;                       // what has been booked
  std::vector<Rendezvous> all_rendezvous;  // [rendezvous] who has come, and what runs
  HostCopies copies;                       // under way
  StepDelays delays;                       // drawn for the present step of each chip
  std::vector<RunningJob> jobs;            // [job]
  std::vector<RunningChip> chips;          // [chip class]
  Time now;                                // of what is being handled
  std::int64_t events = 0;

  // The chip's program, its job, and its queue of a stream. O(1). REQUIRES: the program has that stream.
  const StageProgram& program_of(const RunningChip& chip) const { return system.step.stages[chip.program]; }
  RunningJob& job_of(const RunningChip& chip) { return jobs[program_of(chip).job]; }
  StreamQueue& queue_of(std::int32_t c, Stream stream) { return queues.of(c, chips[c].program, stream); }
  // A transfer between stages, and no collective.
  bool point_to_point(std::int32_t message) const {
    return system.step.messages[message].scope.point_to_point();
  }
  // All chips of a job have ended its present step, and what follows is to be decided.
  bool any_step_over() const {
    return std::any_of(jobs.begin(), jobs.end(),
                       [](const RunningJob& job) { return job.running == 0 && !job.over; });
  }

  // The last chip of the job has ended its step now. What the others have waited for it since is booked.
  void end_step(int job);

  // Tells SimulateOptions::share_done how far all is, now and then, by how much of its step a chip has done:
  // share_of(chip). Throws EventBudgetSpent.
  template <class ShareOf>
  void tell_share(ShareOf&& share_of) {
    if (events <= tell_at_) return;
    double least = 1;  // of the jobs
    for (std::size_t j = 0; j < jobs.size(); ++j)
      least = std::min(least, accounts.steps(static_cast<int>(j)) + share_of(jobs[j].chips.front()));
    tell_share_now(least / options.steps);
  }
  void tell_share() {
    tell_share([&](std::int32_t c) {
      return chips[c].ended ? 1 : chips[c].position / static_cast<double>(program_of(chips[c]).order.size());
    });
  }

  // Goes over what chips and accounts decide what happens next by; of state_capture.h.
  template <class Visitor>
  void visit_chips(Visitor& state) {
    for (std::size_t c = 0; c < chips.size(); ++c) {
      chips[c].visit(state);
      queues.visit(state, static_cast<std::int32_t>(c), chips[c].program);
    }
  }

 private:
  void tell_share_now(double share);

  std::int64_t tell_at_;  // events; beyond them there is something to tell
};

}  // namespace podsim
