// Ends are foreseen when a rate changes, in runs of what ends together.
#include "engine/fluid.h"

#include <algorithm>
#include <functional>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::size_t kEmptyRunsKept = 1024;  // in the queue; fewer are not worth a sweep

// The nearest tick to `ticks` >= 0 after `now`, or kNever beyond the last one.
Tick after(Tick now, double ticks) {
  constexpr double kExact = 0x1p52;  // doubles from here on are whole
  if (!(ticks < 0x1p62)) return kNever;
  const auto whole = static_cast<Tick>(ticks < kExact ? ticks + 0.5 : ticks);
  return whole < kNever - now ? now + whole : kNever;
}

}  // namespace

Fluid::Fluid(std::vector<double> capacity, double ticks_per_second)
    : sharing_(std::move(capacity)), ticks_per_second_(ticks_per_second) {
  PODSIM_CHECK(ticks_per_second > 0, "time passes");
}

void Fluid::advance(Tick now) {
  PODSIM_CHECK(now >= now_, "nothing begins, ends or changes in the past");
  now_ = now;
}

void Fluid::reserve(std::size_t activities) {
  sharing_.reserve(activities);
  draining_.reserve(activities);
  members_.reserve(activities);
}

void Fluid::begin(Tick now, std::span<const Use> uses, double amount, std::int32_t owner) {
  PODSIM_CHECK(amount > 0, "there is something to drain");
  advance(now);
  const ActivityId id = sharing_.add(uses);
  if (static_cast<std::size_t>(id) >= draining_.size()) draining_.resize(id + 1);
  draining_[id] = {amount, 0, now, begun_++, owner, kNone};
  ++draining_count_;
  dirty_ = true;
}

void Fluid::begin_alone(Tick since, Tick now, std::span<const Use> uses, double amount, std::int32_t owner) {
  PODSIM_CHECK(amount > 0, "there is something to drain");
  advance(now);
  const double rate = sharing_.rate_alone(uses);
  const ActivityId id = sharing_.add(uses, rate);
  if (static_cast<std::size_t>(id) >= draining_.size()) draining_.resize(id + 1);
  draining_[id] = {amount, rate, since, begun_++, owner, kNone};
  join_run(id, begin_run(after(since, amount / rate * ticks_per_second_)));
  ++draining_count_;
  dirty_ = true;
}

Tick Fluid::time_alone(std::span<const Use> uses, double amount) const {
  const double rate = sharing_.rate_alone(uses);
  return rate > 0 ? after(0, amount / rate * ticks_per_second_) : kNever;
}

void Fluid::set_capacity(Tick now, std::int32_t resource, double capacity) {
  advance(now);
  sharing_.set_capacity(resource, capacity);
  dirty_ = true;
}

Tick Fluid::next() {
  if (dirty_) solve();
  while (!queue_.empty()) {
    const auto [end, run] = queue_.front();
    if (runs_[run].members > 0) return end;
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    queue_.pop_back();
    free_run(run);
  }
  return kNever;
}

void Fluid::end(Tick now, std::vector<std::int32_t>& owners) {
  PODSIM_CHECK(now == next(), "what is gone ends when it is gone");
  advance(now);
  gone_.clear();
  while (!queue_.empty() && queue_.front().first == now) {
    const std::int32_t run = queue_.front().second;
    for (std::int32_t m = runs_[run].first_member; m != kNone; m = members_[m].next)
      if (draining_[members_[m].activity].run == run) gone_.push_back(members_[m].activity);
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    queue_.pop_back();
    free_run(run);
  }
  const auto began_before = [&](ActivityId a, ActivityId b) {
    return draining_[a].sequence < draining_[b].sequence;
  };
  if (!std::is_sorted(gone_.begin(), gone_.end(), began_before))
    std::sort(gone_.begin(), gone_.end(), began_before);
  for (const ActivityId id : gone_) {
    owners.push_back(draining_[id].owner);
    sharing_.remove(id);
    draining_[id].sequence = draining_[id].run = kNone;
  }
  draining_count_ -= static_cast<std::int64_t>(gone_.size());
  dirty_ = true;
}

