// Progressive filling over the connected components that changed.
#include "engine/sharing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

// Resources whose levels differ by less than this fill together: it covers the rounding of a division and a
// subtraction.
constexpr double kTie = 1e-12;

double in_units(std::int64_t usage) {
  return static_cast<double>(usage) * (1.0 / static_cast<double>(kUsageUnit));
}

}  // namespace

std::int64_t fixed_usage(double usage) {
  PODSIM_CHECK(usage > 0 && usage < 0x1p22, "usage out of range");
  return std::max<std::int64_t>(1, std::llround(usage * static_cast<double>(kUsageUnit)));
}

Sharing::Sharing(std::vector<double> capacity) : resources_(capacity.size()) {
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    PODSIM_CHECK(capacity[r] > 0, "a resource needs capacity");
    resources_[r].capacity = capacity[r];
  }
}

void Sharing::touch(std::int32_t resource) {
  if (resources_[resource].touched) return;
  resources_[resource].touched = true;
  touched_.push_back(resource);
}

ActivityId Sharing::add(std::span<const Use> uses) {
  PODSIM_CHECK(!uses.empty(), "an activity without resources has no finite rate");
  ActivityId id;
  if (free_.empty()) {
    id = static_cast<ActivityId>(activities_.size());
    activities_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Activity& activity = activities_[id];
  activity.uses = uses;
  activity.rate = 0;
  activity.active = true;
  activity.seat.resize(uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    auto& seats = resources_[uses[i].resource].seats;
    activity.seat[i] = static_cast<std::int32_t>(seats.size());
    seats.push_back({id, static_cast<std::int32_t>(i)});
    touch(uses[i].resource);
  }
  return id;
}

void Sharing::remove(ActivityId id) {
  Activity& activity = activities_[id];
  PODSIM_CHECK(activity.active, "only an active activity can leave");
  for (std::size_t i = 0; i < activity.uses.size(); ++i) {
    auto& seats = resources_[activity.uses[i].resource].seats;
    std::int32_t at = activity.seat[i];
    seats[at] = seats.back();
    activities_[seats[at].activity].seat[seats[at].use] = at;
    seats.pop_back();
    touch(activity.uses[i].resource);
  }
  activity.active = false;
  free_.push_back(id);
}

void Sharing::gather_components() {
  component_resources_.clear();
  component_activities_.clear();
  for (std::int32_t r : touched_) {
    resources_[r].touched = false;
    if (resources_[r].gathered) continue;
    resources_[r].gathered = true;
    component_resources_.push_back(r);
  }
  touched_.clear();
  for (std::size_t next = 0; next < component_resources_.size(); ++next) {
    Resource& resource = resources_[component_resources_[next]];
    resource.left = resource.capacity;
    resource.unfrozen = 0;
    resource.freezing = 0;
    for (const Seat& seat : resource.seats) {
      Activity& activity = activities_[seat.activity];
      resource.unfrozen += activity.uses[seat.use].usage;
      if (activity.gathered) continue;
      activity.gathered = true;
      activity.frozen = false;
      activity.old_rate = activity.rate;
      component_activities_.push_back(seat.activity);
      for (const Use& use : activity.uses) {
        if (resources_[use.resource].gathered) continue;
        resources_[use.resource].gathered = true;
        component_resources_.push_back(use.resource);
      }
    }
  }
}

void Sharing::fill() {
  heap_.clear();
  for (std::int32_t r : component_resources_) {
    Resource& resource = resources_[r];
    if (resource.unfrozen == 0) continue;
    resource.level = resource.left / in_units(resource.unfrozen);
    heap_.emplace_back(resource.level, r);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  auto pop = [&] {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  };
  while (!heap_.empty()) {
    auto [level, first] = heap_.front();
    if (resources_[first].unfrozen == 0 ||
        resources_[first].level != level) {  // an entry that was superseded
      pop();
      continue;
    }
    level_resources_.clear();
    while (!heap_.empty() && heap_.front().first <= level * (1 + kTie)) {
      auto [l, r] = heap_.front();
      if (resources_[r].unfrozen > 0 && resources_[r].level == l) level_resources_.push_back(r);
      pop();
    }
    reduced_.clear();
    for (std::int32_t r : level_resources_) {
      for (const Seat& seat : resources_[r].seats) {
        Activity& activity = activities_[seat.activity];
        if (activity.frozen) continue;
        activity.frozen = true;
        activity.rate = level;
        for (const Use& use : activity.uses) {
          Resource& used = resources_[use.resource];
          if (used.freezing == 0) reduced_.push_back(use.resource);
          used.freezing += use.usage;
        }
      }
    }
    for (std::int32_t r : reduced_) {
      Resource& resource = resources_[r];
      resource.left -= level * in_units(resource.freezing);
      resource.unfrozen -= resource.freezing;
      resource.freezing = 0;
      if (resource.unfrozen == 0) continue;
      resource.level = std::max(level, resource.left / in_units(resource.unfrozen));
      heap_.emplace_back(resource.level, r);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

void Sharing::solve(std::vector<ActivityId>& changed) {
  if (touched_.empty()) return;
  gather_components();
  fill();
  for (std::int32_t r : component_resources_) resources_[r].gathered = false;
  for (ActivityId id : component_activities_) {
    activities_[id].gathered = false;
    if (activities_[id].rate != activities_[id].old_rate) changed.push_back(id);
  }
}

}  // namespace podsim
