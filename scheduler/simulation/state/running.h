// What the event loop remembers of chips and of collectives under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "engine/cache.h"
#include "engine/check.h"
#include "engine/time_limits.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/stream_operations.h"

namespace podsim {

// A chip class in the present step of its job: where it is in its program, and what it is at.
struct alignas(kCacheLine) RunningChip {
  const Instruction* at = nullptr;   // that it does or waits at
  const Instruction* end = nullptr;  // of the segment
  std::int32_t position = 0;         // of the segment in the program's order
  std::int32_t program = 0;
  std::int32_t degradation = 0;  // of places_by_slowness
  bool blocked = false, ended = false;
  Time since;  // begin of the present wait or computation
  Time host;   // when the host has launched what it was asked for; it waits for receives, as the chip does
  Time met;    // when the host last waited for the chip, or the chip for the host

  // Its step begins, and its host with it.
  void begin_step(Time now) {
    ended = false;
    host = now;
  }

  // The first instruction of the segment is next. REQUIRES: `segment` stays until the next one is entered.
  void enter_segment(const std::vector<Instruction>& segment) {
    at = segment.data();
    end = at + segment.size();
  }

  // The instruction that holds the chip up, when it is of this kind and stream.
  const Instruction* blocked_at(Instruction::Kind kind, Stream stream) const {
    return blocked && at->kind == kind && at->stream == stream ? at : nullptr;
  }

  // Of state_capture.h, here and below.
  template <class Visitor>
  void visit(Visitor& state) {
    state.position(position);
    state.fixed(at);
    state.fixed(blocked + 2 * ended);
    state.past(since);
    state.host(host, met);
  }
};

// A job: its chip classes, its steps, and the batches that its hosts load for them.
struct RunningJob {
  const InputPipeline* input = nullptr;
  std::vector<std::int32_t> chips;  // its classes
  int running = 0;                  // of them, in the present step
  bool over = false;                // no step follows
  std::vector<Time> begins;         // of all steps so far
  Time next_batch;                  // when the batch of the step to come has been loaded by all hosts
  std::vector<Time> loaded;         // [host] its own part of that batch, where loads stall

  // `stalls`: of this load, by host; empty = none. Throws StepTooLong where the batch comes after all time.
  void begin_step(Time now, std::span<const Time> stalls = {}) {
    begins.push_back(now);
    const std::size_t next = begins.size(), ahead = static_cast<std::size_t>(input->ahead);
    const Time room = next < ahead ? Time{} : begins[next - ahead];
    if (stalls.empty()) next_batch = next_instant(std::max(next_batch, room) + input->load, false);
    loaded.resize(stalls.size());
    for (std::size_t h = 0; h < stalls.size(); ++h) {
      loaded[h] = next_instant(std::max(loaded[h], room) + input->load, false);
      loaded[h] = next_instant(loaded[h] + stalls[h], false);
      next_batch = std::max(next_batch, loaded[h]);
    }
  }

  // Steps like the last one have gone by; the next one is to begin.
  void repeat_steps(std::int64_t count, Time length) {
    PODSIM_CHECK(count >= 0 && !begins.empty(), "what repeats has been");
    for (std::int64_t i = 0; i < count; ++i) begins.push_back(begins.back() + length);
  }

  // Between two steps, where no load stalls.
  template <class Visitor>
  void visit(Visitor& state) {
    state.moving(next_batch);
    for (int i = 0; i < input->ahead; ++i) {
      Time begin = static_cast<std::size_t>(i) < begins.size() ? *(begins.rbegin() + i) : Time::max();
      state.moving(begin);
    }
  }
};

// Members of a group. Two of them, as of every transfer between neighbours, are kept here: nothing else has
// to be loaded.
class Members {
 public:
  Members() : pair_{} {}
  // REQUIRES: `all` outlives this object.
  explicit Members(std::span<const std::int32_t> all) : count_(all.size()) {
    if (count_ <= kPair) {
      std::copy(all.begin(), all.end(), pair_);
    } else {
      all_ = all.data();
    }
  }
  // As a list; its order is that of the group.
  std::size_t size() const { return count_; }
  const std::int32_t* data() const { return count_ <= kPair ? pair_ : all_; }
  const std::int32_t* begin() const { return data(); }
  const std::int32_t* end() const { return data() + count_; }
  std::int32_t operator[](std::size_t i) const { return data()[i]; }
  std::int32_t front() const { return *data(); }

