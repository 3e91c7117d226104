// Keeps what is left of every transfer while rates change.
#include "scheduler/transfers.h"

#include <algorithm>

namespace podsim {

Transfers::Transfers(const System& system, std::size_t meetings, EventQueue<Event>& queue)
    : queue_(queue), sharing_(link_capacities(system)), transfers_(meetings) {}

void Transfers::begin(std::int32_t meeting, Time now, std::span<const Use> uses, double bytes) {
  Transfer& transfer = transfers_[meeting];
  transfer.left = bytes;
  transfer.rate = 0;
  transfer.updated = now;
  transfer.activity = sharing_.add(uses);
  const auto activity = static_cast<std::size_t>(transfer.activity);
  if (activity >= meeting_of_activity_.size()) meeting_of_activity_.resize(activity + 1);
  meeting_of_activity_[activity] = meeting;
}

void Transfers::end(std::int32_t meeting) {
  sharing_.remove(transfers_[meeting].activity);
  ++transfers_[meeting].version;
}

void Transfers::share(Time now) {
  changed_.clear();
  sharing_.solve(changed_);
  for (const ActivityId activity : changed_) {
    const std::int32_t meeting = meeting_of_activity_[activity];
    Transfer& transfer = transfers_[meeting];
    transfer.left = std::max(0.0, transfer.left - transfer.rate * (now - transfer.updated).in_seconds());
    transfer.updated = now;
    transfer.rate = sharing_.rate(activity);
    queue_.push(now + Time::seconds(transfer.left / transfer.rate),
                {Event::Kind::kDrained, meeting, ++transfer.version});
  }
}

}  // namespace podsim
