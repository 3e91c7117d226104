// Events, steps, and what is jumped over.
#include "scheduler/simulation/loop/simulation.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {

Simulation::Simulation(const System& system, const SimulateOptions& options)
    : system_(system),
      options_(options),
      lanes_(system),
      islands_(options.may_come_apart(system) ? find_islands(system, lanes_.lists()) : Islands{}),
      first_meeting_(system.chips.size()),
      first_copy_(first_meeting_ + lanes_.lists().meetings().size()),
      first_late_(first_copy_ + HostCopies::slots(system)),
      first_island_(first_late_ + LateLaunches::slots(system, options.variation)),
      agenda_(first_island_ + islands_.chips.size()),
      accounts_(system, lanes_.lists(), options.keep_intervals, options.keep_passes),
      computation_(system, options, lanes_.lists(), islands_, agenda_, accounts_),
      inboxes_(islands_, computation_, agenda_, first_island_),
      meetings_(idle_meetings(system, lanes_.lists())),
      operations_(system, !options.share_all_links, first_meeting_, meetings_, agenda_, inboxes_),
      copies_(system.chips.size(), agenda_, first_copy_),
      delays_(system, options, agenda_, first_late_),
      jumps_(system, options.may_jump()),
      weather_(system, options.seed),
      tell_at_(options.share_done ? 0 : INT64_MAX),
      jobs_(system.meshes.size()),
      chips_(idle_chips(system, jobs_)),
      concern_(islands_.any() ? chips_.size() : 0),
      upcoming_(first_meeting_, first_copy_, first_island_, islands_, agenda_, chips_, concern_, meetings_,
                lanes_, computation_, accounts_, inboxes_),
      lookahead_(system, islands_),
      crossings_(islands_.chips.size(), 0),
      in_turn_(follow_programs()),
      turn_(in_turn_),
      taken_to_(islands_.chips.size()),
      after_event_(islands_.chips.size()),
      rounded_(islands_.chips.size()) {
  set_islands_apart();
}

std::vector<Timeline> Simulation::run() {
  if (weather_.next() == now_) change_weather();
  for (RunningJob& job : jobs_) begin_step(job);
  while (!over() || turn_steps()) {
    if (events_ >= tell_at_) tell_share();
    computation_.foresee();
    const Time drain = operations_.next_drain();
    if (jumps_.due(events_) && jump()) continue;
    now_ = std::min(drain, agenda_.next_time());
    PODSIM_CHECK(std::min(now_, weather_.next()) < Time::max(),
                 "the step has stopped: chips wait for each other");
    if (weather_.next() <= now_) {
      present_ = now_ = weather_.next();
      change_weather();
      continue;
    }
    present_ = now_;
    if (now_ == drain) events_ += static_cast<std::int64_t>(operations_.drain(now_));
    for (computation_.foresee(); agenda_.next_time() == now_; computation_.foresee()) handle(agenda_.next());
  }
  if (options_.share_done) options_.share_done(1);
  return accounts_.timelines(events_, jumps_.periods_skipped(), operations_.standstills());
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
  return jumps_.over_periods(now_, weather_.next(), [&](auto& state) { visit(state); });
}

// A lone job has ended a step: over those that are the same once more.
void Simulation::jump_steps() {
  RunningJob& job = jobs_.front();
  const Jumps::Steps steps =
      jumps_.over_steps(now_, options_.steps - accounts_.steps(0), weather_.next(), [&](auto& state) {
        visit(state);
        job.visit(state);
      });
  job.repeat_steps(steps.count, steps.length);
  accounts_.repeat_steps(0, steps.count, steps.length);
}

// Speeds change now.
void Simulation::change_weather() {
  ++events_;
  jumps_.forget();
  weather_.pass([&](std::int32_t c, double factor) { computation_.change_speed(c, factor, now_); },
                [&](std::int32_t l, double factor) { operations_.change_speed(l, factor, now_); });
}

// Ends the steps that are over and begins those that follow them. False once every job has done its steps.
bool Simulation::turn_steps() {
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
  jumps_.begin_step();
  delays_.begin_step(number, step);
  for (const std::int32_t c : job.chips) {
    chips_[c].begin_step(now_);
    lanes_.begin_step(c, chips_[c].program);
    if (delays_.any()) delays_.begin_chip(c, step);
    turn_to(c, 0);
    inboxes_.at_present(c) ? advance(c) : inboxes_.go_on(c, now_, now_);
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

// A step is over, and every island has seen all of it.
bool Simulation::over() {
  if (!any_step_over()) return false;
  take_all_to_present();
  return true;
}

void Simulation::handle(std::size_t slot) {
  agenda_.clear(slot);
  upcoming_.look_ahead();
  if (slot >= first_island_) return take_to_present(static_cast<std::int32_t>(slot - first_island_));
  if (to_start_ == 0 || !starts(slot)) happen(slot);
}

void Simulation::happen(std::size_t slot) {
  ++events_;
  if (slot < first_meeting_) {
    computed(static_cast<std::int32_t>(slot));
  } else if (slot < first_copy_) {
    const auto m = static_cast<std::int32_t>(slot - first_meeting_);
    if (operations_.advance(m, now_)) complete(m);
  } else if (slot < first_late_) {
    const HostCopies::Copy copy = copies_.of_slot(slot);
    copied(copy.chip, copy.stream);
  } else {
    launch_late(static_cast<std::int32_t>(slot - first_late_));
  }
}

}  // namespace podsim
