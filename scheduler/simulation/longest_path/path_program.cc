// Finds stretches of constant length.
#include "scheduler/simulation/longest_path/path_program.h"

#include <algorithm>
#include <limits>

#include "engine/rounding.h"

namespace podsim::longest_path {
namespace {

using Kind = Instruction::Kind;

Time scaled(Time time, double factor) { return nearest(static_cast<double>(time.ps) * factor); }

// Further on no end of what is under way is looked for.
constexpr int kMostOpen = 64;

// Moves one after another, as far as they are a stretch, with what is on their streams.
class Rehearsal {
 public:
  Rehearsal(const System& system, const SharedSlots& slots, const Program& program,
            const std::vector<Drain>& beside)
      : system_(system), slots_(slots), program_(program), drains_(beside) {}

  // False where the move does not belong to a stretch; then this is of no more use.
  bool add(const Move& move) {
    ++count_;
    switch (move.kind) {
      case Move::Kind::kWork:
        work(move);
        return true;
      case Move::Kind::kPause:
        outcome_.length += move.length;
        book(move.bucket, move.length);
        return true;
      case Move::Kind::kHost:
        return host(move.length);
      case Move::Kind::kSynchronise:
        outcome_.host_add = kNoTime;
        outcome_.host_floor = outcome_.length;
        return true;
      case Move::Kind::kLaunch:
        return launch(move);
      case Move::Kind::kWait:
        return wait(move);
      case Move::Kind::kReceive:
      case Move::Kind::kInput:
      case Move::Kind::kStretch:
        return false;
    }
    return false;
  }

  // All that it has launched is over.
  bool closed() const {
    return std::ranges::all_of(outcome_.lanes,
                               [&](const Outcome::Lane& lane) { return lane.last_end <= outcome_.length; });
  }
  std::int32_t count() const { return count_; }  // of moves
  const Outcome& outcome() const { return outcome_; }

 private:
  struct Ended {
    Time turn, end;
    std::int32_t message;
  };

  void book(Bucket bucket, Time time) { outcome_.bucket[static_cast<std::size_t>(bucket)] += time; }

  // Rules 6 and 13 of simulate.h.
  void work(const Move& move) {
    const Time begin = outcome_.length;
    Time left = move.length, at = begin, lost;
    double pace = pace_at(at);
    Time end = at + scaled(left, pace);
    for (bool over = false; !over;) {
      const Time edge = next_edge(at);
      over = edge >= end;
      const Time now = std::min(edge, end), elapsed = now - at;
      const Time done = nearest(static_cast<double>(elapsed.ps) / pace);
      if (pace != 1) lose(at, elapsed - std::min(elapsed, done), lost);
      left = std::max(Time{}, left - done);
      at = now;
      if (over) break;
      if (const double after = pace_at(at); after != pace) {
        pace = after;
        end = at + scaled(left, pace);
      }
    }
    outcome_.length = end;
    const Time computed = end - begin - lost;
    const bool skewed = move.bucket == Bucket::kCompute || move.bucket == Bucket::kOptimizer;
    const double skew = skewed && end > begin ? program_.skew : 0;
    const Time waited = nearest(static_cast<double>(computed.ps) * skew / (1 + skew));
    book(move.bucket, computed - waited);
    book(Bucket::kSkew, waited);
  }

  // To the first pattern that drains at the instant.
  void lose(Time at, Time time, Time& lost) {
    std::int32_t pattern = std::numeric_limits<std::int32_t>::max();
    for (const Drain& drain : drains_)
      if (drain.begin <= at && at < drain.end) pattern = std::min(pattern, drain.pattern);
    lost += time;
    if (system_.patterns[pattern].kind == CollectiveKind::kSendReceive) return book(Bucket::kBubble, time);
    book(Bucket::kCommunication, time);
    add_to(outcome_.exposed, pattern, time);
  }

