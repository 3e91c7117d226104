// What chips do: they issue instructions until they compute, wait, or have ended their step, and meet each
// other in collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/check.h"
#include "scheduler/simulation/loop/system_tables.h"
#include "scheduler/simulation/state/step_state.h"

namespace podsim {

// The rules of a program (3 to 9, 11 and 14 of simulate.h), whichever loop carries them out: `Loop` derives
// from ProgramInterpreter<Loop, ...> and calls what is below when its time has come. It has to have
//
//   void entered(chip, position)         a chip is at another segment of its program
//   void start(rendezvous)               an operation has reached all members, the last of them now
//   void operate(rendezvous)             the event of its slot; complete() when the operation is over
//
// and may put its own in place of what is done here at once and at the present, each of them with the same
// meaning:
//
//   void begin_program(chip), resume(chip)           a chip begins its step, or goes on after a wait
//   bool launch(chip, stream), wait(chip, ...), compute(chip), pause(chip, ...)     an instruction
//   int unfinished(chip, stream)
//
// All calls are resolved at compile time. `ChipComputation` is Computation or derives from it.
template <class Loop, class ChipComputation>
class ProgramInterpreter {
 protected:
  // `added`: slots of the event queue besides those of EventSlots. `more`: what the computation is made of
  // besides the system. REQUIRES: all of them outlive this object.
  template <class... More>
  ProgramInterpreter(SystemTables& tables, const SimulateOptions& options, std::size_t added,
                     const More&... more)
      : state_(tables.system, tables.lists, options, added),
        computation_(tables.system, options, tables.lists, more..., state_.event_queue, state_.accounts) {
    tables.lists.list_operations();
  }

  // The job begins its next step now.
  void begin_step(RunningJob& job);

  // The event of this slot, which is none that the loop has added.
  void happen(std::size_t slot);

  // Issues instructions until the chip computes, waits, or has ended its step.
  void advance(std::int32_t c);

  // What a chip does at an instruction. Each of these is false when the chip has to stay there: for the
  // computation to end, or because it is blocked until something that it waits for is over.
  bool launch(std::int32_t c, Stream stream);
  bool wait(std::int32_t c, const Instruction& instruction) {
    return loop().unfinished(c, instruction.stream) <= instruction.pending || block(c);
  }
  bool compute(std::int32_t c) {
    state_.chips[c].since = state_.now;
    computation_.begin(c, state_.now, draw_run(c));
    return false;
  }
  bool pause(std::int32_t c, Time length) {
    state_.chips[c].since = state_.now;
    computation_.begin_pause(c, state_.now, length);
    return false;
  }
  bool block(std::int32_t c) {
    state_.chips[c].blocked = true;
    state_.chips[c].since = state_.now;
    return false;
  }

  // How long the chip computes until anything else can happen to it. Under jitter it goes on to the last
  // computation of the bucket that follows at once, each with a draw of its own, also over waits of which
  // over_before(wait) is true; without jitter lowering has joined them.
  template <class OverBefore>
  Time draw_run(std::int32_t c, OverBefore&& over_before);
  Time draw_run(std::int32_t c) {
    return draw_run(c, [&](const Instruction& wait) { return over_before(c, wait); });
  }

  // A wait that has been over before this instant, in whatever order events of the instant come.
  bool over_before(std::int32_t c, const Instruction& wait) {
    if (copies(wait.stream) || loop().unfinished(c, wait.stream) > wait.pending) return false;
    return state_.queue_of(c, wait.stream).reached < state_.now;
  }

  // Of what the chip has launched on the stream, or its host is to launch late.
  int unfinished(std::int32_t c, Stream stream) {
    return copies(stream) ? state_.copies.unfinished(c, stream)
                          : state_.queue_of(c, stream).unfinished + state_.delays.late().waiting(c, stream);
  }

  // The chip's computation or pause ends now: books it, and what it has lost to transfers.
  void account_computation(std::int32_t c);

