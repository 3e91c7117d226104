// A chip issues instructions until it computes, waits, or has ended its step.
#include <algorithm>

#include "scheduler/simulation/loop/simulation.h"

namespace podsim {

// False at the end of the program.
bool Simulation::enter_segment(std::int32_t c, std::int32_t position) {
  RunningChip& chip = chips_[c];
  const StageProgram& program = program_of(chip);
  chip.position = position;
  if (static_cast<std::size_t>(position) == program.order.size()) return false;
  accounts_.enter_segment(c, position);
  if (delays_.enter_pause(c, chip)) return true;
  if (delays_.any()) computation_.vary(c, delays_.factor(c, position));
  chip.enter_segment(program.segments[program.order[position]]);
  fast_forward_.enter_segment(c, position);
  return true;
}

// Issues instructions until the chip computes, waits, or has ended its step.
void Simulation::advance(std::int32_t c) {
  RunningChip& chip = chips_[c];
  for (;;) {
    while (chip.at == chip.end) {
      if (enter_segment(c, chip.position + 1)) continue;
      chip.ended = true;
      chip.since = now_;
      --job_of(chip).running;
      return;
    }
    if (!issue(c, *chip.at)) return;
    ++chip.at;
  }
}

// False when the chip has to stay at this instruction.
bool Simulation::issue(std::int32_t c, const Instruction& instruction) {
  RunningChip& chip = chips_[c];
  switch (instruction.kind) {
    case Instruction::Kind::kCompute:
      return compute(c);
    case Instruction::Kind::kInput:
      return job_of(chip).next_batch <= now_ || pause(c, job_of(chip).next_batch - now_);
    case Instruction::Kind::kHost:
      chip.host += instruction.duration;
      if (chip.host <= now_) return true;
      chip.met = now_;
      return pause(c, chip.host - now_);
    case Instruction::Kind::kPause:
      return pause(c, instruction.duration);
    case Instruction::Kind::kSynchronise:
      chip.host = chip.met = now_;
      return true;
    case Instruction::Kind::kLaunch:
      if (taken_ahead(instruction.stream) && stand(c, instruction.stream)) return false;
      if (!delays_.late().hold(c, instruction.stream, now_)) launch(c, instruction.stream);
      return true;
    case Instruction::Kind::kCopy:
      copies_.launch(c, instruction.stream, now_, instruction.duration);
      return true;
    case Instruction::Kind::kWait:
      return wait(c, instruction);
    case Instruction::Kind::kReceive:
      if (queue_of(c, instruction.stream).received == 0) return block(c);
      --queue_of(c, instruction.stream).received;
      chip.host = chip.met = now_;
      return true;
  }
  return true;
}

bool Simulation::block(std::int32_t c) {
  chips_[c].blocked = true;
  chips_[c].since = now_;
  return false;
}

bool Simulation::wait(std::int32_t c, const Instruction& instruction) {
  if (taken_ahead(instruction.stream)) return wait_ahead(c, instruction, known_of(c, instruction.stream));
  return unfinished(c, instruction.stream) <= instruction.pending || block(c);
}

bool Simulation::compute(std::int32_t c) {
  chips_[c].since = now_;
  if (lp_advance_.under_way() && hold(c)) return false;
  const Time length = draw_run(c);
  if (lp_advance_.under_way() && run_ahead(c, length)) return true;
  computation_.begin(c, now_, length);
  return lp_advance_.under_way() && ends_by_horizon(c);
}

Time Simulation::draw_run(std::int32_t c) {
  return draw_run(c, [&](const Instruction& wait) { return over_before(c, wait); });
}

// A wait that has been over before this instant, in whatever order events of the instant come.
bool Simulation::over_before(std::int32_t c, const Instruction& wait) {
  if (copies(wait.stream) || unfinished(c, wait.stream) > wait.pending) return false;
  return queue_of(c, wait.stream).reached < now_;
}

bool Simulation::pause(std::int32_t c, Time length) {
  chips_[c].since = now_;
  computation_.begin_pause(c, now_, length);
  return lp_advance_.under_way() && ends_by_horizon(c);
}

int Simulation::unfinished(std::int32_t c, Stream stream) {
  if (taken_ahead(stream)) known_of(c, stream).leave_until(now_);
  return copies(stream) ? copies_.unfinished(c, stream)
                        : queue_of(c, stream).unfinished + delays_.late().waiting(c, stream);
}

void Simulation::launch(std::int32_t c, Stream stream) {
  if (taken_ahead(stream)) return launch_ahead(c, stream);
  if (++queue_of(c, stream).unfinished == 1) reach(c, stream);
}

// The host gets to a launch. What the chip has waited for nothing else is a pause.
void Simulation::launch_late(std::int32_t c) {
  delays_.late().launch(c);
  RunningChip& chip = chips_[c];
  if (chip.blocked_at(Instruction::Kind::kWait, Stream::kGradient) &&
      queue_of(c, Stream::kGradient).unfinished == 0) {
    accounts_.spend(c, Bucket::kPause, chip.since, now_, "wait for a late launch");
    chip.since = now_;
  }
  launch(c, Stream::kGradient);
}

void Simulation::computed(std::int32_t c) {
  account_computation(c);
  ++chips_[c].at;
  advance(c);
}

void Simulation::account_computation(std::int32_t c) {
  const RunningChip& chip = chips_[c];
  const Instruction& instruction = *chip.at;
  const Time lost = computation_.end(c, now_);
  if (instruction.kind == Instruction::Kind::kHost || instruction.kind == Instruction::Kind::kPause) {
    accounts_.spend(c, instruction.bucket, chip.since, now_, "wait for the host");
  } else {
    accounts_.compute(c, instruction.bucket, chip.since, now_, lost);
  }
}

void Simulation::copied(std::int32_t c, Stream stream) {
  accounts_.show(c, stream, -1, copies_.end(c, stream, now_), now_);
  const Instruction* waiting = chips_[c].blocked_at(Instruction::Kind::kWait, stream);
  if (!waiting || unfinished(c, stream) > waiting->pending) return;
  accounts_.spend(c, Bucket::kOffload, chips_[c].since, now_, "wait for a copy");
  go_on(c);
}

void Simulation::go_on(std::int32_t c) {
  chips_[c].blocked = false;
  if (mailboxes_.at_present(c)) return advance(c);
  mailboxes_.go_on(c, now_, output_after_wait(c));
}

}  // namespace podsim