  double pace_at(Time now) const {
    const bool drains = std::ranges::any_of(
        drains_, [&](const Drain& drain) { return drain.begin <= now && now < drain.end; });
    return drains ? 1 + program_.interference : 1;
  }

  // Of a transfer, after now.
  Time next_edge(Time now) const {
    if (program_.interference == 0) return Time::max();
    Time next = Time::max();
    for (const Drain& drain : drains_) {
      if (drain.begin > now) {
        next = std::min(next, drain.begin);
      } else if (drain.end > now) {
        next = std::min(next, drain.end);
      }
    }
    return next;
  }

  bool host(Time launches) {
    const Time now = outcome_.length;
    outcome_.host_add = later(outcome_.host_add, launches);
    outcome_.host_floor = later(outcome_.host_floor, launches);
    if (program_.lead < Time::max()) outcome_.host_floor = std::max(outcome_.host_floor, now - program_.lead);
    if (outcome_.host_add != kNoTime)
      outcome_.latest_host = std::min(outcome_.latest_host, now - outcome_.host_add);
    return outcome_.host_floor <= now && now >= outcome_.host_add;
  }

  std::size_t lane_of(Stream stream) {
    for (std::size_t l = 0; l < outcome_.lanes.size(); ++l)
      if (outcome_.lanes[l].stream == stream) return l;
    outcome_.lanes.push_back({stream, 0, kNoTime});
    ended_.emplace_back();
    return ended_.size() - 1;
  }

  bool launch(const Move& move) {
    const bool own = system_.step.messages[move.message].scope.neighbour == 0 &&
                     system_.groups[move.group].members.size() == 1 &&
                     !slots_.shares(slot_of(move.group, move.stream));
    if (!own) return false;
    const std::size_t l = lane_of(move.stream);
    Outcome::Lane& lane = outcome_.lanes[l];
    const Time turn = std::max(outcome_.length, lane.last_end);
    const LoneTimes& lone = slots_.lone(move.group, move.message);
    lane.last_end = turn + lone.arrival;
    ++lane.launches;
    ended_[l].push_back({turn, lane.last_end, move.message});
    add_to(outcome_.started, slots_.index(move.group, move.message), std::int64_t{1});
    if (program_.interference == 0) return true;
    std::erase_if(drains_, [&](const Drain& drain) { return drain.end <= outcome_.length; });
    for (const auto& [begin, end] : lone.drains)
      drains_.push_back({turn + begin, turn + end, system_.pattern_of[move.message]});
    return true;
  }

  bool wait(const Move& move) {
    if (move.stream >= Stream::kForwardNext) return false;
    const std::size_t l = lane_of(move.stream);
    const int target = outcome_.lanes[l].launches - move.pending;
    if (target <= 0) return true;
    const Ended& last = ended_[l][static_cast<std::size_t>(target) - 1];
    const Time waited = last.end - outcome_.length;
    if (waited <= Time{}) return true;
    book(Bucket::kCommunication, waited);
    add_to(outcome_.exposed, system_.pattern_of[last.message], waited);
    outcome_.length = last.end;
    return true;
  }

  template <class Key, class Amount>
  static void add_to(std::vector<std::pair<Key, Amount>>& list, Key key, Amount amount) {
    const auto known = std::ranges::find(list, key, &std::pair<Key, Amount>::first);
    if (known == list.end()) {
      list.emplace_back(key, amount);
    } else {
      known->second += amount;
    }
  }

  const System& system_;
  const SharedSlots& slots_;
  const Program& program_;
  std::vector<Drain> drains_;
  Outcome outcome_;
  std::int32_t count_ = 0;
  std::vector<std::vector<Ended>> ended_;  // [lane]
};

class Compiler {
 public:
  Compiler(const System& system, const SharedSlots& slots, const ChipClass& chip)
      : system_(system), slots_(slots), chip_(chip), stage_(system.step.stages[chip.program]) {}

