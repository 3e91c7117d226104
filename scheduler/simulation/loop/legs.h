// Legs: runs of instructions that concern one chip class alone, and what they come to beside transfers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "engine/rounding.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// By which rounding cannot bring a chip forward: what is later than by this much surely is.
inline constexpr Time kRoundingMargin{1000};

// A transfer that drains on the chip's links beside what it does by itself.
struct DrainBeside {
  Time begin, end;  // Time::max(): not known yet
  std::int32_t pattern;
  std::int32_t rendezvous = -1;  // of one whose times are known ahead
};

// An instruction of a leg, as the chip carries it out.
struct LegStep {
  enum class Kind : std::uint8_t { kCompute, kPause, kHost, kSynchronise, kLaunch, kWait };
  Kind kind;
  Bucket bucket = Bucket::kCompute;
  std::int32_t launch = -1;        // number in the leg, of a launch or of the one waited for
  std::int32_t behind = -1;        // of the launch before it on its stream
  std::int32_t pattern = -1;       // of a launch, and of the one waited for
  std::int32_t communicator = -1;  // of a launch
  Time length;                     // of a launch until it has ended
  std::span<const TransferEdge> edges = {};
};

// What a leg comes to.
struct LegOutcome {
  // What never counts in a maximum.
  static constexpr Time kNever{std::numeric_limits<std::int64_t>::min() / 4};

  Time length;
  Time host_add, host_floor = kNever;  // afterwards the host is at max(before + host_add, begin + host_floor)
  std::array<Time, kBuckets> bucket{};
  std::vector<std::pair<std::int32_t, Time>> exposed;  // pattern

  void clear();

  // In a maximum, where what never counts stays so.
  static Time later(Time time, Time by) { return time == kNever ? time : time + by; }
  static Time scaled(Time time, double factor) { return nearest(static_cast<double>(time.ps) * factor); }
};

// What the host does in a leg that nothing else is beside.
struct HostCall {
  Time at, length;
  bool synchronises = false;
};

// Launches of a leg.
struct LegLaunches {
  Stream stream;
  std::int32_t communicator, count;
};

struct Leg {
  static std::uint32_t bit(Stream stream) { return 1u << static_cast<unsigned>(stream); }
  std::vector<LegStep> steps;
  std::int32_t launches = 0;      // all of them
  std::int32_t instructions = 0;  // that it is made of
  std::int32_t events = 0;        // that it stands for
  std::uint32_t streams = 0;      // that have to be idle when it begins, bit by bit
  bool updates = false;           // it has computations of the optimizer
  Time longest;                   // beside whatever drains
  std::vector<LegLaunches> launched;
  std::vector<HostCall> host;
  LegOutcome alone;
  std::vector<std::pair<std::int32_t, LegOutcome>> slowed;  // beside a pattern throughout
};

// Where a leg is in a segment. Layers that are alike have one leg at many places.
struct PlacedLeg {
  Leg* leg;
  std::int32_t first, after;  // of the instructions of the segment
  // Of those that follow each other from this one on, as far as the host is in time; worked out when asked
  // for.
  std::int32_t last = -1;  // of the segment's, the one behind them
  std::uint32_t idle = 0;  // streams of all of them
  Time latest_host = {};   // when the first begins, after that
};

// What legs come to alone, summed up from the first one of a segment on: a run of them takes as long as
// several instructions do. Index k stands for all before leg k.
struct LegSums {
  std::vector<Time> length;
  std::vector<Time> longest;  // of the first, beside whatever drains
  std::vector<std::array<Time, kBuckets>> bucket;
  std::vector<std::int64_t> events;
  std::vector<std::int32_t> patterns;  // that are ever exposed
  std::vector<Time> exposed;           // [k * patterns + pattern]
  std::vector<LegLaunches> launches;   // streams and communicators; `count` means nothing
  std::vector<std::int32_t> launched;  // [k * launches + launch]

  explicit LegSums(std::span<const PlacedLeg> legs);
};

// A host over legs that follow each other, as far as it is in time for all of their calls.
class HostAhead {
 public:
  // `lead`: StageProgram::host_lead.
  explicit HostAhead(Time lead) : lead_(lead) {}

  // Whether it is for these, of a leg that begins so long after the first one and goes alone; if so `latest`
  // becomes the host's latest time when the first one begins, after that, for which it still is.
  bool in_time(std::span<const HostCall> calls, Time begin, Time& latest);

