// A logical process on its way to the present: how far its chips are known beyond where they have got to.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/check.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/stream_operations.h"
#include "scheduler/simulation/state/stream_queues.h"

namespace podsim {

// Some of the chips of a logical process, named by their places.
class Places {
 public:
  void add(std::int32_t place) { bits_ |= bit(place); }
  void add_all() { bits_ = ~std::uint64_t{}; }
  void clear() { bits_ = 0; }
  void remove(std::int32_t place) { bits_ &= ~bit(place); }
  bool contains(std::int32_t place) const { return (bits_ & bit(place)) != 0; }
  bool any() const { return bits_ != 0; }
  std::size_t count() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  // REQUIRES: any().
  std::int32_t take_first() {
    PODSIM_CHECK(any(), "there is a place");
    const auto place = static_cast<std::int32_t>(std::countr_zero(bits_));
    bits_ &= bits_ - 1;
    return place;
  }

 private:
  static_assert(LogicalProcesses::kMostChips <= 64, "a bit for each");
  static std::uint64_t bit(std::int32_t place) { return std::uint64_t{1} << place; }
  std::uint64_t bits_ = 0;
};

// When a chip may concern others.
struct EarliestOutput {
  Time time;             // not before
  bool waits = false;    // for others of its logical process: `time` after something happens there
  bool rounded = false;  // and not before the next event there: `time` has room for rounding
};

// An operation that has ended by the present, maybe after the time that a chip of its group has got to.
struct Ending {
  Ended what;
  Time at;
};

// Of one logical process at a time, so that it stays near the processor. Chips are named by their place in
// the logical process.
class LpAdvance {
 public:
  static constexpr std::uint32_t kMostEndings = 8;  // of a queue
  // Of operations one after another, each at the number of those before it.
  using Endings = std::array<Ending, kMostEndings>;

  // A queue of a chip, and the endings of its first operations, which the chip has not come to yet, in order.
  // Queues of chips that run the same operations share them.
  class KnownEndings {
   public:
    StreamQueue* running = nullptr;
    bool gathering =
        false;  // the chip has come to the first operation of which it is not known when it starts

    void begin(StreamQueue& queue, std::span<const StreamOperation> operations, Endings& endings) {
      running = &queue;
      operations_ = operations;
      endings_ = endings.data();
    }
    // The end of the first operation that the chip has not left is known; when it is.
    bool known() const { return size_ > 0; }
    const Ending& first() const { return at(0); }
    // One more, which the chip has launched.
    void add(const Ending& ending) {
      note(ending);
      ++size_;
    }

    // How many more have been launched; the first of them.
    std::int32_t unknown() const { return running->unfinished - static_cast<std::int32_t>(size_); }
    const StreamOperation& first_unknown() const {
      const auto position = static_cast<std::size_t>(running->position) + size_;
      return operations_[position < operations_.size() ? position : position - operations_.size()];
    }

    // The chip leaves the first operation. REQUIRES: known().
    void leave_first() {
      running->reached = first().at;
      --running->unfinished;
      ++running->ended;
      if (static_cast<std::size_t>(++running->position) == operations_.size()) running->position = 0;
      --size_;
    }
    // All of them that have ended by then.
    void leave_until(Time time) {
      while (known() && first().at <= time) leave_first();
    }
    // Whether no more than `pending` are unfinished now; whether that has been so before this instant.
    bool over(Time now, std::int32_t pending) {
      leave_until(now);
      return running->unfinished <= pending;
    }
    bool over_before(Time now, std::int32_t pending) { return over(now, pending) && running->reached < now; }
    // When the chip comes to what it launches now, unless it has launched more before of which the end is not
    // known.
    Time come(Time now) {
      leave_until(now);
      return known() ? at(size_ - 1).at : now;
    }
    // The chip launches one more.
    void launch(Time now) {
      if (++running->unfinished == 1) running->reached = now;
    }
    // The same, of what is known how it ends and has been noted on this queue or one that shares its endings.
    // REQUIRES: come(now), and unknown() == 0.
    void launch_known(Time now) {
      launch(now);
      ++size_;
    }
    // How the next operation ends.
    void note(const Ending& ending) {
      Ending& next = at(size_);  // by its parts: to load at once what has been stored in parts takes long
      next.what.stream = ending.what.stream;
      next.what.message = ending.what.message;
      next.what.last = ending.what.last;
      next.what.started = ending.what.started;
      next.at = ending.at;
    }

