// The event loop of a training run: failures strike nodes, the job recovers, trains and saves.
#include "scheduler/reliability/weeks/simulate_run.h"

#include <algorithm>
#include <cmath>

#include "engine/check.h"
#include "engine/event_queue.h"
#include "engine/random.h"
#include "scheduler/reliability/weeks/arrivals.h"
#include "scheduler/reliability/weeks/pool.h"
#include "scheduler/reliability/weeks/repair_crews.h"
#include "scheduler/reliability/weeks/training_event.h"

namespace podsim {
namespace {

using Event = TrainingEvent;

class RunSimulation {
 public:
  RunSimulation(const TrainingRun& run, std::uint64_t seed, RunCourse* course)
      : run_(run),
        course_(course),
        pool_(run.nodes_per_unit, run.units, run.spare_units),
        arrivals_(run, seed),
        unit_chips_(std::int64_t{run.nodes_per_unit} * run.chips_per_node),
        units_per_replica_(run.elastic ? run.elastic->units_per_replica : run.units),
        all_replicas_(run.units / units_per_replica_),
        least_replicas_(run.elastic ? run.elastic->least_replicas : all_replicas_),
        crews_(run.repair_crews) {
    PODSIM_CHECK(units_per_replica_ > 0 && run.units % units_per_replica_ == 0, "replicas are whole");
    PODSIM_CHECK(run.checkpoints.pause >= Milliseconds{} && run.checkpoints.persist >= Milliseconds{},
                 "a save takes time");
    result_.failures.resize(run.failures.size());
    slow_.resize(run.failures.size());
    for (std::uint64_t step = 0; step <= kRecovery.size() + 1; ++step)
      delays_.emplace_back(seed, RandomPurpose::kFailure, ~step);
  }

  RunResult simulate() {
    for (int source = 0; source < arrivals_.sources(); ++source) schedule_failure(source, 0);
    train();
    while (!result_.finished && !queue_.empty() && queue_.next_time() <= run_.length) {
      account_until(queue_.next_time());
      handle(queue_.pop());
    }
    if (!result_.finished) account_until(run_.length);
    return settle();
  }

 private:
  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kFailure:
        return announce_or_strike(event);
      case Event::Kind::kStrike:
        return strike(event);
      case Event::Kind::kFound:
        return find(event);
      case Event::Kind::kSwapped:
        return swap(event);
      case Event::Kind::kMended:
        return mend(event);
      case Event::Kind::kPhaseEnd:
        if (event.number == phase_number_) end_phase();
        return;
      case Event::Kind::kPersisted:
        if (event.number == lineage_) stored_work_ = event.work;
        return;
    }
  }

  // The clock, and where the time since it was last read went.

  void account_until(Milliseconds now) {
    const std::int64_t ms = (now - now_).ms;
    PODSIM_CHECK(ms >= 0, "time does not run back");
    now_ = now;
    if (ms == 0) return;
    const std::int64_t job = pool_.job_units() * unit_chips_ * ms;
    RunAccounts& accounts = result_.accounts;
    if (phase_ == RunBucket::kProductive) {
      const std::int64_t active = active_chips_ * ms;
      const std::int64_t useful = speed_ == 1 ? active : std::llround(speed_ * static_cast<double>(active));
      accounts.charge(RunBucket::kProductive, useful);
      accounts.charge(RunBucket::kSlowedDown, active - useful);
      accounts.charge(RunBucket::kWaiting, job - active);
      work_ += useful;
    } else {
      accounts.charge(phase_, job);
    }
    accounts.charge(RunBucket::kIdleSpare, pool_.spare_units() * unit_chips_ * ms);
    accounts.charge(RunBucket::kRepair, pool_.broken_units() * unit_chips_ * ms);
    accounts.charge(RunBucket::kTakenAway, pool_.taken_units() * unit_chips_ * ms);
    if (course_ && (course_->moments.empty() || now_ >= course_->moments.back().at + course_->every))
      course_->moments.push_back({now_, accounts});
  }