  Program run() {
    program_.interference = stage_.interference;
    program_.skew = stage_.skew;
    program_.lead = stage_.host_lead;
    for (const std::vector<Instruction>& segment : stage_.segments) {
      const auto first = static_cast<std::int32_t>(program_.moves.size());
      std::vector<Move> moves;
      for (const Instruction& each : segment)
        if (!copies(each.stream)) moves.push_back(move_of(each));  // without copies no wait for them lasts
      join(moves);
      program_.segments.emplace_back(first, static_cast<std::int32_t>(program_.moves.size()));
    }
    return std::move(program_);
  }

 private:
  Move move_of(const Instruction& from) const {
    Move move{Move::Kind::kPause, from.stream, from.bucket, from.message, -1, from.pending, from.duration};
    switch (from.kind) {
      case Kind::kCompute:
        move.kind = Move::Kind::kWork;
        move.length = scaled(from.duration, (1 + stage_.skew) / chip_.speed);
        break;
      case Kind::kLaunch:
        move.kind = Move::Kind::kLaunch;
        move.group = chip_.group_class[system_.communicator_of[from.message]];
        break;
      case Kind::kWait:
        move.kind = Move::Kind::kWait;
        break;
      case Kind::kReceive:
        move.kind = Move::Kind::kReceive;
        break;
      case Kind::kInput:
        move.kind = Move::Kind::kInput;
        break;
      case Kind::kHost:
        move.kind = Move::Kind::kHost;
        break;
      case Kind::kSynchronise:
        move.kind = Move::Kind::kSynchronise;
        break;
      case Kind::kPause:
      case Kind::kCopy:
        break;
    }
    return move;
  }

  // Appends the moves, the longest stretches among them as one each.
  void join(std::span<const Move> moves) {
    while (!moves.empty()) {
      const std::size_t count = longest_stretch(moves);
      if (count == 0) {
        program_.moves.push_back(moves.front());
        moves = moves.subspan(1);
        continue;
      }
      Move move{.kind = Move::Kind::kStretch, .length = {}};
      move.message = static_cast<std::int32_t>(program_.stretches.size());
      program_.moves.push_back(move);
      const std::span<const Move> of = moves.first(count);
      program_.stretches.push_back({static_cast<std::int32_t>(program_.spelled.size()),
                                    static_cast<std::int32_t>(count),
                                    outcome_of(system_, slots_, program_, of, {})});
      program_.spelled.insert(program_.spelled.end(), of.begin(), of.end());
      moves = moves.subspan(count);
    }
  }

  // How many moves from the first on; a lone one only where it is a computation.
  std::size_t longest_stretch(std::span<const Move> moves) const {
    Rehearsal rehearsal(system_, slots_, program_, {});
    std::int32_t closed = 0;
    for (const Move& move : moves) {
      if (!rehearsal.add(move)) break;
      const std::int32_t count = rehearsal.count();
      if (rehearsal.closed()) closed = count;
      if (count > closed + kMostOpen) break;
    }
    const bool enough = closed > 1 || moves.front().kind == Move::Kind::kWork;
    return enough ? static_cast<std::size_t>(closed) : 0;
  }

  const System& system_;
  const SharedSlots& slots_;
  const ChipClass& chip_;
  const StageProgram& stage_;
  Program program_;
};

}  // namespace

Outcome outcome_of(const System& system, const SharedSlots& slots, const Program& program,
                   std::span<const Move> moves, const std::vector<Drain>& beside) {
  Rehearsal rehearsal(system, slots, program, beside);
  bool holds = true;
  for (const Move& move : moves) holds = holds && rehearsal.add(move);
  Outcome outcome = rehearsal.outcome();
  outcome.holds = holds && rehearsal.closed();
  return outcome;
}

Program program_of(const System& system, const SharedSlots& slots, const ChipClass& chip) {
  return Compiler(system, slots, chip).run();
}

}  // namespace podsim::longest_path
