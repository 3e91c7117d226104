// A step as the longest path through its computations and operations, event by event only where they share
// links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "engine/event_heap.h"
#include "scheduler/simulation/fast_forward/fast_forward.h"
#include "scheduler/simulation/longest_path/path_programs.h"
#include "scheduler/simulation/longest_path/path_state.h"
#include "scheduler/simulation/loop/operations.h"
#include "scheduler/simulation/loop/system_tables.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/step_state.h"

namespace podsim {

// Rule. An operation whose links no other one can load before it ends takes a time that is known, so it is
// over a known time after the last of its members has come: whoever waits for it goes on from there, with no
// event. The others are carried out by Operations, in order of time. So are the ends of spans (solo_spans.h),
// since what drains beside one makes it longer, and may still begin until it ends. At each of them a chip
// goes on ahead of the present, to its next span or to what nobody has caused yet. A chip whose tensor group
// is several classes may go through a span together with these, its peers.
//
// O(spans log chips), and what the solver takes where links are shared.
class LongestPathLoop {
 public:
  // Whether it knows all that the system and the options ask for: one step of one job, nothing drawn, no
  // speed that changes with time, and no copies to hosts.
  static bool knows(SystemTables& tables, const SimulateOptions& options);

  // REQUIRES: knows(); all of them outlive this object, and serve no other loop meanwhile.
  LongestPathLoop(SystemTables& tables, PathPrograms& programs, const SimulateOptions& options);

  // As simulate(), or nothing where operations begin at the very end of the step. REQUIRES: called once.
  std::optional<std::vector<Timeline>> run();

  // How many operations were known ahead; of them those that had links of their own for as long as they took.
  std::int64_t operations_known_ahead() const { return started_ahead_; }
  std::int64_t operations_undisturbed() const { return undisturbed_; }
  // How many spans were on links that transfers between stages load, and of these cut off before one.
  std::int64_t spans_between_transfers() const { return between_transfers_; }
  std::int64_t spans_cut_off() const { return cut_off_; }
  // How many spans peers went through together, all alike, and not alike; how often some parted.
  struct Together {
    std::int64_t alike = 0, unlike = 0, parted = 0;
  };
  const Together& together() const { return together_; }

 private:
  using Status = PathChip::Status;
  static constexpr std::size_t kSegmentsAhead = 4;
  friend class Operations<LongestPathLoop>;

  static bool knows(SystemTables& tables);  // all that the system asks for

  const StageProgram& program_of(std::int32_t chip) const {
    return system_.step.stages[system_.chips[chip].program];
  }
  bool records() const { return state_.options.keep_passes != 0; }
  bool point_to_point(std::int32_t message) const {
    return system_.step.messages[message].scope.point_to_point();
  }

  void list_peers();
  void begin_step();
  // Over as many periods as the step repeats from here; false if there is none.
  bool jump();
  void happen(std::size_t slot);
  bool enter_segment(std::int32_t chip, std::int32_t position);
  // From instruction to instruction, until the chip computes, waits for what is not known, or has ended.
  void advance(std::int32_t chip);
  // False when the chip stays at the instruction.
  bool issue(PathChip& chip, std::int32_t number, const PathInstruction& step);
  bool begin_span(std::int32_t chip, const PathInstruction& step);
  // As much of the span as has waited for its collectives before a transfer between stages may come to their
  // links; null where that is nothing.
  SoloSpan* before_guests(std::int32_t chip, SoloSpan& span);
  void compute(std::int32_t chip);
  void start_span(std::int32_t chip, SoloSpan& span);
  void foresee(std::int32_t chip);
  void end_span(std::int32_t chip);
  // For passes, what the chip has done in the span: from then on after its begin, but for as long as it stood
  // still for its peers.
  void record_span(std::int32_t chip, Time length, Time first_own, Time stood);
  // What the span has come to; the chip is behind it.
  void leave_span(std::int32_t chip, const SpanCourse& course);

