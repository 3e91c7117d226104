// The loop that takes logical processes on one by one: the same step, with less to load.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/check.h"
#include "scheduler/simulation/logical_processes/lockstep.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/logical_processes/lookahead.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/logical_processes/lp_computation.h"
#include "scheduler/simulation/logical_processes/lp_mailboxes.h"
#include "scheduler/simulation/logical_processes/lp_prefetch.h"
#include "scheduler/simulation/loop/operations.h"
#include "scheduler/simulation/loop/program_interpreter.h"

namespace podsim {

// Carries out steps of one job in which nothing repeats, and speeds stay, as OrderedLoop does. Shared
// operations are in order of time; a logical process follows behind, event by event or, where it can, chip by
// chip through their programs (in_program_order.cc), and its chips all together where they can
// (in_lockstep.cc).
class LogicalProcessLoop : public ProgramInterpreter<LogicalProcessLoop, LpComputation> {
 public:
  // REQUIRES: both outlive this object, and serve no other loop meanwhile; processes.any(), and
  // options.may_use_processes of that system.
  LogicalProcessLoop(SystemTables& tables, const SimulateOptions& options, LogicalProcesses processes);

  // As simulate(). REQUIRES: called once.
  std::vector<Timeline> run();

 private:
  using Interpreter = ProgramInterpreter<LogicalProcessLoop, LpComputation>;
  friend Interpreter;

  // What the interpreter asks of a loop. While programs are followed, a chip is at a time of its own, which
  // state_.now is then, and goes on over what is known to come; otherwise it is among events.
  void entered(std::int32_t, std::int32_t) {}
  void start(std::int32_t m);
  void operate(std::int32_t m);
  // At once where the chip's logical process is at the present, and else by a message to it.
  void begin_program(std::int32_t c);
  void resume(std::int32_t c);
  bool launch(std::int32_t c, Stream stream);
  bool wait(std::int32_t c, const Instruction& instruction);
  bool compute(std::int32_t c);
  bool pause(std::int32_t c, Time length);
  int unfinished(std::int32_t c, Stream stream);

  // ---- logical_process_loop.cc: all that is shared, in order of time.

  // The event of the slot: a logical process is due, or something shared happens.
  void handle(std::size_t slot);
  // A step is over, and every logical process has seen all of it.
  bool over();
  // False once all steps are done.
  bool begin_next_step();
  void begin_step();

  // ---- conservative_sync.cc: logical processes one by one.

  // From now on the event queue says of each logical process by itself what is next.
  void set_processes_apart();
  // The logical process goes through all that happens to it up to the present.
  void take_to_present(std::int32_t process);
  // The same by its events and messages in order of time; false if there are more than `most_events`.
  bool take_in_order_of_time(std::int32_t process, std::int64_t most_events);
  // What a message says happens now.
  void heed(const LpMailboxes::LpMessage& message);
  // O(logical processes), and what there is to do for each.
  void take_all_to_present();
  // When it has to be taken on again, at the latest. REQUIRES: it is at the present.
  Time next_output(std::int32_t process);
  // When the chip may next concern others, if nothing that is yet unknown comes between.
  EarliestOutput earliest_output_of(std::int32_t c);
  // An operation of the chip's own logical process may start beside what it computes.
  bool more_may_start(std::int32_t c);
  // The same as next_output, of a chip that goes on now and of those that wait for it.
  Time output_after_wait(std::int32_t c);
  // How long the chip computes after what it is at, at least, before it concerns others.
  Time least_work(std::int32_t c);
  // An operation shares its links, so that rates are solved for in order of time. O(its rendezvous).
  bool may_share_links(std::int32_t process) const;
  // Whether the slot's event is the start of an operation that crosses logical processes; it starts then.
  bool starts(std::size_t slot);
  // What has drained leaves its links now.
  void drain();

  // ---- in_program_order.cc: the chips of a logical process one by one.