  RunResult settle() {
    result_.end = now_;
    result_.work_chip_ms = work_;
    RunAccounts& accounts = result_.accounts;
    if (course_) course_->moments.push_back({now_, accounts});
    const std::int64_t trained = accounts[RunBucket::kProductive];
    for (const auto& [bucket, share] : {std::pair{RunBucket::kStraggler, run_.straggler_share},
                                        std::pair{RunBucket::kInput, run_.input_share}})
      accounts.move(RunBucket::kProductive, bucket, std::llround(share * static_cast<double>(trained)));
    PODSIM_CHECK(accounts.total() == run_.chips() * now_.ms, "all chip-time is accounted for, once");
    PODSIM_CHECK(trained == work_, "what was trained and kept is what the job holds");
    return std::move(result_);
  }

  // What fails.

  void schedule_failure(int source, std::int64_t number) {
    const Milliseconds gap = arrivals_.gap(source, number);
    if (gap < Milliseconds::max()) queue_.push(now_ + gap, {Event::Kind::kFailure, source, 0, number, 0});
  }

  void announce_or_strike(Event event) {
    const Milliseconds notice = arrivals_.failure(event.source).notice;
    if (arrivals_.happens(event.source, event.number, now_)) {
      event.first_node = arrivals_.strike(event.source, event.number);
      if (event.first_node >= 0 && notice.ms == 0) strike(event);
      if (event.first_node >= 0 && notice.ms > 0) announce(event, notice);
    }
    schedule_failure(event.source, event.number + 1);
  }

  // The save first: where it ends in time to the millisecond, it counts.
  void announce(Event event, Milliseconds notice) {
    const Milliseconds save = run_.checkpoints.pause + run_.checkpoints.persist;
    if (phase_ == RunBucket::kProductive && save <= notice && strikes_job(event)) begin_save(true);
    event.kind = Event::Kind::kStrike;
    queue_.push(now_ + notice, event);
  }

  void strike(const Event& event) {
    const FailureSource& failure = arrivals_.failure(event.source);
    if (failure.domain_nodes == 1 && !pool_.is_up(event.first_node)) return;
    if (failure.slows_to > 0) return slow_down(event);
    const bool of_job = strikes_job(event);
    const int units = job_units_in(event);
    if (failure.domain_nodes > 0 && failure.repair.mean_s > 0) break_nodes(event);
    if (!of_job) return;
    note_failure(arrivals_.index(event.source));
    fail(failure.notice.ms > 0, units);
  }

  // Of the job, as it is now, in the domain of a failure.
  int job_units_in(const Event& event) const {
    const FailureSource& failure = arrivals_.failure(event.source);
    if (failure.domain_nodes == 0) return 0;
    return pool_.job_units_in(event.first_node, run_.domain_end(failure, event.first_node));
  }

  bool strikes_job(const Event& event) const {
    return arrivals_.failure(event.source).domain_nodes == 0 || job_units_in(event) > 0;
  }

  void note_failure(std::size_t source) {
    ++result_.failures[source];
    if (course_) course_->strikes.push_back({now_, source});
  }

  // What is out of order costs speed until it is mended, while the job uses it: a slow spare slows the job
  // from when it takes a place in it, a slow node that leaves the job slows it no more.
  void slow_down(const Event& event) {
    const std::size_t s = arrivals_.index(event.source);
    if (strikes_job(event)) note_failure(s);
    slow_[s].push_back(event);
    const FailureSource& failure = arrivals_.failure(event.source);
    Event end = event;
    end.kind = failure.is_swapped() ? Event::Kind::kFound : Event::Kind::kMended;
    const Milliseconds time = failure.is_swapped() ? failure.swapped_after.draw(delays_.back(), swaps_++)
                                                   : arrivals_.repair_time(event.source, event.number);
    queue_.push(now_ + time, end);
    change_speed();
  }

  void mend_slow(const Event& event) {
    std::erase_if(slow_[arrivals_.index(event.source)], [&](const Event& slow) {
      return slow.source == event.source && slow.number == event.number;
    });
    change_speed();
  }

  void change_speed() {
    if (phase_ == RunBucket::kProductive) train(segment_end_ - now_);
  }

