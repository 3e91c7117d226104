// What is shared among whom: activities come and go, capacities change.
#include "engine/sharing.h"

#include <algorithm>
#include <cmath>

#include "engine/check.h"

namespace podsim {

std::int64_t fixed_usage(double usage) {
  PODSIM_CHECK(usage > 0 && usage < 0x1p22, "usage out of range");
  const double units = usage * static_cast<double>(kUsageUnit);
  const auto whole = static_cast<std::int64_t>(units);
  return std::max<std::int64_t>(1, whole + (units - static_cast<double>(whole) >= 0.5));
}

std::int64_t weighted_usage(std::int64_t usage, double weight) {
  return fixed_usage(static_cast<double>(usage) / static_cast<double>(kUsageUnit) * weight);
}

Sharing::Sharing(std::vector<double> capacity) : resources_(capacity.size()) {
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    PODSIM_CHECK(capacity[r] >= 0 && capacity[r] < kNoLevel, "a capacity is finite and not negative");
    resources_[r].capacity = capacity[r];
  }
}

void Sharing::touch(std::int32_t resource) {
  if (resources_[resource].touched) return;
  resources_[resource].touched = true;
  touched_.push_back(resource);
}

void Sharing::reserve(std::size_t activities) {
  activities_.reserve(activities);
  moved_.reserve(activities);
}

void Sharing::set_capacity(std::int32_t r, double capacity) {
  PODSIM_CHECK(capacity >= 0 && capacity < kNoLevel, "a capacity is finite and not negative");
  Resource& resource = resources_[r];
  if (capacity == resource.capacity) return;
  if (capacity < resource.capacity) resource.lowered = true;
  resource.capacity = capacity;
  touch(r);
}

ActivityId Sharing::add(std::span<const Use> uses, double rate_before) {
  PODSIM_CHECK(!uses.empty(), "an activity without resources has no finite rate");
  ActivityId id;
  if (free_.empty()) {
    id = static_cast<ActivityId>(activities_.size());
    activities_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  activities_[id] = {uses.data(), 0, static_cast<std::int32_t>(uses.size()), State::kLoose};
  moved_.push_back({id, rate_before});
  for (const Use& use : uses) {
    Resource& resource = resources_[use.resource];
    resource.seats.push_back({use.usage, id});
    resource.total += use.usage;
    ++resource.added;
    touch(use.resource);
  }
  return id;
}

void Sharing::remove(ActivityId id) {
  Activity& activity = activities_[id];
  PODSIM_CHECK(activity.state == State::kHeld || activity.state == State::kLoose,
               "only an active activity can leave");
  for (const Use& use : std::span(activity.uses, activity.count)) {
    Resource& resource = resources_[use.resource];
    resource.total -= use.usage;
    resource.vacated = true;
    if (activity.state == State::kLoose) --resource.added;
    touch(use.resource);
  }
  activity.state = State::kGone;
  gone_.push_back(id);
}

}  // namespace podsim
