// Progressive filling of what has changed.
//
// The rates are the solution of   x_a = min of fill_r over the resources r of a,   where fill_r depends only
// on the rates below it on r. So a change spreads in rising order of levels, as distances do in a dynamic
// shortest-path search (Ramalingam and Reps, J. Algorithms 1996): a resource is opened where the first change
// reaches it, what lies below stays, and an activity that keeps its rate passes nothing on.
//
// Levels that differ by rounding alone would break up what is equal. A resource therefore joins a level at
// which one of its activities is frozen if, before anything is frozen there, it would fill within kTie of it.
// That depends on lower levels and on neighbours only, never on the order of work.
#include <algorithm>

#include "engine/check.h"
#include "engine/sharing.h"

namespace podsim {
namespace {

constexpr double kTie = 1e-12;  // covers the rounding of a subtraction and a division

double in_units(std::int64_t usage) {
  return static_cast<double>(usage) * (1.0 / static_cast<double>(kUsageUnit));
}

double tied_with(double level) { return level * (1 + kTie); }

// What a resource has left while levels pass: (left, unfrozen) -> the level at which it fills.
struct Remainder {
  double left;
  std::int64_t unfrozen;
  double level;

  void freeze(double at, std::int64_t usage) {
    left -= at * in_units(usage);
    unfrozen -= usage;
    level = unfrozen == 0 ? std::numeric_limits<double>::infinity()
                          : std::max(left / in_units(unfrozen), tied_with(at));
  }
};

}  // namespace

void Sharing::solve(std::vector<ActivityId>& changed) {
  if (touched_.empty()) return;
  for (const std::int32_t r : touched_) prepare(r);
  touched_.clear();
  while (!levels_.empty()) {
    const double level = levels_.pop(due_);
    pass_level(level);
  }
  finish(changed);
}

// Opens what the changes since the last solve may fill at another level.
void Sharing::prepare(std::int32_t r) {
  Resource& resource = resources_[r];
  auto& seats = resource.seats;
  if (resource.vacated)
    std::erase_if(seats, [&](const Seat& seat) { return activities_[seat.activity].state == State::kGone; });
  // A resource with room gets no fuller when something leaves it.
  const bool same = seats.empty() || (resource.fill == kNoLevel && resource.added == 0 && !resource.lowered);
  if (!same) {
    reset(r);
    resource.key = next_event(resource);
    if (resource.key < kNoLevel) levels_.push(resource.key, r);
  } else if (seats.empty()) {
    resource.fill = kNoLevel;
    resource.joined = false;
  }
  resource.added = 0;
  resource.touched = resource.vacated = resource.lowered = false;
}

double Sharing::rate_alone(std::span<const Use> uses) const {
  double rate = kNoLevel;
  for (const Use& use : uses) rate = std::min(rate, resources_[use.resource].capacity / in_units(use.usage));
  return rate;
}

void Sharing::reset(std::int32_t r) {
  Resource& resource = resources_[r];
  resource.phase = Phase::kOpen;
  opened_.push_back(r);
  sort_seats(resource);
  resource.cursor = 0;
  resource.left = resource.capacity;
  resource.unfrozen = resource.total;
  resource.freezing = 0;
  resource.level = resource.capacity / in_units(resource.total);
}

// Held activities first, in rising order of their rates.
void Sharing::sort_seats(Resource& resource) const {
  auto& seats = resource.seats;
  resource.held_end = 0;
  if (static_cast<std::size_t>(resource.added) == seats.size()) return;
  const auto rank = [&](const Seat& seat) {
    const Activity& activity = activities_[seat.activity];
    return activity.state == State::kHeld ? activity.rate : kNoLevel;
  };
  const auto lower = [&](const Seat& a, const Seat& b) { return rank(a) < rank(b); };
  // Ties by number, so that the order is the same with every standard library.
  const auto before = [&](const Seat& a, const Seat& b) {
    const double x = rank(a), y = rank(b);
    return x != y ? x < y : a.activity < b.activity;
  };
  if (!std::is_sorted(seats.begin(), seats.end(), lower)) std::sort(seats.begin(), seats.end(), before);
  const auto end = std::partition_point(seats.begin(), seats.end(),
                                        [&](const Seat& seat) { return rank(seat) < kNoLevel; });
  resource.held_end = static_cast<std::int32_t>(end - seats.begin());
}

// Freezes what is held below `level`: it is final there.
void Sharing::advance(Resource& resource, double level) const {
  Remainder rest{resource.left, resource.unfrozen, resource.level};
  while (resource.cursor < resource.held_end) {
    const Activity& first = activities_[resource.seats[resource.cursor].activity];
    if (first.state != State::kHeld) {
      ++resource.cursor;
      continue;
    }
    if (first.rate >= level) break;
    std::int64_t usage = 0;
    for (; resource.cursor < resource.held_end; ++resource.cursor) {
      const Seat& seat = resource.seats[resource.cursor];
      const Activity& activity = activities_[seat.activity];
      if (activity.state != State::kHeld) continue;
      if (activity.rate != first.rate) break;
      usage += seat.usage;
    }
    rest.freeze(first.rate, usage);
  }
  resource.left = rest.left;
  resource.unfrozen = rest.unfrozen;
  resource.level = rest.level;
}

// The lowest level at which the resource fills, may join, or has to look at the activities that it held, if
// all that is held stays. Too low a level does no harm, which is why looking ahead may end early.
double Sharing::next_event(const Resource& resource) const {
  constexpr int kLookAhead = 16;
  Remainder rest{resource.left, resource.unfrozen, resource.level};
  std::int32_t at = resource.cursor;
  for (int groups = 0;; ++groups) {
    while (at < resource.held_end && activities_[resource.seats[at].activity].state != State::kHeld) ++at;
    if (at == resource.held_end) return rest.level;
    const double rate = activities_[resource.seats[at].activity].rate;
    if (rate >= resource.fill || rest.level <= tied_with(rate) || groups == kLookAhead)
      return std::min(rate, rest.level);
    std::int64_t usage = 0;
    for (; at < resource.held_end; ++at) {
      const Activity& activity = activities_[resource.seats[at].activity];
      if (activity.state != State::kHeld) continue;
      if (activity.rate != rate) break;
      usage += resource.seats[at].usage;
    }
    rest.freeze(rate, usage);
  }
}

// All that happens at one level. The lists grow while they are worked off.
void Sharing::pass_level(double level) {
  for (const std::int32_t r : due_) visit(r, level);
  due_.clear();
  std::size_t filled = 0, met = 0;
  for (;;) {
    if (filled < filling_.size()) {
      freeze_activities(filling_[filled++], level);
    } else if (met < meeting_.size()) {
      confirm_held(meeting_[met++], level);
    } else if (!doubts_.empty()) {
      settle_doubts(level);
    } else {
      break;
    }
  }
  filling_.clear();
  meeting_.clear();
  for (const std::int32_t r : affected_) schedule(r, level);
  affected_.clear();
}

void Sharing::visit(std::int32_t r, double level) {
  Resource& resource = resources_[r];
  if (resource.phase != Phase::kOpen || resource.key != level) return;  // superseded
  advance(resource, level);
  if (resource.level <= level) {
    fill(r, level, false);
    return;
  }
  meeting_.push_back(r);
  mark_affected(r);
}

// The first change has reached a settled resource at this level.
void Sharing::open(std::int32_t r, double level) {
  reset(r);
  Resource& resource = resources_[r];
  advance(resource, level);
  if (resource.fill == level || resource.level <= tied_with(level)) meeting_.push_back(r);
  mark_affected(r);
}

void Sharing::fill(std::int32_t r, double level, bool joined) {
  Resource& resource = resources_[r];
  resource.phase = Phase::kFull;
  resource.fill = level;
  resource.joined = joined;
  filling_.push_back(r);
}

void Sharing::freeze_activities(std::int32_t r, double level) {
  for (const Seat& seat : resources_[r].seats) {
    const Activity& activity = activities_[seat.activity];
    if (activity.state == State::kLoose) {
      freeze(seat.activity, level);
    } else if (activity.state == State::kHeld && activity.rate > level) {
      moved_.push_back({seat.activity, activity.rate});
      freeze(seat.activity, level);
    }
  }
}

void Sharing::freeze(ActivityId id, double level) {
  Activity& activity = activities_[id];
  activity.state = State::kFrozen;
  activity.rate = level;
  for (const Use& use : std::span(activity.uses, activity.count)) {
    Resource& resource = resources_[use.resource];
    if (resource.phase == Phase::kFull) continue;
    if (resource.phase == Phase::kSettled) {
      open(use.resource, level);
    } else if (!resource.affected) {
      advance(resource, level);
      mark_affected(use.resource);
    }
    resource.freezing += use.usage;
    if (resource.level <= tied_with(level)) fill(use.resource, level, true);
  }
}

// Nothing holds the activity at this level any more: it rises on.
void Sharing::release(ActivityId id, double level) {
  Activity& activity = activities_[id];
  moved_.push_back({id, activity.rate});
  activity.state = State::kLoose;
  for (const Use& use : std::span(activity.uses, activity.count)) {
    Resource& resource = resources_[use.resource];
    if (resource.phase == Phase::kSettled) {
      open(use.resource, level);
    } else if (resource.phase == Phase::kOpen && !resource.affected) {
      advance(resource, level);
      mark_affected(use.resource);
    }
  }
}

// Does a resource fill at this level that the activity is on? One that only joined its neighbours may have
// lost them; it is opened, and shows again where it fills.
bool Sharing::is_held(ActivityId id, double level) {
  const Activity& activity = activities_[id];
  bool found = false;
  for (const Use& use : std::span(activity.uses, activity.count)) {
    const Resource& resource = resources_[use.resource];
    if (resource.phase == Phase::kOpen || resource.fill != level) continue;
    if (resource.phase == Phase::kFull || !resource.joined) {
      found = true;
    } else {
      open(use.resource, level);
    }
  }
  return found;
}

void Sharing::confirm_held(std::int32_t r, double level) {
  Resource& resource = resources_[r];
  for (std::int32_t at = resource.cursor; at < resource.held_end && resource.phase == Phase::kOpen; ++at) {
    const ActivityId id = resource.seats[at].activity;
    const Activity& activity = activities_[id];
    if (activity.state != State::kHeld) continue;
    if (activity.rate > level) return;
    if (!is_held(id, level)) {
      doubts_.push_back({id, r});
    } else if (resource.level <= tied_with(level)) {
      fill(r, level, true);
    }
  }
}

void Sharing::settle_doubts(double level) {
  for (const Doubt& doubt : doubts_) {
    if (activities_[doubt.activity].state != State::kHeld) continue;
    const Resource& resource = resources_[doubt.resource];
    if (!is_held(doubt.activity, level)) {
      release(doubt.activity, level);
    } else if (resource.phase == Phase::kOpen && resource.level <= tied_with(level)) {
      fill(doubt.resource, level, true);
    }
  }
  doubts_.clear();
}

void Sharing::mark_affected(std::int32_t r) {
  if (resources_[r].affected) return;
  resources_[r].affected = true;
  affected_.push_back(r);
}

// Freezes what stays at this level and finds the next event of a resource.
void Sharing::schedule(std::int32_t r, double level) {
  Resource& resource = resources_[r];
  resource.affected = false;
  if (resource.phase != Phase::kOpen) return;
  std::int64_t usage = resource.freezing;
  resource.freezing = 0;
  for (; resource.cursor < resource.held_end; ++resource.cursor) {
    const Seat& seat = resource.seats[resource.cursor];
    if (activities_[seat.activity].state != State::kHeld) continue;
    if (activities_[seat.activity].rate > level) break;
    usage += seat.usage;
  }
  if (usage > 0) {
    Remainder rest{resource.left, resource.unfrozen, resource.level};
    rest.freeze(level, usage);
    resource.left = rest.left;
    resource.unfrozen = rest.unfrozen;
    resource.level = rest.level;
  }
  resource.key = next_event(resource);
  if (resource.key < kNoLevel) levels_.push(resource.key, r);
}

void Sharing::finish(std::vector<ActivityId>& changed) {
  for (const std::int32_t r : opened_) {
    Resource& resource = resources_[r];
    if (resource.phase == Phase::kOpen) {
      resource.fill = kNoLevel;
      resource.joined = false;
    }
    resource.phase = Phase::kSettled;
  }
  opened_.clear();
  for (const Moved& moved : moved_) {
    Activity& activity = activities_[moved.activity];
    if (activity.state == State::kGone) continue;
    PODSIM_CHECK(activity.state == State::kFrozen, "every activity has a resource that fills");
    activity.state = State::kHeld;
    if (activity.rate != moved.before) changed.push_back(moved.activity);
  }
  moved_.clear();
  free_.insert(free_.end(), gone_.rbegin(), gone_.rend());
  gone_.clear();
}

}  // namespace podsim
