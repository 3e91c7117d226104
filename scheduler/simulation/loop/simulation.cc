// Events, steps, and what is jumped over.
#include "scheduler/simulation/loop/simulation.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/check_scope.h"

namespace podsim {

Simulation::Simulation(const System& system, const SimulateOptions& options)
    : system_(system),
      options_(options),
      queues_(system),
      processes_(options.may_use_processes(system) ? find_logical_processes(system, queues_.lists())
                                                   : LogicalProcesses{}),
      first_rendezvous_(system.chips.size()),
      first_copy_(first_rendezvous_ + queues_.lists().all_rendezvous().size()),
      first_late_(first_copy_ + HostCopies::slots(system)),
      first_process_(first_late_ + LateLaunches::slots(system, options.variation)),
      event_queue_(first_process_ + processes_.chips.size()),
      accounts_(system, queues_.lists(), options.keep_intervals, options.keep_passes),
      computation_(system, options, queues_.lists(), processes_, event_queue_, accounts_),
      mailboxes_(processes_, computation_, event_queue_, first_process_),
      all_rendezvous_(idle_rendezvous(system, queues_.lists())),
      operations_(system, !options.share_all_links, first_rendezvous_, all_rendezvous_, event_queue_,
                  mailboxes_),
      copies_(system.chips.size(), event_queue_, first_copy_),
      delays_(system, options, event_queue_, first_late_),
      fast_forward_(system, options.may_jump()),
      speed_changes_(system, options.seed),
      tell_at_(options.share_done ? 0 : INT64_MAX),
      jobs_(system.meshes.size()),
      chips_(idle_chips(system, jobs_)),
      earliest_output_(processes_.any() ? chips_.size() : 0),
      event_prefetch_(options.loop == Loop::kFast, first_rendezvous_, first_copy_, first_process_, processes_,
                      event_queue_, chips_, earliest_output_, all_rendezvous_, queues_, computation_,
                      accounts_, mailboxes_),
      lookahead_(system, processes_),
      crossings_(processes_.chips.size(), 0),
      ahead_(follow_programs()),
      lp_advance_(ahead_),
      taken_to_(processes_.chips.size()),
      after_event_(processes_.chips.size()),
      rounded_(processes_.chips.size()) {
  set_processes_apart();
}

std::vector<Timeline> Simulation::run() {
  const CheckScope scope({.scenario = nullptr, .seed = &options_.seed, .now = &now_});
  if (speed_changes_.next() == now_) change_speeds();
  for (RunningJob& job : jobs_) begin_step(job);
  while (!over() || begin_next_steps()) {
    if (events_ >= tell_at_) tell_share();
    computation_.foresee();
    const Time drain = operations_.next_drain();
    if (fast_forward_.due(events_) && jump()) continue;
    now_ = std::min(drain, event_queue_.next_time());
    PODSIM_CHECK(std::min(now_, speed_changes_.next()) < Time::max(),
                 "the step has stopped: chips wait for each other");
    if (speed_changes_.next() <= now_) {
      present_ = now_ = speed_changes_.next();
      change_speeds();
      continue;
    }
    present_ = now_;
    if (now_ == drain) events_ += static_cast<std::int64_t>(operations_.drain(now_));
    for (computation_.foresee(); event_queue_.next_time() == now_; computation_.foresee())
      handle(event_queue_.next());
  }
  if (options_.share_done) options_.share_done(1);
  return accounts_.timelines(events_, fast_forward_.periods_skipped(), operations_.standstills());
}

// Of the job that is least far, by a chip of its.
void Simulation::tell_share() {
  constexpr std::int64_t kBetween = 1 << 16;  // events, so that it costs nothing
  tell_at_ = events_ + kBetween;
  double least = 1;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const RunningChip& chip = chips_[jobs_[j].chips.front()];
    const double within = chip.ended ? 1 : chip.position / static_cast<double>(program_of(chip).order.size());
    least = std::min(least, (accounts_.steps(static_cast<int>(j)) + within) / options_.steps);
  }
  options_.share_done(least);
}

