// Posts and delivers notices.
#include "scheduler/inboxes.h"

#include <algorithm>

namespace podsim {

void Inboxes::post_and_wake(const Notice& notice, Time by) {
  post(notice);
  const std::int32_t island = islands_.of_chip[notice.chip];
  if (by < key_[island]) wake_at(island, by);
}

// Computations become later by it. But one that is settled at other instants than was foreseen is rounded
// otherwise, and may end earlier by a picosecond for each.
void Inboxes::start_known(std::int32_t chip, const KnownCollective& known, Time now) {
  if (at_present(chip)) return computation_.start_known(chip, known, now);
  if (!computation_.slowed_by_transfers(chip)) return;
  Notice notice{now, Notice::Kind::kStarts, false, chip, known.pattern, known.meeting};
  notice.edges = known.edges;
  const Time rounding{2 * static_cast<std::int64_t>(known.edges.size())};
  const Time key = key_[islands_.of_chip[chip]];
  post_and_wake(notice, key == Time::max() ? key : std::max(now, key - rounding));
}

void Inboxes::forget_known(std::int32_t chip, std::int32_t meeting, bool draining, Time now) {
  if (at_present(chip)) return computation_.forget_known(chip, meeting, draining, now);
  post_and_wake({now, Notice::Kind::kForgotten, draining, chip, kNone, meeting}, now);
}

void Inboxes::change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now) {
  if (at_present(chip)) return computation_.change_transfers(chip, pattern, difference, now);
  post_and_wake({now, Notice::Kind::kTransfers, false, chip, pattern, kNone, difference}, now);
}

void Inboxes::go_on(std::int32_t chip, Time now, Time concern) {
  post_and_wake({now, Notice::Kind::kGoOn, false, chip}, concern);
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