 private:
  static constexpr std::size_t kPair = 2;
  std::size_t count_ = 0;
  union {
    std::int32_t pair_[kPair];
    const std::int32_t* all_;
  };
};

// The operations of one stream that a group class runs one after another.
struct alignas(kCacheLine) Rendezvous {
  Members members;  // point to point: source, destination
  std::int32_t group = -1;
  std::int32_t message = -1;
  std::int32_t reached = 0;  // members, of the operation to come
  std::int32_t last = -1;    // member that reached it last; of several at one instant the slowest
  Time last_reached;
  Time started;
  std::int32_t uncontended = -1;  // what runs, as it is when alone
  std::uint32_t phase = 0;        // to begin next, or the last that began and has not drained
  Stream stream = Stream::kActivation;
  bool running = false;
  bool alone = false;  // what runs

  template <class Visitor>
  void visit(Visitor& state) {
    state.fixed(reached);
    state.fixed(running + 2 * alone);
    if (reached == 0) return;
    state.fixed(message);
    state.fixed(last);
    state.past(last_reached);
    if (!running) return;
    state.moving(started);
    state.fixed(phase);
  }
};

// What the accounts need of an operation that has ended; its rendezvous may already gather for the next one.
struct Ended {
  Stream stream;
  std::int32_t message;
  std::int32_t last;
  Time started;
};

// All group classes, with nothing under way.
inline std::vector<Rendezvous> idle_rendezvous(const System& system, const StreamOperations& lists) {
  std::vector<Rendezvous> all_rendezvous(lists.all_rendezvous().size());
  for (std::size_t m = 0; m < all_rendezvous.size(); ++m) {
    all_rendezvous[m].group = lists.all_rendezvous()[m].group;
    all_rendezvous[m].stream = lists.all_rendezvous()[m].stream;
    all_rendezvous[m].members = Members(system.groups[all_rendezvous[m].group].members);
  }
  return all_rendezvous;
}

static_assert(sizeof(RunningChip) == kCacheLine && sizeof(Rendezvous) == kCacheLine, "one miss for each");

// [chip class] its place in an order for ties that does not depend on who comes first: the slowest first, of
// equally slow ones that of the lower program, then number of their draws, then number. So who is told apart
// in a report wins whether or not chips are folded.
inline std::vector<std::int32_t> places_by_slowness(const System& system) {
  std::vector<std::int32_t> order(system.chips.size()), place(system.chips.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const ChipClass &x = system.chips[a], &y = system.chips[b];
    return std::tie(x.speed, x.program, x.chance, a) < std::tie(y.speed, y.program, y.chance, b);
  });
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::int32_t>(i);
  return place;
}

// All chip classes, which have done nothing yet. Tells the jobs of them.
inline std::vector<RunningChip> idle_chips(const System& system, std::vector<RunningJob>& jobs) {
  std::vector<RunningChip> chips(system.chips.size());
  const std::vector<std::int32_t> degradation = places_by_slowness(system);
  for (std::size_t c = 0; c < chips.size(); ++c) {
    chips[c].program = system.chips[c].program;
    chips[c].degradation = degradation[c];
    const StageProgram& program = system.step.stages[chips[c].program];
    jobs[program.job].chips.push_back(static_cast<std::int32_t>(c));
    jobs[program.job].input = &program.input;
  }
  return chips;
}

}  // namespace podsim