// Over as many periods as the step repeats from here; false if there is none.
bool Simulation::jump() {
  return fast_forward_.over_periods(now_, speed_changes_.next(), [&](auto& state) { visit(state); });
}

// A uncontended job has ended a step: over those that are the same once more.
void Simulation::jump_steps() {
  RunningJob& job = jobs_.front();
  const FastForward::Steps steps = fast_forward_.over_steps(now_, options_.steps - accounts_.steps(0),
                                                            speed_changes_.next(), [&](auto& state) {
                                                              visit(state);
                                                              job.visit(state);
                                                            });
  job.repeat_steps(steps.count, steps.length);
  accounts_.repeat_steps(0, steps.count, steps.length);
}

// Speeds change now.
void Simulation::change_speeds() {
  ++events_;
  fast_forward_.forget();
  speed_changes_.pass([&](std::int32_t c, double factor) { computation_.change_speed(c, factor, now_); },
                      [&](std::int32_t l, double factor) { operations_.change_speed(l, factor, now_); });
}

// Ends the steps that are over and begins those that follow them. False once every job has done its steps.
bool Simulation::begin_next_steps() {
  for (bool over = true; over;) {
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      if (jobs_[j].running == 0) end_step(static_cast<int>(j));
    if (jobs_.size() == 1 && !delays_.any()) jump_steps();
    bool done = true;
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      done = done && accounts_.steps(static_cast<int>(j)) >= options_.steps;
    if (done) return false;
    over = false;
    for (RunningJob& job : jobs_) {
      if (job.running > 0) continue;
      begin_step(job);
      over = over || job.running == 0;
    }
  }
  return true;
}

void Simulation::begin_step(RunningJob& job) {
  const int step = static_cast<int>(job.begins.size()), number = program_of(chips_[job.chips.front()]).job;
  job.begin_step(now_, delays_.input_stalls(number, step));
  job.running = static_cast<int>(job.chips.size());
  fast_forward_.begin_step();
  delays_.begin_step(number, step);
  for (const std::int32_t c : job.chips) {
    chips_[c].begin_step(now_);
    queues_.begin_step(c, chips_[c].program);
    if (delays_.any()) delays_.begin_chip(c, step);
    enter_segment(c, 0);
    mailboxes_.at_present(c) ? advance(c) : mailboxes_.go_on(c, now_, now_);
  }
  take_all_to_present();
}

void Simulation::end_step(int j) {
  RunningJob& job = jobs_[j];
  PODSIM_CHECK(now_ > job.begins.back() || accounts_.steps(j) < options_.steps,
               "a step beside other jobs takes time");
  for (const std::int32_t c : job.chips) {
    PODSIM_CHECK(chips_[c].ended, "every chip ends its step");
    accounts_.spend(c, Bucket::kPeerWait, chips_[c].since, now_, "wait for the end of the step");
  }
  accounts_.end_step(j, now_);
}

// A step is over, and every logical process has seen all of it.
bool Simulation::over() {
  if (!any_step_over()) return false;
  take_all_to_present();
  return true;
}

void Simulation::handle(std::size_t slot) {
  event_queue_.clear(slot);
  event_prefetch_.look_ahead();
  if (slot >= first_process_) return take_to_present(static_cast<std::int32_t>(slot - first_process_));
  if (to_start_ == 0 || !starts(slot)) happen(slot);
}

void Simulation::happen(std::size_t slot) {
  ++events_;
  if (slot < first_rendezvous_) {
    computed(static_cast<std::int32_t>(slot));
  } else if (slot < first_copy_) {
    const auto m = static_cast<std::int32_t>(slot - first_rendezvous_);
    if (operations_.advance(m, now_)) complete(m);
  } else if (slot < first_late_) {
    const HostCopies::Copy copy = copies_.of_slot(slot);
    copied(copy.chip, copy.stream);
  } else {
    launch_late(static_cast<std::int32_t>(slot - first_late_));
  }
}

}  // namespace podsim
