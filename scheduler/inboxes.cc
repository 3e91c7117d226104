// Posts and delivers notices.
#include "scheduler/inboxes.h"

namespace podsim {

void Inboxes::post_and_wake(const Notice& notice) {
  post(notice);
  const std::int32_t island = islands_.of_chip[notice.chip];
  if (notice.at < key_[island]) wake_at(island, notice.at);
}

// Nothing becomes earlier by it.
void Inboxes::start_known(std::int32_t chip, const Computation::Known& known, Time now) {
  if (at_present(chip)) return computation_.start_known(chip, known, now);
  if (!computation_.slowed_by_transfers(chip)) return;
  Notice notice{now, Notice::Kind::kStarts, false, chip, known.pattern, known.meeting};
  notice.edges = known.edges;
  post(notice);
}

void Inboxes::forget_known(std::int32_t chip, std::int32_t meeting, bool draining, Time now) {
  if (at_present(chip)) return computation_.forget_known(chip, meeting, draining, now);
  post_and_wake({now, Notice::Kind::kForgotten, draining, chip, kNone, meeting});
}

void Inboxes::change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now) {
  if (at_present(chip)) return computation_.change_transfers(chip, pattern, difference, now);
  post_and_wake({now, Notice::Kind::kTransfers, false, chip, pattern, kNone, difference});
}

void Inboxes::go_on(std::int32_t chip, Time now) { post_and_wake({now, Notice::Kind::kGoOn, false, chip}); }

std::int32_t Inboxes::take(std::int32_t island) {
  Box& box = boxes_[island];
  const Notice notice = box.notices[box.read++];
  if (box.read == box.notices.size()) {
    box.notices.clear();
    box.read = 0;
  }
  switch (notice.kind) {
    case Notice::Kind::kStarts:
      computation_.start_known(notice.chip, {notice.at, notice.edges, notice.pattern, notice.meeting},
                               notice.at);
      return kNone;
    case Notice::Kind::kForgotten:
      computation_.forget_known(notice.chip, notice.meeting, notice.draining, notice.at);
      return kNone;
    case Notice::Kind::kTransfers:
      computation_.change_transfers(notice.chip, notice.pattern, notice.difference, notice.at);
      return kNone;
    case Notice::Kind::kGoOn:
      return notice.chip;
  }
  return kNone;
}

}  // namespace podsim
