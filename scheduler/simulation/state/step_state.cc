// A step that has not begun; how far it is, and its end.
#include "scheduler/simulation/state/step_state.h"

#include <algorithm>
#include <string>

#include "engine/check.h"

namespace podsim {

StepState::StepState(const System& of, const StreamOperations& lists, const SimulateOptions& how,
                     std::size_t added)
    : system(of),
      options(how),
      queues(system, lists),
      slots(system, options, queues.lists()),
      event_queue(slots.first_added + added),
      accounts(system, queues.lists(), options.keep_intervals, options.keep_passes),
      all_rendezvous(idle_rendezvous(system, queues.lists())),
      copies(system.chips.size(), event_queue, slots.first_copy),
      delays(system, options, event_queue, slots.first_late),
      jobs(system.meshes.size()),
      chips(idle_chips(system, jobs)),
      tell_at_(options.share_done ? 0 : options.most_events) {
  PODSIM_CHECK(options.steps >= 1, "a simulation is of one step at least");
}

void StepState::end_step(int j) {
  RunningJob& job = jobs[j];
  PODSIM_CHECK(now > job.begins.back() || accounts.steps(j) < options.steps,
               "a step beside other jobs takes time");
  for (const std::int32_t c : job.chips) {
    PODSIM_CHECK(chips[c].ended, "every chip ends its step");
    accounts.spend(c, Bucket::kPeerWait, chips[c].since, now, "wait for the end of the step");
  }
  accounts.end_step(j, now, job.next_batch);
}

void StepState::tell_share_now(double share) {
  if (events > options.most_events)
    throw EventBudgetSpent("more than " + std::to_string(options.most_events) + " events");
  constexpr std::int64_t kBetween = 1 << 16;  // events, so that it costs nothing
  tell_at_ = std::min(events + kBetween, options.most_events);
  if (options.share_done) options.share_done(share);
}

}  // namespace podsim
