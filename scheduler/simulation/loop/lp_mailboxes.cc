// Posts and delivers notices.
#include "scheduler/simulation/loop/lp_mailboxes.h"

#include <algorithm>

namespace podsim {

void Inboxes::post_and_wake(const Notice& notice, Time by) {
  post(notice);
  const std::int32_t island = islands_.of_chip[notice.chip];
  if (by < key_[island]) wake_at(island, by);
}

// Computations become later by it.
void Inboxes::start_known(std::int32_t chip, const KnownCollective& known, Time now) {
  if (at_present(chip)) return computation_.start_known(chip, known, now);
  if (!computation_.slowed_by_transfers(chip) || known.edges.empty()) return;
  Notice notice{now, Notice::Kind::kStarts, false, chip, known.pattern, known.meeting};
  notice.edges = known.edges;
  post_and_wake(notice, earlier(chip, now, 1, known.edges.size()));
}

void Inboxes::forget_known(std::int32_t chip, std::int32_t meeting, bool draining, Time now) {
  if (at_present(chip)) return computation_.forget_known(chip, meeting, draining, now);
  if (!computation_.slowed_by_transfers(chip)) return;
  post_and_wake({now, Notice::Kind::kForgotten, draining, chip, kNone, meeting},
                earlier(chip, now, computation_.slowdown(chip), 1));
}

void Inboxes::change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now) {
  if (at_present(chip)) return computation_.change_transfers(chip, pattern, difference, now);
  if (!computation_.slowed_by_transfers(chip)) return;
  post_and_wake({now, Notice::Kind::kTransfers, false, chip, pattern, kNone, difference},
                earlier(chip, now, difference < 0 ? computation_.slowdown(chip) : 1, 1));
}

// When the chip's island has to be taken on, if from now on the chip may compute so much faster than was
// foreseen, and is settled at so many other instants. What lies between the end of its computation and a
// concern was taken for undisturbed before. At each other instant it is rounded otherwise.
Time Inboxes::earlier(std::int32_t chip, Time now, double faster, std::size_t instants) const {
  constexpr std::int64_t kAtAnInstant = 2;  // picoseconds
  const Time key = key_[islands_.of_chip[chip]];
  if (key == Time::max() || key <= now) return key;
  const auto left = static_cast<std::int64_t>(static_cast<double>((key - now).ps) / faster);
  return std::max(now, now + Time{left - kAtAnInstant * static_cast<std::int64_t>(instants)});
}

void Inboxes::go_on(std::int32_t chip, Time now, Time concern) {
  post_and_wake({now, Notice::Kind::kGoOn, false, chip}, concern);
}

void Inboxes::await(std::int32_t meeting, std::int32_t member, Time event) {
  if (at_present(member) || islands_.shared(meeting)) return;
  const std::int32_t island = islands_.of_chip[member];
  if (event < key_[island]) wake_at(island, event);
}

Inboxes::Notice Inboxes::take(std::int32_t island) {
  Box& box = boxes_[island];
  const Notice notice = box.notices[box.read++];
  if (box.read == box.notices.size()) {
    box.notices.clear();
    box.read = 0;
  }
  return notice;
}

}  // namespace podsim
