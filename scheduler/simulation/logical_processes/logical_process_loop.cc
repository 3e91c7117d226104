// What is shared, in order of time; steps begin and end.
#include "scheduler/simulation/logical_processes/logical_process_loop.h"

#include <utility>

#include "engine/check_scope.h"
#include "engine/time_limits.h"

namespace podsim {

LogicalProcessLoop::LogicalProcessLoop(SystemTables& tables, const SimulateOptions& options,
                                       LogicalProcesses processes)
    : Interpreter(tables, options, processes.chips.size(), processes),
      processes_(std::move(processes)),
      lookahead_(tables.system, processes_),
      mailboxes_(processes_, computation_, state_.event_queue, state_.slots.first_added),
      operations_(state_, tables.uncontended, mailboxes_),
      earliest_output_(state_.chips.size()),
      prefetch_(options.may_prefetch(tables.system), state_, computation_, processes_, earliest_output_,
                mailboxes_),
      crossings_(processes_.chips.size(), 0),
      ahead_(follow_programs()),
      lp_advance_(ahead_),
      taken_to_(processes_.chips.size()),
      after_event_(processes_.chips.size()),
      rounded_(processes_.chips.size()) {
  PODSIM_CHECK(processes_.any() && options.may_use_processes(tables.system), "the system comes apart");
  set_processes_apart();
}

std::vector<Timeline> LogicalProcessLoop::run() {
  const CheckScope scope({.scenario = nullptr, .seed = &state_.options.seed, .now_ps = &state_.now.ps});
  IndexedEventQueue& queue = state_.event_queue;
  PODSIM_CHECK(state_.events == 0 && state_.now == Time{}, "a loop runs once");
  begin_step();
  while (!over() || begin_next_step()) {
    state_.tell_share();
    computation_.foresee();
    const Time drains = operations_.next_drain();
    present_ = state_.now = next_instant(std::min(drains, queue.next_time()), operations_.any_drains());
    if (present_ == drains) drain();
    for (computation_.foresee(); queue.next_time() == present_; computation_.foresee()) handle(queue.next());
  }
  if (state_.options.share_done) state_.options.share_done(1);
  return state_.accounts.timelines(state_.events, 0, operations_.standstills());
}

void LogicalProcessLoop::handle(std::size_t slot) {
  state_.event_queue.clear(slot);
  prefetch_.look_ahead();
  if (slot >= state_.slots.first_added)
    return take_to_present(static_cast<std::int32_t>(slot - state_.slots.first_added));
  if (to_start_ == 0 || !starts(slot)) happen(slot);
}

// The step is over, and every logical process has seen all of it.
bool LogicalProcessLoop::over() {
  if (!state_.any_step_over()) return false;
  take_all_to_present();
  return true;
}

// False once all steps are done.
bool LogicalProcessLoop::begin_next_step() {
  do {
    state_.end_step(0);
    if (state_.accounts.steps(0) >= state_.options.steps) return false;
    begin_step();
  } while (state_.any_step_over());
  return true;
}

void LogicalProcessLoop::begin_step() {
  Interpreter::begin_step(state_.jobs.front());
  take_all_to_present();
}

}  // namespace podsim
