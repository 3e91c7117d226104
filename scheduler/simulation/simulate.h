// The simulation of a step. Its rules, by the numbers under which the definition (reference.h) carries
// them out:
//
//  1 Time is a whole number of picoseconds; what is computed is rounded to the nearest. At an instant
//    speeds change first, then what has drained leaves its links, then all else happens in any order;
//    last, steps end and begin.
//  2 Jobs begin together at 0. A job's step ends with its last chip, and the next one begins. All is over
//    once every job has done `steps` of them; of each job all that have ended by then count. A job that no
//    other can slow down, since none sends on a link that may limit what it sends, ends after `steps`.
//  3 A chip does the instructions of its program in order. What it need not wait for takes no time. Its
//    host launches beside it from the begin of the step, a synchronisation or a receive on, and at most
//    its lead before the chip; the chip pauses until it is done. Workers that collect garbage pause before
//    one position of the order.
//  4 A host loads batches one after another, that of a step not before the step `ahead` steps earlier
//    begins, and stalls by chance. A chip that asks for input pauses until all hosts have the next batch.
//  5 A computation takes duration x (1 + skew) / speed x factors of step and microbatch x a draw of its
//    own under jitter. Then those of one bucket that follow each other in a segment are one, also over
//    waits that are over when it begins, on streams of the network that have not moved at that instant.
//  6 A chip computes 1 + interference times as slowly while a transfer of its drains, and by its speed
//    profile. When its transfers begin or end or its speed changes, what is left is settled: less what
//    was done, at full speed and rounded. The end is foreseen at the begin, and anew when the pace after
//    an instant is not that before; what happens at the end itself changes nothing. Pauses take their
//    time whatever runs beside them.
//  7 An operation is put at the end of its stream; the first is in its turn. A wait is over when no more
//    than `pending` have not ended.
//  8 A late host launches on the gradient stream so much later; until then those operations have not
//    ended.
//  9 An operation in its turn reaches the group of its chip, and starts when it has reached all members,
//    a transfer between stages when it has reached its source. Of those that it reached last the slowest
//    is to blame.
// 10 It takes the launch time and then, phase after phase, its transfer, latency and ramp. What drains
//    shares links by max-min fairness; profiles change what links carry.
// 11 It ends on all members, a transfer on its source; the destination can receive it once, in the same
//    step.
// 12 Copies to the host run one after another, and so do those from it, each after all copies to the host
//    that were launched before.
// 13 A computation is booked in its bucket, less what it lost to transfers: exposed communication of the
//    first pattern that drained, or bubble between stages. Of what is left skew / (1 + skew) is kSkew.
// 14 A wait for a collective is exposed communication before its turn and after its start, and between
//    them a wait for peers that the last member caused. Waits for transfers are bubble, for copies
//    kOffload, for nothing but a late launch kPause where the stream has been idle before the instant of
//    the launch, for the end of the step kPeerWait; pauses are of the bucket of their instruction.
// 15 An operation counts in the step of its job in which it starts, with its bytes on all links. Of each
//    flap the longest time that a transfer stood still is noted when the link comes up.
#pragma once

#include <memory>
#include <vector>

#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

class PathPrograms;
struct SystemTables;

// A system that is simulated more than once: what does not change from one time to the next is worked out
// once. Not for several threads at once.
class Simulator {
 public:
  // REQUIRES: `system` outlives this object, and stays as it is.
  explicit Simulator(const System& system);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // As simulate(). After it has thrown another may be run.
  std::vector<Timeline> run(const SimulateOptions& options);

 private:
  std::vector<Timeline> run_loop(const SimulateOptions& options);

  const System& system_;
  // Once they are needed.
  std::unique_ptr<SystemTables> tables_;
  std::unique_ptr<PathPrograms> programs_;
  bool ends_with_launches_ = false;  // found when the longest path was followed
};

// Follows the rules at the top of this file.
// Returns [job]. ENSURES: every picosecond of every chip between step begin and step end is in exactly one
// bucket of its job's timeline; no step is longer than kLongestStep, and none ends after kLongestRun
// (engine/time_limits.h). Throws StepTooLong where one would, and EventBudgetSpent. A step that cannot go on
// (members that wait for each other for ever) is a CHECK failure: lowering never makes one.
// REQUIRES: a step without chance, at the speeds that last, takes no longer than kLongestStep where nothing
// in it runs beside anything (refuse_endless, prediction/step_length.h).
std::vector<Timeline> simulate(const System& system, const SimulateOptions& options);

}  // namespace podsim