std::vector<std::int32_t> Fluid::stalled() const {
  std::vector<std::pair<std::int64_t, std::int32_t>> found;
  for (const Draining& draining : draining_)
    if (draining.sequence != kNone && draining.rate == 0)
      found.emplace_back(draining.sequence, draining.owner);
  std::sort(found.begin(), found.end());
  std::vector<std::int32_t> owners;
  for (const auto& [sequence, owner] : found) owners.push_back(owner);
  return owners;
}

Tick Fluid::stalled_since(std::int32_t owner) const {
  const auto stalled = std::find_if(draining_.begin(), draining_.end(), [&](const Draining& draining) {
    return draining.sequence != kNone && draining.rate == 0 && draining.owner == owner;
  });
  PODSIM_CHECK(stalled != draining_.end(), "the owner has something that does not drain");
  return stalled->since;
}

std::vector<ActivityId> Fluid::by_begin() const {
  std::vector<ActivityId> active;
  if (idle()) return active;
  for (std::size_t id = 0; id < draining_.size(); ++id)
    if (draining_[id].sequence != kNone) active.push_back(static_cast<ActivityId>(id));
  std::sort(active.begin(), active.end(),
            [&](ActivityId a, ActivityId b) { return draining_[a].sequence < draining_[b].sequence; });
  return active;
}

// Neighbours in `changed_` often have the same amount and the same rate: they end together, and one division
// and one place in the queue serve them all.
void Fluid::solve() {
  dirty_ = false;
  ++solves_;
  changed_.clear();
  sharing_.solve(changed_);
  double left = -1, rate = -1;
  Tick end = kNever;
  std::int32_t run = kNone;
  for (const ActivityId id : changed_) {
    Draining& draining = draining_[id];
    if (draining.rate > 0) {
      const double elapsed_s = static_cast<double>(now_ - draining.since) / ticks_per_second_;
      draining.left = std::max(0.0, draining.left - draining.rate * elapsed_s);
    }
    draining.since = now_;
    draining.rate = sharing_.rate(id);
    leave_run(draining);
    if (draining.rate == 0) continue;
    if (draining.left != left || draining.rate != rate) {
      left = draining.left;
      rate = draining.rate;
      const Tick own_end = after(now_, left / rate * ticks_per_second_);
      if (run == kNone || own_end != end) run = own_end == kNever ? kNone : begin_run(own_end);
      end = own_end;
    }
    if (run != kNone) join_run(id, run);
  }
  drop_empty_runs();
}

void Fluid::leave_run(Draining& draining) {
  if (draining.run == kNone) return;
  if (--runs_[draining.run].members == 0) ++empty_runs_;
  draining.run = kNone;
}

// Slow moments leave ends in the far future that nothing waits for any more.
void Fluid::drop_empty_runs() {
  if (2 * empty_runs_ < queue_.size() + kEmptyRunsKept) return;
  std::erase_if(queue_, [&](const auto& entry) {
    if (runs_[entry.second].members > 0) return false;
    free_run(entry.second);
    return true;
  });
  std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void Fluid::join_run(ActivityId activity, std::int32_t run) {
  std::int32_t member = free_member_;
  if (member == kNone) {
    member = static_cast<std::int32_t>(members_.size());
    members_.emplace_back();
  } else {
    free_member_ = members_[member].next;
  }
  members_[member] = {activity, kNone};
  std::int32_t& link =
      runs_[run].last_member == kNone ? runs_[run].first_member : members_[runs_[run].last_member].next;
  link = runs_[run].last_member = member;
  ++runs_[run].members;
  draining_[activity].run = run;
}

std::int32_t Fluid::begin_run(Tick end) {
  std::int32_t run;
  if (free_runs_.empty()) {
    run = static_cast<std::int32_t>(runs_.size());
    runs_.emplace_back();
  } else {
    run = free_runs_.back();
    free_runs_.pop_back();
  }
  runs_[run] = {};
  queue_.emplace_back(end, run);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  return run;
}

void Fluid::free_run(std::int32_t run) {
  if (runs_[run].members == 0) --empty_runs_;
  for (std::int32_t m = runs_[run].first_member; m != kNone;) {
    const std::int32_t next = members_[m].next;
    members_[m].next = free_member_;
    free_member_ = m;
    m = next;
  }
  free_runs_.push_back(run);
}

}  // namespace podsim