   private:
    Ending& at(std::uint32_t i) { return endings_[(running->ended + i) % kMostEndings]; }
    const Ending& at(std::uint32_t i) const { return endings_[(running->ended + i) % kMostEndings]; }

    std::uint32_t size_ = 0;  // known
    Ending* endings_ = nullptr;
    std::span<const StreamOperation> operations_;
  };

  // Whether the chips of a logical process can be advanced ahead of their events: what they may launch on the
  // stream, which is an inner one, before they wait for it fits here.
  static bool follows(const StreamList& queue, const LogicalProcesses& processes) {
    return processes.inner_streams[static_cast<std::size_t>(queue.stream)] &&
           static_cast<std::uint32_t>(queue.most_unfinished) <= kMostEndings;
  }

  // `any`: logical processes are taken on so.
  explicit LpAdvance(bool any)
      : queues_(any ? LogicalProcesses::kMostChips * kNetworkStreams : 0), endings_(queues_.size()) {}

  // Begins with nothing known. `from`: no chip of it is before that time.
  // `all_meet`: in every operation of it all its chips take part.
  void begin(std::int32_t process, Time from, bool all_meet) {
    process_ = process;
    from_ = from;
    all_meet_ = all_meet;
    begun_.clear();
  }
  // As told to begin().
  bool all_meet() const { return all_meet_; }
  // It is at the present; nothing is known ahead of it any more.
  void end() { process_ = kNone; }
  bool under_way() const { return process_ != kNone; }
  std::int32_t process() const { return process_; }
  Time from() const { return from_; }

  // A queue of the chip at this place begins.
  KnownEndings& begin_queue(std::int32_t place, Stream stream, StreamQueue& running,
                            std::span<const StreamOperation> operations) {
    const auto at = static_cast<std::size_t>(place);
    KnownEndings& begun = queue(at, stream);
    begun.begin(running, operations,
                endings_[(all_meet_ ? 0 : at * kNetworkStreams) + static_cast<std::size_t>(stream)]);
    begun_.push_back({&begun, place, stream});
    return begun;
  }
  // All queues that have begun, in the order in which they did.
  struct Begun {
    KnownEndings* queue;
    std::int32_t place;
    Stream stream;
  };
  std::span<const Begun> begun() const { return begun_; }

  // Up to when it goes.
  Time horizon() const { return horizon_; }
  void set_horizon(Time horizon) { horizon_ = horizon; }

  // O(1). REQUIRES: it has begun.
  KnownEndings& queue(std::size_t place, Stream stream) {
    return queues_[place * kNetworkStreams + static_cast<std::size_t>(stream)];
  }

  Places may_go_on;  // chips that may know enough for it
  Places resume;     // those whose wait for others is over, since RunningChip::since
  Places held;       // those at a computation that they do not begin before more is known
  Places standing;   // those at a launch for which the others have yet to come

  // How many queues of the chip gather.
  std::int32_t gathering(std::int32_t place) const { return gathering_[place]; }
  void set_gathering(std::int32_t place, KnownEndings& queue, bool gathering) {
    gathering_[place] += gathering - queue.gathering;
    queue.gathering = gathering;
  }

 private:
  static constexpr std::int32_t kNone = -1;

  std::int32_t process_ = kNone;
  Time from_, horizon_;
  bool all_meet_ = false;
  std::array<std::int32_t, LogicalProcesses::kMostChips> gathering_{};
  std::vector<KnownEndings> queues_;  // [place * streams + stream]
  std::vector<Endings> endings_;      // the same; [stream] where all chips meet
  std::vector<Begun> begun_;
};

}  // namespace podsim
