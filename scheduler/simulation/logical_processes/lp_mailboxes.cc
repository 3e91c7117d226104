// Posts and delivers messages.
#include "scheduler/simulation/logical_processes/lp_mailboxes.h"

#include <algorithm>

namespace podsim {

void LpMailboxes::post_and_wake(const LpMessage& message, Time by) {
  post(message);
  const std::int32_t process = processes_.of_chip[message.chip];
  if (by < key_[process]) wake_at(process, by);
}

// Computations become later by it.
void LpMailboxes::start_known(std::int32_t chip, const KnownCollective& known, Time now) {
  if (at_present(chip)) return computation_.start_known(chip, known, now);
  if (!computation_.slowed_by_transfers(chip) || known.edges.empty()) return;
  LpMessage message{now, LpMessage::Kind::kStarts, false, chip, known.pattern, known.rendezvous};
  message.edges = known.edges;
  post_and_wake(message, earlier(chip, now, 1, known.edges.size()));
}

void LpMailboxes::forget_known(std::int32_t chip, std::int32_t rendezvous, bool draining, Time now) {
  if (at_present(chip)) return computation_.forget_known(chip, rendezvous, draining, now);
  if (!computation_.slowed_by_transfers(chip)) return;
  post_and_wake({now, LpMessage::Kind::kForgotten, draining, chip, kNone, rendezvous},
                earlier(chip, now, computation_.slowdown(chip), 1));
}

void LpMailboxes::change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now) {
  if (at_present(chip)) return computation_.change_transfers(chip, pattern, difference, now);
  if (!computation_.slowed_by_transfers(chip)) return;
  post_and_wake({now, LpMessage::Kind::kTransfers, false, chip, pattern, kNone, difference},
                earlier(chip, now, difference < 0 ? computation_.slowdown(chip) : 1, 1));
}

// What lies between the end of its computation and a
// earliest output was taken for undisturbed before. At each other instant it is rounded otherwise.
Time LpMailboxes::earlier(std::int32_t chip, Time now, double faster, std::size_t instants) const {
  constexpr std::int64_t kAtAnInstant = 2;  // picoseconds
  const Time key = key_[processes_.of_chip[chip]];
  if (key == Time::max() || key <= now) return key;
  const auto left = static_cast<std::int64_t>(static_cast<double>((key - now).ps) / faster);
  return std::max(now, now + Time{left - kAtAnInstant * static_cast<std::int64_t>(instants)});
}

void LpMailboxes::go_on(std::int32_t chip, Time now, Time earliest) {
  PODSIM_CHECK(!at_present(chip), "who is at the present goes on by itself");
  post_and_wake({now, LpMessage::Kind::kGoOn, false, chip}, earliest);
}

LpMailboxes::LpMessage LpMailboxes::take(std::int32_t process) {
  Box& box = boxes_[process];
  const LpMessage message = box.messages[box.read++];
  if (box.read == box.messages.size()) {
    box.messages.clear();
    box.read = 0;
  }
  return message;
}

}  // namespace podsim