  // The job saves before its slow nodes go.
  void find(const Event& event) {
    Milliseconds save = {};
    if (phase_ == RunBucket::kProductive && strikes_job(event)) {
      save = run_.checkpoints.pause + run_.checkpoints.persist;
      begin_save(true);
    }
    Event swapped = event;
    swapped.kind = Event::Kind::kSwapped;
    queue_.push(now_ + save, swapped);
  }

  // Nodes that the job has no more by then are mended where they are.
  void swap(const Event& event) {
    const FailureSource& failure = arrivals_.failure(event.source);
    const bool of_job = strikes_job(event);
    const int units = job_units_in(event);
    mend_slow(event);
    if (failure.domain_nodes > 0 && failure.repair.mean_s > 0) break_nodes(event);
    if (of_job) fail(true, std::max(1, units));
  }

  static Pool::Fault fault_of(const FailureSource& failure) {
    return failure.component == Component::kPreemption ? Pool::Fault::kTakenAway : Pool::Fault::kBroken;
  }

  void break_nodes(const Event& event) {
    const FailureSource& failure = arrivals_.failure(event.source);
    const int first = event.first_node;
    for (int node = first; node < run_.domain_end(failure, first); ++node)
      pool_.add_fault(node, fault_of(failure));
    const Milliseconds repair = arrivals_.repair_time(event.source, event.number);
    queue_.push(crews_.begin(now_, repair) + repair, {Event::Kind::kMended, event.source, first, 0, 0});
  }

  void mend(const Event& event) {
    const FailureSource& failure = arrivals_.failure(event.source);
    if (failure.slows_to > 0 && !failure.is_swapped()) return mend_slow(event);
    const int end = run_.domain_end(failure, event.first_node);
    for (int node = event.first_node; node < end; ++node) pool_.clear_fault(node, fault_of(failure));
    if (phase_ == RunBucket::kWaiting) return recover(kScheduling);
    if (!run_.elastic || !training() || replicas() == all_replicas_) return;
    const int before = replicas();
    fill_up();
    if (replicas() > before) reconfigure();
  }

  // So many units of the job are struck, 0 when all its processes die.
  void fail(bool announced, int units) {
    if (training()) {
      ++result_.interruptions;
      if (run_.elastic && run_.elastic->keeps_work && units > 0) {
        fill_up();
        if (replicas() >= least_replicas_) return reconfigure();
      }
    }
    roll_back(units);
    ++recoveries_;
    recover(announced || phase_ == RunBucket::kWaiting ? kScheduling : kFirstStep);
  }

  void roll_back(int units) {
    const auto& replicas = run_.checkpoints.replicas;
    if (replicas && units > replicas->survives_units) in_memory_ = false;
    const std::int64_t kept = in_memory_ ? std::max(stored_work_, replicated_work_) : stored_work_;
    result_.accounts.move(RunBucket::kProductive, RunBucket::kRecompute, work_ - kept);
    work_ = kept;
    ++lineage_;
  }

  // How the job comes back and goes on.

  bool training() const {
    return phase_ == RunBucket::kProductive || phase_ == RunBucket::kSave ||
           phase_ == RunBucket::kReconfigure;
  }
  int replicas() const { return std::min(all_replicas_, pool_.job_units() / units_per_replica_); }

  void fill_up() {
    while (pool_.job_units() < run_.units && pool_.take_spare()) replaced_ = true;
  }

  void enter(RunBucket phase, Milliseconds time) {
    phase_ = phase;
    queue_.push(now_ + time, {Event::Kind::kPhaseEnd, 0, 0, ++phase_number_, 0});
  }

  void recover(std::size_t step) {
    for (; step < kRecovery.size(); ++step) {
      const RunBucket bucket = kRecovery[step].bucket;
      if (bucket == RunBucket::kScheduling) {
        fill_up();
        if (replicas() < least_replicas_) {
          phase_ = RunBucket::kWaiting;
          ++phase_number_;
          return;
        }
        if (!std::exchange(replaced_, false)) continue;
      }
      const bool from_memory = bucket == RunBucket::kRestore && in_memory_;
      const Delay& delay =
          from_memory ? run_.checkpoints.replicas->restore : run_.recovery.*kRecovery[step].delay;
      if (delay.mean_s == 0) continue;
      step_ = step;
      return enter(bucket, delay.draw(delays_[step], recoveries_));
    }
    train();
  }