  void begin_program(std::int32_t c) { advance(c); }
  void resume(std::int32_t c) { advance(c); }

  // The chip has come to an operation. Members need not come in order of time.
  void come_to(std::int32_t c, const StreamOperation& operation, Time at);

  // The rendezvous's operation is over: its members go on.
  void complete(std::int32_t m);

  StepState state_;
  ChipComputation computation_;

 private:
  Loop& loop() { return static_cast<Loop&>(*this); }

  // Goes to this position of the program's order, where a pause may come first. False at the end of the
  // program.
  bool enter_segment(std::int32_t c, std::int32_t position);
  // False when the chip has to stay at this instruction.
  bool issue(std::int32_t c, const Instruction& instruction);
  // Events: the host gets to a launch, a computation or pause ends, a copy ends.
  void launch_late(std::int32_t c);
  void computed(std::int32_t c);
  void copied(std::int32_t c, Stream stream);
  // The first operation of the chip's stream has come to its turn.
  void reach(std::int32_t c, Stream stream);
  // An operation has ended: it is off the member's stream, the next one comes to its turn, and a wait may be
  // over; the destination of a transfer can receive it.
  void leave(std::int32_t c, const Ended& ended);
  void account_wait(std::int32_t c, const Ended& ended, Time reached);
  void resume_receive(std::int32_t c, std::int32_t source, const Ended& ended);
  // The chip is blocked no longer.
  void go_on(std::int32_t c) {
    state_.chips[c].blocked = false;
    loop().resume(c);
  }
};

// ---- Programs

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::begin_step(RunningJob& job) {
  const int step = static_cast<int>(job.begins.size());
  const int number = state_.program_of(state_.chips[job.chips.front()]).job;
  job.begin_step(state_.now, state_.delays.input_stalls(number, step));
  job.running = static_cast<int>(job.chips.size());
  state_.delays.begin_step(number, step);
  for (const std::int32_t c : job.chips) state_.chips[c].begin_step(state_.now);
  for (const std::int32_t c : job.chips) {
    state_.queues.begin_step(c, state_.chips[c].program);
    if (state_.delays.any()) state_.delays.begin_chip(c, step);
    enter_segment(c, 0);
    loop().begin_program(c);
  }
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::happen(std::size_t slot) {
  const EventSlots& slots = state_.slots;
  ++state_.events;
  if (slots.is_chip(slot)) {
    computed(static_cast<std::int32_t>(slot));
  } else if (slots.is_rendezvous(slot)) {
    loop().operate(slots.rendezvous(slot));
  } else if (slots.is_copy(slot)) {
    const HostCopies::Copy copy = state_.copies.of_slot(slot);
    copied(copy.chip, copy.stream);
  } else {
    launch_late(static_cast<std::int32_t>(slot - slots.first_late));
  }
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::advance(std::int32_t c) {
  RunningChip& chip = state_.chips[c];
  for (;;) {
    while (chip.at == chip.end) {
      if (enter_segment(c, chip.position + 1)) continue;
      chip.ended = true;
      chip.since = state_.now;
      --state_.job_of(chip).running;
      return;
    }
    if (!issue(c, *chip.at)) return;
    ++chip.at;
  }
}

template <class Loop, class ChipComputation>
bool ProgramInterpreter<Loop, ChipComputation>::enter_segment(std::int32_t c, std::int32_t position) {
  RunningChip& chip = state_.chips[c];
  const StageProgram& program = state_.program_of(chip);
  StepDelays& delays = state_.delays;
  chip.position = position;
  if (static_cast<std::size_t>(position) == program.order.size()) return false;
  state_.accounts.enter_segment(c, position);
  if (delays.enter_pause(c, chip)) return true;
  if (delays.any()) computation_.vary(c, delays.factor(c, position));
  chip.enter_segment(program.segments[program.order[position]]);
  loop().entered(c, position);
  return true;
}

template <class Loop, class ChipComputation>
bool ProgramInterpreter<Loop, ChipComputation>::issue(std::int32_t c, const Instruction& instruction) {
  RunningChip& chip = state_.chips[c];
  const Time now = state_.now;
  switch (instruction.kind) {
    case Instruction::Kind::kCompute:
      return loop().compute(c);
    case Instruction::Kind::kInput: {
      const Time batch = state_.job_of(chip).next_batch;
      return batch <= now || loop().pause(c, batch - now);
    }
    case Instruction::Kind::kHost:
      chip.host += instruction.duration;
      if (const Time full = now - state_.program_of(chip).host_lead; chip.host < full) {
        chip.host = full;
        chip.met = now;
      }
      if (chip.host <= now) return true;
      chip.met = now;
      return loop().pause(c, chip.host - now);
    case Instruction::Kind::kPause:
      return loop().pause(c, instruction.duration);
    case Instruction::Kind::kSynchronise:
      chip.host = chip.met = now;
      return true;
    case Instruction::Kind::kLaunch:
      return loop().launch(c, instruction.stream);
    case Instruction::Kind::kCopy:
      state_.copies.launch(c, instruction.stream, now, instruction.duration);
      return true;
    case Instruction::Kind::kWait:
      return loop().wait(c, instruction);
    case Instruction::Kind::kReceive:
      if (state_.queue_of(c, instruction.stream).received == 0) return block(c);
      --state_.queue_of(c, instruction.stream).received;
      chip.host = chip.met = now;
      return true;
  }
  return true;
}

template <class Loop, class ChipComputation>
template <class OverBefore>
Time ProgramInterpreter<Loop, ChipComputation>::draw_run(std::int32_t c, OverBefore&& over_before) {
  RunningChip& chip = state_.chips[c];
  const Instruction* at = chip.at;
  Time run = computation_.draw_length(c, at->duration);
  if (!computation_.draws()) return run;
  for (const Instruction* next = at + 1; next != chip.end; ++next) {
    if (next->kind == Instruction::Kind::kCompute && next->bucket == at->bucket) {
      run = computation_.joined(c, run, computation_.draw_length(c, next->duration));
      at = next;
    } else if (next->kind != Instruction::Kind::kWait || !over_before(*next)) {
      break;
    }
  }
  chip.at = at;
  return run;
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::computed(std::int32_t c) {
  account_computation(c);
  ++state_.chips[c].at;
  advance(c);
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::account_computation(std::int32_t c) {
  const RunningChip& chip = state_.chips[c];
  const Instruction& instruction = *chip.at;
  const Time lost = computation_.end(c, state_.now);
  if (const char* const what = waits_by_itself(instruction.kind)) {
    state_.accounts.spend(c, instruction.bucket, chip.since, state_.now, what);
  } else {
    state_.accounts.compute(c, instruction.bucket, chip.since, state_.now, lost);
  }
}

// The host gets to a launch. What the chip has waited for nothing else is a pause, unless what it launched
// before ends at this very instant, in whatever order the two come.
template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::launch_late(std::int32_t c) {
  state_.delays.late().launch(c);
  RunningChip& chip = state_.chips[c];
  StreamQueue& queue = state_.queue_of(c, Stream::kGradient);
  const bool idle = queue.unfinished == 0 && queue.reached < state_.now;
  if (chip.blocked_at(Instruction::Kind::kWait, Stream::kGradient) && idle) {
    state_.accounts.spend(c, Bucket::kPause, chip.since, state_.now, "wait for a late launch");
    chip.since = state_.now;
  }
  if (++queue.unfinished == 1) reach(c, Stream::kGradient);
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::copied(std::int32_t c, Stream stream) {
  state_.accounts.show(c, stream, -1, state_.copies.end(c, stream, state_.now), state_.now);
  const Instruction* waiting = state_.chips[c].blocked_at(Instruction::Kind::kWait, stream);
  if (!waiting || loop().unfinished(c, stream) > waiting->pending) return;
  state_.accounts.spend(c, Bucket::kOffload, state_.chips[c].since, state_.now, "wait for a copy");
  go_on(c);
}

// ---- Rendezvous

template <class Loop, class ChipComputation>
bool ProgramInterpreter<Loop, ChipComputation>::launch(std::int32_t c, Stream stream) {
  if (state_.delays.late().hold(c, stream, state_.now)) return true;
  if (++state_.queue_of(c, stream).unfinished == 1) reach(c, stream);
  return true;
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::reach(std::int32_t c, Stream stream) {
  state_.queue_of(c, stream).reached = state_.now;
  come_to(c, state_.queues.first(c, state_.chips[c].program, stream), state_.now);
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::come_to(std::int32_t c, const StreamOperation& operation,
                                                        Time at) {
  const std::int32_t m = state_.queues.rendezvous(c, operation);
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  PODSIM_CHECK(rendezvous.reached == 0 || rendezvous.message == operation.message,
               "members issue the same operations in the same order");
  rendezvous.message = operation.message;
  const std::vector<RunningChip>& chips = state_.chips;
  if (rendezvous.reached == 0 || rendezvous.last_reached < at ||
      (rendezvous.last_reached == at && chips[c].degradation < chips[rendezvous.last].degradation)) {
    rendezvous.last = c;
    rendezvous.last_reached = at;
  }
  ++rendezvous.reached;
  const std::size_t needed = state_.point_to_point(operation.message) ? 1 : rendezvous.members.size();
  if (static_cast<std::size_t>(rendezvous.reached) + 1 == needed) state_.accounts.fetch_start(m);
  if (static_cast<std::size_t>(rendezvous.reached) < needed) return;
  state_.accounts.start(m);
  loop().start(m);
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::complete(std::int32_t m) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  const Ended ended{rendezvous.stream, rendezvous.message, rendezvous.last, rendezvous.started};
  rendezvous.reached = 0;
  const std::span<const std::int32_t> members = rendezvous.members;
  if (state_.options.keep_intervals)
    for (const std::int32_t c : members)
      state_.accounts.show(c, ended.stream, ended.message, ended.started, state_.now);
  if (state_.point_to_point(ended.message)) {
    state_.accounts.sent(members[0], ended.stream, {ended.started, state_.now});
    ++state_.queue_of(members[1], ended.stream).received;
    leave(members[0], ended);
    resume_receive(members[1], members[0], ended);
  } else {
    for (const std::int32_t c : members) leave(c, ended);
  }
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::leave(std::int32_t c, const Ended& ended) {
  const RunningChip& chip = state_.chips[c];
  const Time reached = state_.queue_of(c, ended.stream).reached;
  StreamQueue& queue = state_.queues.end_first(c, chip.program, ended.stream);
  queue.reached = state_.now;
  if (queue.unfinished > 0) reach(c, ended.stream);
  const Instruction* waiting = chip.blocked_at(Instruction::Kind::kWait, ended.stream);
  if (!waiting) return;
  if (loop().unfinished(c, ended.stream) > waiting->pending)
    return state_.accounts.waited_before(c, std::max(chip.since, reached), ended.started);
  account_wait(c, ended, reached);
  go_on(c);
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::account_wait(std::int32_t c, const Ended& ended,
                                                             Time reached) {
  const Time since = state_.chips[c].since, now = state_.now;
  if (state_.point_to_point(ended.message)) {
    state_.accounts.spend(c, Bucket::kBubble, since, now, "send to a stage");
  } else {
    state_.accounts.wait(c, state_.system.pattern_of[ended.message], {since, reached, ended.started, now},
                         ended.last);
  }
}

template <class Loop, class ChipComputation>
void ProgramInterpreter<Loop, ChipComputation>::resume_receive(std::int32_t c, std::int32_t source,
                                                               const Ended& ended) {
  if (!state_.chips[c].blocked_at(Instruction::Kind::kReceive, ended.stream)) return;
  state_.accounts.spend(c, Bucket::kBubble, state_.chips[c].since, state_.now, "wait for a stage", source);
  go_on(c);
}

}  // namespace podsim
