// Chips taken through their moves.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "scheduler/simulation/longest_path/link_server.h"
#include "scheduler/simulation/longest_path/path_chip.h"

namespace podsim::longest_path {

// Once over the step of a system. With a server operations on links that several slots load drain in order of
// time; without it all are taken for alone.
class Sweep {
 public:
  // REQUIRES: all of them outlive this; programs[chip].
  Sweep(const System& system, const SharedSlots& slots, const std::vector<Program>& programs, bool server);

  // To the end of the step. False where it takes another loop: an operation is under way then, or a chip
  // receives from two others on one stream.
  bool run();
  // No two operations were on a link at once. REQUIRES: no server.
  bool all_alone() const;

  const std::vector<PathChip>& chips() const { return chips_; }
  // [SharedSlots::index] operations, but for those of stretches.
  const std::vector<std::int64_t>& started() const { return started_; }
  Time step_end() const { return step_end_; }
  std::int64_t moves() const { return moves_; }

 private:
  // Of a slot: the operation that its members gather for, or that is under way.
  struct Gathering {
    std::int32_t message = -1, reached = 0;
    std::int32_t last = -1;  // member that reached it last; of several at one instant the slowest
    Time started;            // when that was
  };
  struct Completion {
    std::int32_t slot;
    Time end;
  };
  // What a chip has taken up ends, unless another end has been foreseen since.
  struct WorkEnd {
    Time time;
    std::int32_t chip;
    friend bool operator>(const WorkEnd& a, const WorkEnd& b) { return a.time > b.time; }
  };

  void enqueue(std::int32_t c) {
    if (!std::exchange(chips_[c].queued, true)) runnable_.push_back(c);
  }
  void follow_all();
  bool end_next();
  void serve(Time now);
  bool end_step();
  void follow(std::int32_t c);
  bool take_up(std::int32_t c, PathChip& chip, const Move& move);
  bool carry_out(std::int32_t c, PathChip& chip, const Move& move);
  bool wait(std::int32_t c, PathChip& chip, const Move& move);
  static bool receive(PathChip& chip, const Move& move);
  void launch(std::int32_t c, PathChip& chip, const Move& move);
  void reach(std::int32_t c, Stream stream, const Lane& lane);
  bool slower(std::int32_t a, std::int32_t b) const;
  void start(std::int32_t slot, std::int32_t group);
  void drain(std::int32_t slot, Time begin, Time end);
  void foresee(std::int32_t c);
  void complete_all();
  void complete(std::int32_t slot, Time end);
  void leave(std::int32_t c, Stream stream, const Gathering& operation, Time end);
  bool between_stages(std::int32_t message) const { return between_[message]; }
  const std::vector<std::int32_t>& members_of(std::int32_t slot) const {
    return system_.groups[slot / kNetworkStreams].members;
  }

  const System& system_;
  const SharedSlots& slots_;
  const std::vector<Program>& programs_;
  std::vector<PathChip> chips_;
  std::vector<Gathering> gatherings_;  // [slot]
  std::vector<Completion> completions_;
  std::vector<std::int32_t> runnable_;
  std::priority_queue<WorkEnd, std::vector<WorkEnd>, std::greater<>> ends_;
  std::vector<std::int64_t> started_;
  std::vector<std::vector<std::pair<Time, Time>>> busy_;  // [slot] when it loads links of several
  std::vector<char> between_;                             // [message]
  std::optional<LinkServer> server_;
  bool mixed_ = false;
  std::int64_t moves_ = 0;
  Time step_end_;
};

}  // namespace podsim::longest_path