  void reconfigure() {
    ++recoveries_;
    replaced_ = false;
    enter(RunBucket::kReconfigure, run_.elastic->reconfigure.draw(delays_[kRecovery.size()], recoveries_));
  }

  void train() { train(run_.checkpoints.interval); }

  // For so long, until the next checkpoint, or less when the work is done before.
  void train(Milliseconds segment) {
    segment_end_ = now_ + segment;
    active_chips_ = replicas() * units_per_replica_ * unit_chips_;
    speed_ = speed();
    finishing_ = false;
    if (run_.work_chip_ms) {
      const double left = static_cast<double>(*run_.work_chip_ms - work_);
      const double ms = std::ceil(left / (speed_ * static_cast<double>(active_chips_)));
      finishing_ = ms <= static_cast<double>(segment.ms);
      if (finishing_) segment.ms = std::max<std::int64_t>(0, static_cast<std::int64_t>(ms));
    }
    enter(RunBucket::kProductive, segment);
  }

  double speed() const {
    double speed = 1 - run_.redundant_share;
    if (replicas() < all_replicas_) speed *= run_.elastic->speed_of_rest;
    for (std::size_t s = 0; s < slow_.size(); ++s)
      for (const Event& slow : slow_[s])
        if (strikes_job(slow)) speed *= run_.failures[s].slows_to;
    return speed;
  }

  void end_phase() {
    if (phase_ == RunBucket::kProductive) {
      result_.finished = finishing_;
      if (!finishing_) begin_save(false);
    } else if (phase_ == RunBucket::kSave) {
      end_save();
    } else if (phase_ == RunBucket::kReconfigure) {
      train();
    } else {
      recover(step_ + 1);
    }
  }

  // To storage when it is due or `at_once`; to the memory of other nodes always, if it is done at all.
  void begin_save(bool at_once) {
    const auto& replicas = run_.checkpoints.replicas;
    to_storage_ = !replicas || at_once || ++saves_ % replicas->saves_per_storage_save == 0;
    Milliseconds pause = to_storage_ ? run_.checkpoints.pause : Milliseconds{};
    if (replicas) pause = pause + replicas->pause;
    enter(RunBucket::kSave, pause);
  }

  void end_save() {
    ++result_.checkpoints;
    in_memory_ = run_.checkpoints.replicas.has_value();
    if (in_memory_) replicated_work_ = work_;
    if (to_storage_ && run_.checkpoints.persist.ms == 0) stored_work_ = work_;
    if (to_storage_ && run_.checkpoints.persist.ms > 0)
      queue_.push(now_ + run_.checkpoints.persist, {Event::Kind::kPersisted, 0, 0, lineage_, work_});
    train();
  }

  const TrainingRun& run_;
  RunCourse* const course_;
  Pool pool_;
  EventQueue<Event, Milliseconds> queue_;
  Arrivals arrivals_;
  std::vector<RandomStream> delays_;  // [recovery step], of reconfiguration, and until slow nodes are found
  const std::int64_t unit_chips_;
  const int units_per_replica_, all_replicas_, least_replicas_;
  RepairCrews crews_;
  std::vector<std::vector<Event>> slow_;  // [failure], strikes of what slows and is not mended

  Milliseconds now_, segment_end_;
  RunBucket phase_ = RunBucket::kProductive;
  std::int64_t phase_number_ = 0, lineage_ = 0;
  std::size_t step_ = 0;  // of recovery
  std::uint64_t recoveries_ = 0, swaps_ = 0;
  bool replaced_ = false, in_memory_ = false, to_storage_ = false, finishing_ = false;
  std::int64_t active_chips_ = 0;
  double speed_ = 1;
  std::int64_t work_ = 0, stored_work_ = 0, replicated_work_ = 0;  // chip-milliseconds at full speed
  std::int64_t saves_ = 0;
  RunResult result_;
};

}  // namespace

RunResult simulate_run(const TrainingRun& run, std::uint64_t seed, RunCourse* course) {
  return RunSimulation(run, seed, course).simulate();
}

}  // namespace podsim
