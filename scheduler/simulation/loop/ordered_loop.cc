// Events, steps, and what is jumped over.
#include "scheduler/simulation/loop/ordered_loop.h"

#include <algorithm>
#include <iterator>

#include "engine/check.h"
#include "engine/check_scope.h"
#include "engine/time_limits.h"
#include "scheduler/folding/lone_jobs.h"

namespace podsim {
namespace {

// Nothing is told of what is joined, and more classes than so many are of systems of which little repeats.
bool joins_solo_runs(const System& system, const SimulateOptions& options) {
  constexpr std::size_t kMostChips = 1024;
  return options.loop == Loop::kFast && !options.random() && !options.keep_intervals &&
         options.keep_passes == 0 && !options.share_all_links && system.chips.size() <= kMostChips;
}

}  // namespace

OrderedLoop::OrderedLoop(SystemTables& tables, const SimulateOptions& options)
    : Interpreter(tables, options, 0),
      operations_(state_, tables.uncontended, computation_),
      solo_runs_(state_, tables.legs, !state_.delays.any() && joins_solo_runs(tables.system, options)),
      fast_forward_(tables.system, options.may_jump()),
      speed_changes_(tables.system, options.seed),
      lone_(lone_jobs(tables.system)),
      event_prefetch_(options.may_prefetch(tables.system), state_, computation_) {
  computation_.attend(solo_runs_);
}

std::vector<Timeline> OrderedLoop::run() {
  const CheckScope scope({.scenario = nullptr, .seed = &state_.options.seed, .now_ps = &state_.now.ps});
  PODSIM_CHECK(state_.events == 0 && state_.now == Time{}, "a loop runs once");
  if (speed_changes_.next() == state_.now) change_speeds();
  for (RunningJob& job : state_.jobs) begin_step(job);
  while (!state_.any_step_over() || begin_next_steps()) {
    state_.tell_share();
    computation_.foresee();
    const Time drain = operations_.next_drain();  // solves for rates, which a jump captures
    if (fast_forward_.due(state_.events) && jump()) continue;
    const Time next = std::min({drain, state_.event_queue.next_time(), speed_changes_.next()});
    state_.now = next_instant(next, operations_.any_drains());
    if (state_.now == speed_changes_.next()) {
      change_speeds();
      continue;
    }
    if (state_.now == drain) state_.events += std::ssize(operations_.drain(state_.now));
    handle_events_of_this_instant();
  }
  if (state_.options.share_done) state_.options.share_done(1);
  return state_.accounts.timelines(state_.events, fast_forward_.periods_skipped(), operations_.standstills());
}

void OrderedLoop::handle_events_of_this_instant() {
  IndexedEventQueue& queue = state_.event_queue;
  for (computation_.foresee(); queue.next_time() == state_.now; computation_.foresee()) {
    const std::size_t slot = queue.next();
    queue.clear(slot);
    event_prefetch_.look_ahead();
    if (state_.slots.is_chip(slot) && solo_runs_.running(static_cast<std::int32_t>(slot))) {
      solo_runs_.end(static_cast<std::int32_t>(slot));
      advance(static_cast<std::int32_t>(slot));
    } else {
      happen(slot);
    }
  }
}

void OrderedLoop::change_speeds() {
  ++state_.events;
  fast_forward_.forget();
  speed_changes_.pass(
      [&](std::int32_t c, double factor) { computation_.change_speed(c, factor, state_.now); },
      [&](std::int32_t l, double factor) { operations_.change_speed(l, factor, state_.now); });
}

bool OrderedLoop::begin_next_steps() {
  const Accounts& accounts = state_.accounts;
  std::vector<RunningJob>& jobs = state_.jobs;
  for (bool over = true; over;) {
    for (std::size_t j = 0; j < jobs.size(); ++j)
      if (jobs[j].running == 0 && !jobs[j].over) state_.end_step(static_cast<int>(j));
    if (jobs.size() == 1 && !state_.delays.any()) jump_steps();
    bool done = true;
    for (std::size_t j = 0; j < jobs.size(); ++j)
      done = done && accounts.steps(static_cast<int>(j)) >= state_.options.steps;
    if (done) return false;
    over = false;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      RunningJob& job = jobs[j];
      if (job.running > 0 || job.over) continue;
      job.over = lone_[j] && accounts.steps(static_cast<int>(j)) >= state_.options.steps;
      if (!job.over) begin_step(job);
      over = over || (job.running == 0 && !job.over);
    }
  }
  return true;
}

void OrderedLoop::begin_step(RunningJob& job) {
  fast_forward_.begin_step();
  Interpreter::begin_step(job);
}

bool OrderedLoop::jump() {
  return fast_forward_.over_periods(state_.now, speed_changes_.next(), 0, [&](auto& state) { visit(state); });
}

void OrderedLoop::jump_steps() {
  RunningJob& job = state_.jobs.front();
  const int left = state_.options.steps - state_.accounts.steps(0);
  const FastForward::Steps steps =
      fast_forward_.over_steps(state_.now, left, speed_changes_.next(), [&](auto& state) {
        visit(state);
        job.visit(state);
      });
  job.repeat_steps(steps.count, steps.length);
  state_.accounts.repeat_steps(0, steps.count, steps.length);
}

}  // namespace podsim