  // Nothing happens to chips between two instructions, so programs can be followed.
  bool follow_programs() const;
  // What is launched on the stream is known ahead just now.
  bool taken_ahead(Stream stream) const {
    return lp_advance_.under_way() && !copies(stream) && processes_.inner(stream);
  }
  // To the present, as take_in_order_of_time. REQUIRES: !may_share_links(process).
  void take_in_program_order(std::int32_t process);
  void begin_queues(std::int32_t c);
  // Reads messages ahead, up to the first that has to be heeded at its time.
  void take_messages(std::int32_t process);
  // As far as nothing from outside comes between: all chips up to LpAdvance::horizon().
  void go_to_horizon();
  void go_on_if_known(std::int32_t c);
  // The chip stops before a launch, in case the others come to it too.
  bool stand(std::int32_t c, Stream stream);
  // Each of these is false when there is nobody to go on so.
  bool go_on_from_launches();
  bool go_on_with_earliest();
  // The chip does not begin to compute before it is known what runs beside it.
  bool hold(std::int32_t c);
  // Goes through a computation at once; false, and nothing done, where it may end after the horizon.
  bool run_ahead(std::int32_t c, Time length);
  // What the chip computes ends then. False where that is not known.
  bool ended_ahead(std::int32_t c, Time end) {
    if (end == Time::max()) return false;
    PODSIM_CHECK(end <= lp_advance_.horizon(), "what lies ahead of the horizon is not known");
    ++state_.events;
    state_.accounts.compute(c, state_.chips[c].at->bucket, state_.now, end, computation_.lost(c));
    state_.now = end;
    return true;
  }
  // Ends what the chip computes where that is surely known, and says whether it is.
  bool ends_by_horizon(std::int32_t c);
  void end_computation(std::int32_t c, Time end);
  void launch_ahead(std::int32_t c, Stream stream);
  // The chip comes to the first operation of the queue of which it is not known when it starts.
  void reach_ahead(std::int32_t c, LpAdvance::KnownEndings& queue, Time at);
  // All members have come: it is known when the operation starts, and maybe when it ends.
  void start_ahead(std::int32_t m);
  void conclude(std::int32_t m, Time started, Time ended);
  // False where the end of the wait is not known.
  bool wait_ahead(std::int32_t c, const Instruction& wait, LpAdvance::KnownEndings& queue);

  // ---- in_lockstep.cc: the chips of a logical process all together.

  // Chips may stand and go together: each operation of the logical process is one of all of them.
  bool in_lockstep() const { return lp_advance_.all_meet() && state_.options.lockstep; }
  // From a launch at which all of them stand; false, and nothing done, where they do not.
  bool go_in_lockstep();
  bool line_up();
  // What they launch starts with the last of them; false where it ends after the horizon.
  bool launch_together();
  bool start_together();
  // Each as far as its next launch; false unless all of them get there.
  bool walk_all();
  bool walk(Lockstep::Chip& chip);
  bool run_in_lockstep(Lockstep::Chip& chip, Time length);
  // The chip keeps what runs beside it by itself from now on, and goes on alone.
  void tell(Lockstep::Chip& chip);
  void fall_out(const Lockstep::Chip& chip);
  // One chip to a launch at which it can stand.
  void walk_alone(std::int32_t c);

  std::int32_t place_of(std::int32_t c) const { return processes_.place[c]; }
  LpAdvance::KnownEndings& known_of(std::int32_t c, Stream stream) {
    return lp_advance_.queue(static_cast<std::size_t>(place_of(c)), stream);
  }
  // Up to when all is known that concerns the chip.
  Time settled(std::int32_t c) const { return std::max(state_.chips[c].since, lp_advance_.from()); }

  const LogicalProcesses processes_;
  const Lookahead lookahead_;
  LpMailboxes mailboxes_;
  Operations<LpMailboxes> operations_;
  Time present_;  // of all that is shared; a logical process is taken on from behind it
  std::vector<EarliestOutput> earliest_output_;  // [chip], found when it last went on
  LpPrefetch prefetch_;

  std::vector<std::int32_t> crossings_;  // [logical process] operations under way that cross it
  int to_start_ = 0;                     // that cross logical processes: their start is an event to come
  const bool ahead_;                     // logical processes may be taken on chip by chip
  LpAdvance lp_advance_;
  Lockstep lockstep_;
  std::vector<Time> taken_to_;  // [logical process]
  Places gone_on_;              // of the logical process that is taken on
  // [logical process] How long chips that wait for others of it compute at least before they concern others.
  std::vector<Time> after_event_;
  std::vector<Time> rounded_;  // [logical process] the least EarliestOutput::time that has room for rounding
};

}  // namespace podsim
