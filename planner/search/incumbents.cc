// Ordered by step, ties by layout.
#include "planner/search/incumbents.h"

#include <algorithm>

namespace podsim {
namespace {

Time stretched(Time time, double share) { return time + Time::seconds(share * time.in_seconds()); }

}  // namespace

void Incumbents::add(FoundLayout found) {
  const std::pair key(found.figures.step_time, found.layout);
  by_step_.insert(key);
  found_.emplace(key, std::move(found));
  if (!pareto_) forget_slow();
}

Time Incumbents::limit() const {
  if (by_step_.empty()) return Time::max();
  const Time best = by_step_.begin()->first;
  Time limit = by_step_.size() < top_
                   ? Time::max()
                   : std::next(by_step_.begin(), static_cast<std::ptrdiff_t>(top_ - 1))->first;
  if (within_ > 0) limit = std::max(by_step_.size() < top_ ? best : limit, stretched(best, within_));
  return limit;
}

bool Incumbents::could_take(Time bound, Bytes memory) const {
  return pareto_ ? !beat_in_both(bound, memory) : bound <= limit();
}

// Some layout is no worse than these bounds in step and memory, and better in one.
bool Incumbents::beat_in_both(Time bound, Bytes memory) const {
  return std::ranges::any_of(found_, [&](const auto& each) {
    const FoundLayout& known = each.second;
    const bool better = known.figures.step_time < bound || known.memory < memory;
    return known.figures.step_time <= bound && known.memory <= memory && better;
  });
}

// Layouts that cannot be in the answer.
void Incumbents::forget_slow() {
  const Time limit = this->limit();
  while (!found_.empty() && std::prev(found_.end())->first.first > limit)
    found_.erase(std::prev(found_.end()));
}

// The `top` fastest, and all within the share that was asked for; or the front of step and memory.
std::vector<FoundLayout> Incumbents::taken() {
  std::vector<FoundLayout> answer;
  const Time within = any() ? stretched(best(), within_) : Time{};
  for (auto& [key, found] : found_) {
    const bool wanted = pareto_ ? answer.empty() || found.memory < answer.back().memory
                                : answer.size() < top_ || (within_ > 0 && key.first <= within);
    if (wanted) answer.push_back(std::move(found));
  }
  found_.clear();
  return answer;
}

}  // namespace podsim
