// The chips of a tensor group from launch to launch, all of them together.
//
// Rule. Where all chips of a logical process stand at the same launch, it is known of the operation at once
// when it starts and ends. So each of them goes on to the next launch of the stream, beside collectives that
// are the same for all. A chip that gets to anything but computation, waits for the stream and its launches,
// or beyond what is known, falls out: it goes on as those that are alone, and the others with it when they
// stand.
#include <algorithm>

#include "scheduler/simulation/logical_processes/logical_process_loop.h"

namespace podsim {

// False, and nothing done, where not all of them stand at the same launch, or what they launch ends after the
// horizon.
bool LogicalProcessLoop::go_in_lockstep() {
  if (!line_up() || !launch_together()) return false;
  do lp_advance_.standing.clear();
  while (walk_all() && launch_together());
  const std::span<Lockstep::Chip> chips = lockstep_.chips();
  for (Lockstep::Chip& chip : chips) tell(chip);
  for (Lockstep::Chip& chip : chips)
    if (!lp_advance_.standing.contains(place_of(chip.number))) fall_out(chip);
  return true;
}

// Whether all of them stand at the same launch.
bool LogicalProcessLoop::line_up() {
  const std::span<const std::int32_t> chips = processes_.chips[lp_advance_.process()];
  const Instruction* at = state_.chips[chips.front()].at;
  if (lp_advance_.standing.count() != chips.size()) return false;
  lockstep_.begin(at->stream);
  for (const std::int32_t c : chips) {
    if (state_.chips[c].at != at || lp_advance_.gathering(place_of(c)) > 0) return false;
    lockstep_.add({c, &state_.chips[c], &known_of(c, at->stream), {}, computation_.beside_until(c), {}});
  }
  return true;
}

// Launches all operations of the stream that follow at once. False where the first of them ends after the
// horizon.
bool LogicalProcessLoop::launch_together() {
  const RunningChip& first = *lockstep_.chips().front().running;
  const Instruction* at = first.at;
  while (at != first.end && at->kind == Instruction::Kind::kLaunch && at->stream == lockstep_.stream() &&
         start_together())
    ++at;
  if (at == first.at) return false;
  for (Lockstep::Chip& chip : lockstep_.chips()) chip.running->at = at;
  return true;
}

// False, and nothing done, where the operation ends after the horizon.
bool LogicalProcessLoop::start_together() {
  const std::span<Lockstep::Chip> chips = lockstep_.chips();
  const StreamOperation operation = chips.front().queue->first_unknown();
  const std::int32_t m = state_.queues.rendezvous(chips.front().number, operation);
  state_.all_rendezvous[m].message = operation.message;
  Ended what{lockstep_.stream(), operation.message, chips.front().number, {}};
  std::int32_t degradation = chips.front().running->degradation;
  for (const Lockstep::Chip& chip : chips) {
    const Time at = chip.queue->come(chip.running->since);
    if (at < what.started || (at == what.started && chip.running->degradation > degradation)) continue;
    what.last = chip.number;
    what.started = at;
    degradation = chip.running->degradation;
  }
  const UncontendedCollective& alone = operations_.alone(m);
  const Ending ending{what, what.started + alone.arrival};
  if (ending.at > lp_advance_.horizon()) return false;
  ++state_.events;
  state_.accounts.start(m);
  chips.front().queue->note(ending);
  for (const Lockstep::Chip& chip : chips) chip.queue->launch_known(chip.running->since);
  if (alone.edges.empty() || !computation_.slowed_by_transfers(chips.front().number)) return true;
  const KnownCollective known{what.started, alone.edges, state_.system.pattern_of[operation.message], m};
  if (lockstep_.common.add(known)) return true;
  CollectiveAhead ahead;
  ahead.begin(known);
  for (Lockstep::Chip& chip : chips) {
    tell(chip);
    computation_.expect(chip.number, ahead, settled(chip.number));
    chip.own = std::max(chip.own, ahead.last);
  }
  return true;
}

// Each as far as its next launch. False unless all of them stand there.
bool LogicalProcessLoop::walk_all() {
  bool all = true;
  for (Lockstep::Chip& chip : lockstep_.chips()) {
    state_.now = chip.running->since;
    if (walk(chip)) {
      lp_advance_.standing.add(place_of(chip.number));
    } else {
      all = false;
    }
    chip.running->since = state_.now;
  }
  return all;
}

// As far as the next launch of the stream. False where the chip gets to anything else before.
bool LogicalProcessLoop::walk(Lockstep::Chip& chip) {
  RunningChip& running = *chip.running;
  const auto over = [&](const Instruction& wait) {
    return wait.stream == lockstep_.stream() ? chip.queue->over_before(state_.now, wait.pending)
                                             : over_before(chip.number, wait);
  };
  chip.begins.reset();
  for (; running.at != running.end; ++running.at) {
    const Instruction& next = *running.at;
    if (next.kind == Instruction::Kind::kCompute) {
      const Time length = draw_run(chip.number, over);
      if (run_in_lockstep(chip, length)) continue;
      chip.begins = length;
      return false;
    }
    if (next.stream != lockstep_.stream()) return false;
    if (next.kind == Instruction::Kind::kLaunch) return true;
    if (next.kind != Instruction::Kind::kWait) return false;
    if (!chip.queue->over(state_.now, next.pending) && !wait_ahead(chip.number, next, *chip.queue))
      return false;
  }
  return false;
}

// False, and nothing done, where the computation may end after the horizon.
bool LogicalProcessLoop::run_in_lockstep(Lockstep::Chip& chip, Time length) {
  if (chip.own > state_.now) {
    chip.running->since = state_.now;
    tell(chip);
    return run_ahead(chip.number, length);
  }
  return ended_ahead(chip.number, computation_.run(chip.number, {state_.now, length, lp_advance_.horizon()},
                                                   lockstep_.common, chip.progress));
}

// The chip keeps what it has beside it itself from now on.
void LogicalProcessLoop::tell(Lockstep::Chip& chip) {
  const CommonCollectives& common = lockstep_.common;
  const Time now = chip.running->since;
  for (common.go_to(chip.progress, now); chip.progress.first < common.count(); ++chip.progress.first) {
    const CollectiveAhead& each = common[chip.progress.first];
    computation_.expect(chip.number, each, settled(chip.number));
    chip.own = std::max(chip.own, each.last);
  }
}

// It goes on alone from where it has stopped.
void LogicalProcessLoop::fall_out(const Lockstep::Chip& chip) {
  state_.now = chip.running->since;
  if (chip.begins) {
    computation_.begin(chip.number, state_.now, *chip.begins);
    if (!ends_by_horizon(chip.number)) return;
    ++chip.running->at;
  }
  advance(chip.number);
}

// To the next launch that the chip may do with the others of its group, on the first stream on which they
// meet; from anything else it goes on as others do.
void LogicalProcessLoop::walk_alone(std::int32_t c) {
  RunningChip& running = state_.chips[c];
  if (!in_lockstep() || lp_advance_.begun().empty() || lp_advance_.gathering(place_of(c)) > 0)
    return advance(c);
  const Stream stream = lp_advance_.begun().front().stream;
  lockstep_.begin(stream);
  Lockstep::Chip chip{c, &running, &known_of(c, stream), {}, computation_.beside_until(c), {}};
  const bool stands = walk(chip);
  running.since = state_.now;
  if (!stands) return fall_out(chip);
  if (!stand(c, stream)) advance(c);
}

}  // namespace podsim
