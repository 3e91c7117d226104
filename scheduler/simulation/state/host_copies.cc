// Two queues per chip, one in each direction.
#include "scheduler/simulation/state/host_copies.h"

#include "engine/check.h"

namespace podsim {

void HostCopies::launch(std::int32_t c, Stream stream, Time now, Time duration) {
  Chip& chip = chips_[c];
  if (stream == Stream::kToHost) {
    chip.sends.push_back(duration);
    if (chip.sends.size() == 1) begin_send(c, now);
  } else {
    chip.fetches.push_back({duration, chip.sent + static_cast<std::int64_t>(chip.sends.size())});
    if (chip.fetches.size() == 1 && chip.sends.empty()) begin_fetch(c, now);
  }
}

Time HostCopies::end(std::int32_t c, Stream stream, Time now) {
  Chip& chip = chips_[c];
  Time duration;
  PODSIM_CHECK(unfinished(c, stream) > 0, "a copy that ends has been launched");
  if (stream == Stream::kToHost) {
    duration = chip.sends.front();
    chip.sends.pop_front();
    ++chip.sent;
    if (!chip.sends.empty()) begin_send(c, now);
    if (!chip.fetches.empty() && chip.fetches.front().after == chip.sent) begin_fetch(c, now);
  } else {
    duration = chip.fetches.front().duration;
    chip.fetches.pop_front();
    if (!chip.fetches.empty() && chip.fetches.front().after <= chip.sent) begin_fetch(c, now);
  }
  return now - duration;
}

int HostCopies::unfinished(std::int32_t c, Stream stream) const {
  PODSIM_CHECK(copies(stream), "a chip has two streams of copies");
  const Chip& chip = chips_[c];
  return static_cast<int>(stream == Stream::kToHost ? chip.sends.size() : chip.fetches.size());
}

void HostCopies::begin_send(std::int32_t c, Time now) {
  event_queue_.set(first_slot_ + 2 * c, now + chips_[c].sends.front());
}

void HostCopies::begin_fetch(std::int32_t c, Time now) {
  event_queue_.set(first_slot_ + 2 * c + 1, now + chips_[c].fetches.front().duration);
}

std::size_t HostCopies::slots(const System& system) {
  for (const StageProgram& program : system.step.stages)
    for (const std::vector<Instruction>& segment : program.segments)
      for (const Instruction& instruction : segment)
        if (instruction.kind == Instruction::Kind::kCopy) return 2 * system.chips.size();
  return 0;
}

}  // namespace podsim