  // In peer_spans.cc: what chips do together with their peers.
  // False where the chip goes on by itself.
  bool begin_with_peers(std::int32_t chip, const PathInstruction& step);
  // Whether the peer may still come to the span to which the chip has come.
  bool may_come(const PathChip& chip, std::int32_t peer, const SoloSpan& span) const;
  // Whether the streams of the span are idle, and the host is in time.
  bool may_begin(PathChip& chip, const SoloSpan& span);
  // Who has gathered goes on by itself.
  void part(PeerSpan& peers);
  // Where the chip launches by itself what its peers have to come to.
  void part_before(PathChip& chip, std::int32_t rendezvous);
  void start_together(PeerSpan& peers);
  void foresee_later(PeerSpan& peers);
  void foresee_together(PeerSpan& peers);
  bool alike(const PeerSpan& peers) const;
  void rehearse_together(PeerSpan& peers);
  void start_in_turn(const LegStep& step, std::span<Rehearsal> all, const PeerSpan& peers);
  void foresee_together_anew(std::int32_t chip, Time from);
  void end_together(std::int32_t chip);
  void end_apart(std::int32_t chip);
  void launch(PathChip& chip, std::int32_t number, const PathInstruction& step);
  bool wait(PathChip& chip, std::int32_t number, const PathInstruction& step);
  bool receive(PathChip& chip, std::int32_t number, Stream stream);
  void launch_by_host(std::int32_t chip, const PathInstruction& step);
  void wait_for_input(std::int32_t chip, Bucket bucket);
  void pause(std::int32_t chip, Bucket bucket, Time length);

  // The operation comes to its turn on the chip then; all members have come; it is over.
  void reach(std::int32_t chip, PathOperation& operation, Time at);
  void start(std::int32_t rendezvous);
  void start_now(std::int32_t rendezvous, std::int32_t run);
  void start_ahead(std::int32_t rendezvous, const PathRun& run);
  bool send(PathChip& chip, std::int32_t number, const PathInstruction& step);
  const PathRun* run_of(PathStream& stream, std::int32_t chip, const PathInstruction& step);
  bool undisturbed(const PathRun& run, Time end);
  // How long the chip launches nothing on the stream, as far as it has to be known; 0 where what it has
  // launched is not known to end. Looks at the present segment and kSegmentsAhead more.
  PathStream::Quiet find_quiet(std::int32_t chip, Stream stream, Time until);
  const PathStream::Quiet& quiet(std::int32_t chip, Stream stream, Time until) {
    PathStream::Quiet& known = chips_[chip].streams[static_cast<std::size_t>(stream)].quiet;
    if (known.until <= until) known = find_quiet(chip, stream, until);
    return known;
  }
  void note_start(std::int32_t rendezvous, Time begin, Time end);
  void operate(std::int32_t rendezvous);
  void complete(std::int32_t rendezvous, Time end);
  void leave(std::int32_t chip, const Ended& ended, Time end);
  void arrive(std::int32_t chip, Stream stream, Time at);
  // For the operation at this place of the stream.
  void end_wait(std::int32_t chip, const PathStream& stream, std::size_t awaited);
  void set_event(std::int32_t rendezvous, Time time) {
    events_.set(state_.slots.of_rendezvous(rendezvous), time);
  }
  // What Operations tells of transfers beside what a chip computes.
  void start_known(std::int32_t chip, const KnownCollective& known, Time now);
  void add_known(std::int32_t chip, const DrainBeside& drain);
  void forget_known(std::int32_t chip, std::int32_t rendezvous, bool draining, Time now);
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);
  void foresee_anew(std::int32_t chip, Time from);
  void resume_later(std::int32_t chip) {
    chips_[chip].status = Status::kReady;
    resumed_.push_back(chip);
  }

  bool over();
  Time step_end() const;
  std::optional<std::vector<Timeline>> finish();
  template <class Visitor>
  void visit(Visitor& state);

  SystemTables& tables_;
  PathPrograms& programs_;
  StepState state_;  // without its chips and queues
  const System& system_;
  Operations<LongestPathLoop> operations_;
  FastForward fast_forward_;
  EventHeap events_;  // of slots of state_, which has none itself
  std::vector<PathChip> chips_;
  std::deque<PeerSpan> peer_spans_;
  std::int64_t gathering_ = 0;             // chips
  std::vector<RehearsalBuffers> buffers_;  // [peer]
  std::vector<DrainBeside> relative_;      // scratch
  struct Ahead {                           // of a rendezvous
    bool waiting = false;                  // its event is the start of its operation
    Time end;                              // of the last one that was known ahead
  };
  std::vector<Ahead> ahead_;           // [rendezvous]
  std::vector<std::int32_t> resumed_;  // chips that are to go on
  Time last_start_;                    // of what is known ahead
  Time relied_on_;                     // until then, segments that chips are yet to come to
  std::int64_t handled_ = 0;           // ends of spans, and what operations do
  std::int64_t started_ahead_ = 0, undisturbed_ = 0, between_transfers_ = 0, cut_off_ = 0;
  Together together_;
};

}  // namespace podsim
