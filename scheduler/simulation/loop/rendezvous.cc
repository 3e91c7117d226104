// Members reach a collective, it runs, they go on.
#include <algorithm>
#include <span>

#include "engine/check.h"
#include "scheduler/simulation/loop/simulation.h"

namespace podsim {

// The first operation of the chip's stream has come to its turn.
void Simulation::reach(std::int32_t c, Stream stream) {
  queue_of(c, stream).reached = now_;
  come_to(c, queues_.first(c, chips_[c].program, stream), now_);
}

// The chip has come to an operation. Members need not come in order of time.
void Simulation::come_to(std::int32_t c, const StreamOperation& operation, Time at) {
  const std::int32_t m = queues_.rendezvous(c, operation);
  Rendezvous& rendezvous = all_rendezvous_[m];
  PODSIM_CHECK(rendezvous.reached == 0 || rendezvous.message == operation.message,
               "members issue the same operations in the same order");
  PODSIM_CHECK(at == present_ || !processes_.shared(m), "what is shared is reached in order of time");
  rendezvous.message = operation.message;
  if (rendezvous.reached == 0 || rendezvous.last_reached < at ||
      (rendezvous.last_reached == at && chips_[c].degradation < chips_[rendezvous.last].degradation)) {
    rendezvous.last = c;
    rendezvous.last_reached = at;
  }
  ++rendezvous.reached;
  const std::size_t needed = point_to_point(operation.message) ? 1 : rendezvous.members.size();
  if (static_cast<std::size_t>(rendezvous.reached) + 1 == needed) accounts_.fetch_start(m);
  if (static_cast<std::size_t>(rendezvous.reached) < needed) return;
  accounts_.start(m);
  start(m);
}

void Simulation::complete(std::int32_t m) {
  Rendezvous& rendezvous = all_rendezvous_[m];
  const Ended ended{rendezvous.stream, rendezvous.message, rendezvous.last, rendezvous.started};
  rendezvous.reached = 0;
  end_crossing(m);
  const std::span<const std::int32_t> members = rendezvous.members;
  if (options_.keep_intervals)
    for (const std::int32_t c : members) accounts_.show(c, ended.stream, ended.message, ended.started, now_);
  if (point_to_point(ended.message)) {
    accounts_.sent(members[0], ended.stream, {ended.started, now_});
    ++queue_of(members[1], ended.stream).received;
    leave(members[0], ended);
    resume_receive(members[1], ended);
  } else {
    for (std::int32_t c : members) leave(c, ended);
  }
}

void Simulation::account_wait(std::int32_t c, const Ended& ended, Time reached) {
  if (point_to_point(ended.message)) {
    accounts_.spend(c, Bucket::kBubble, chips_[c].since, now_, "send to a stage");
  } else {
    accounts_.wait(c, system_.pattern_of[ended.message], {chips_[c].since, reached, ended.started, now_},
                   ended.last);
  }
}

// The operation is off the chip's stream, the next one comes to its turn, and a wait for this one is over.
void Simulation::leave(std::int32_t c, const Ended& ended) {
  const Time reached = queue_of(c, ended.stream).reached;
  StreamQueue& queue = queues_.end_first(c, chips_[c].program, ended.stream);
  queue.reached = now_;
  if (queue.unfinished > 0) reach(c, ended.stream);
  const Instruction* waiting = chips_[c].blocked_at(Instruction::Kind::kWait, ended.stream);
  if (!waiting) return;
  if (unfinished(c, ended.stream) > waiting->pending)
    return accounts_.waited_before(c, std::max(chips_[c].since, reached), ended.started);
  account_wait(c, ended, reached);
  go_on(c);
}

void Simulation::resume_receive(std::int32_t c, const Ended& ended) {
  if (!chips_[c].blocked_at(Instruction::Kind::kReceive, ended.stream)) return;
  accounts_.spend(c, Bucket::kBubble, chips_[c].since, now_, "wait for a stage");
  go_on(c);
}

}  // namespace podsim