 private:
  Time lead_, add_, floor_ = LegOutcome::kNever;  // as LegOutcome has them, since the first leg
};

// The instructions of a leg as far as they have been taken in.
class LegWriter {
 public:
  // Anew, in the room that the last one took.
  void begin() {
    std::vector<LegStep> steps = std::move(leg_.steps);
    steps.clear();
    leg_ = {};
    leg_.steps = std::move(steps);
    marked_ = {};
    launching_ = beside_ = 0;
    for (Launched& on : launched_) {
      on.all.clear();
      on.waited = 0;
    }
    patterns_.clear();
  }
  void add(const LegStep& step, std::uint32_t streams) {
    leg_.steps.push_back(step);
    leg_.streams |= streams;
    leg_.events += step.kind == LegStep::Kind::kCompute || step.kind == LegStep::Kind::kPause;
    leg_.updates |= step.kind == LegStep::Kind::kCompute && step.bucket == Bucket::kOptimizer;
    ++leg_.instructions;
  }
  void launch(LegStep step, Stream stream, std::int32_t communicator, std::uint32_t streams) {
    Launched& on = launched_[static_cast<std::size_t>(stream)];
    step.launch = leg_.launches++;
    step.behind = on.all.empty() ? -1 : on.all.back();
    on.all.push_back(step.launch);
    patterns_.push_back(step.pattern);
    launching_ |= Leg::bit(stream);
    beside_ |= streams & ~Leg::bit(stream);
    ++leg_.events;
    const auto known = std::ranges::find_if(leg_.launched, [&](const LegLaunches& each) {
      return each.stream == stream && each.communicator == communicator;
    });
    if (known == leg_.launched.end()) {
      leg_.launched.push_back({stream, communicator, 1});
    } else {
      ++known->count;
    }
    add(step, Leg::bit(stream) | streams);
  }
  void wait(Stream stream, std::int32_t pending) {
    Launched& on = launched_[static_cast<std::size_t>(stream)];
    const auto target = static_cast<std::ptrdiff_t>(on.all.size()) - pending;
    if (target <= 0) {
      leg_.streams |= Leg::bit(stream);
      ++leg_.instructions;
      return;
    }
    on.waited = std::max(on.waited, static_cast<std::size_t>(target));
    const std::int32_t launch = on.all[static_cast<std::size_t>(target) - 1];
    add({.kind = LegStep::Kind::kWait,
         .launch = launch,
         .pattern = patterns_[static_cast<std::size_t>(launch)],
         .length = {}},
        Leg::bit(stream));
  }

  // An operation of the stream shares links with none of the others in the leg, given those streams whose
  // operations load some of its links.
  bool alone(Stream stream, std::uint32_t beside) const {
    return ((beside & ~Leg::bit(stream)) & launching_) == 0 && (Leg::bit(stream) & beside_) == 0;
  }
  // The chip has waited for all that it has launched.
  bool closed() const {
    return std::ranges::all_of(launched_, [](const Launched& on) { return on.waited == on.all.size(); });
  }
  const Leg& leg() const { return leg_; }
  Leg take() const { return leg_; }

  // Remembers the leg as it is: nothing has been launched in it.
  void mark() { marked_ = {leg_.steps.size(), leg_.instructions, leg_.events, leg_.streams, leg_.updates}; }
  // The leg as it was then.
  Leg take_marked() {
    leg_.steps.resize(marked_.steps);
    leg_.launches = 0;
    leg_.instructions = marked_.instructions;
    leg_.events = marked_.events;
    leg_.streams = marked_.streams;
    leg_.updates = marked_.updates;
    leg_.launched.clear();
    return take();
  }

 private:
  struct Launched {
    std::vector<std::int32_t> all;
    std::size_t waited = 0;
  };
  struct Mark {
    std::size_t steps = 0;
    std::int32_t instructions = 0, events = 0;
    std::uint32_t streams = 0;
    bool updates = false;
  };
  Leg leg_;
  Mark marked_;
  std::uint32_t launching_ = 0, beside_ = 0;  // streams, bit by bit
  std::array<Launched, kNetworkStreams> launched_;
  std::vector<std::int32_t> patterns_;  // [launch]
};

}  // namespace podsim
