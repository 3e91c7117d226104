// Collectives that meet nothing on their links: all their times are known when they start.
//
// Rule. An operation is *alone* while no other one that is under way ever loads a link that it loads in any
// of its phases. What is alone drains at its max-min fair rate throughout, which depends on its own uses and
// on capacities only; so the begin and end of all its transfers are fixed instants after its start, the same
// for every run of the message by the group, and one event is enough for it. When another one starts that
// loads one of its links, both go on in the fluid solver: the one that was alone with what is left of its
// present phase, as if it had been there from the start (Fluid::begin_alone). The arithmetic is that of the
// solver in either case, so times are the same to the picosecond.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "engine/fluid.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/group_messages.h"

namespace podsim {

// Time after its last byte has left the links until a phase of `bytes` has arrived.
inline Time latency_of(const ClassPhase& phase, Bytes bytes) { return phase.latency + phase.ramp.at(bytes); }

// Progress of the phase's transfer, and whether there is any.
inline double work_of(const ClassPhase& phase, Bytes bytes) { return phase.work_per_byte * bytes.value; }
inline bool drains(const ClassPhase& phase, Bytes bytes) {
  return !phase.uses.empty() && work_of(phase, bytes) > 0;
}

// A transfer of a collective begins or ends, in turn.
struct TransferEdge {
  Time after;  // the start
  Time done;   // by a computation beside it since the first edge, at full speed
               // (scheduler/simulation/loop/computation.h)
  auto operator<=>(const TransferEdge&) const = default;
};

// A message as it runs alone; the same for all groups whose phases take the same times.
struct UncontendedCollective {
  std::span<const TransferEdge> edges;
  Time arrival;       // of the last phase, after the start
  bool ends = false;  // all its links have capacity, and always the same
};

// Asked for by group and message at every start: what they have in common is kept once, so that it stays near
// the processor.
class UncontendedCollectives {
 public:
  // REQUIRES: both outlive this object.
  UncontendedCollectives(const System& system, const Fluid& fluid);

  // The message as the group runs it, by a number. O(1), and once for each group and message
  // O(uses log uses). `edges` stay where they are.
  std::int32_t find(std::int32_t group, std::int32_t message) {
    const auto run = static_cast<std::int32_t>(index_(group, message));
    if (runs_[run].collective == kUnknown) runs_[run] = find_out(group, message);
    return run;
  }
  const UncontendedCollective& operator[](std::int32_t run) const { return known_[runs_[run].collective]; }
  // The same number for runs that take the same times.
  std::int32_t times_of(std::int32_t run) const { return runs_[run].collective; }

  // Link classes that it ever loads. Valid until the next find().
  std::span<const std::int32_t> links(std::int32_t run) const {
    return {links_.data() + runs_[run].first_link, static_cast<std::size_t>(runs_[run].links)};
  }

 private:
  static constexpr std::int32_t kUnknown = -1;
  struct Run {
    std::int32_t collective = kUnknown;
    std::int32_t first_link = 0, links = 0;
  };

  Run find_out(std::int32_t group, std::int32_t message);
  std::int32_t play(std::int32_t group, std::int32_t message);
  void list_links(std::int32_t group, std::int32_t message, Run& run);

  const System& system_;
  const Fluid& fluid_;
  const GroupMessages index_;
  std::vector<Run> runs_;  // [index_]
  std::vector<UncontendedCollective> known_;
  std::map<std::tuple<std::vector<TransferEdge>, Time, bool>, std::int32_t>
      id_of_;  // by all that tells them apart
  std::vector<std::int32_t> links_;
};

// Who is on each link class: nobody, one rendezvous alone, or several that share.
class LinkHolders {
 public:
  explicit LinkHolders(std::size_t links) : holder_(links, kFree) {}

  // The first rendezvous that is alone on one of the links, or -1.
  std::int32_t lone_holder(std::span<const std::int32_t> links) const {
    for (const std::int32_t link : links)
      if (holder_[link] >= 0) return holder_[link];
    return -1;
  }
  bool free(std::span<const std::int32_t> links) const {
    for (const std::int32_t link : links)
      if (holder_[link] != kFree) return false;
    return true;
  }

  // REQUIRES: they are free.
  void hold_alone(std::int32_t rendezvous, std::span<const std::int32_t> links) {
    for (const std::int32_t link : links) holder_[link] = rendezvous;
  }
  void leave_alone(std::span<const std::int32_t> links) {
    for (const std::int32_t link : links) holder_[link] = kFree;
  }
  // REQUIRES: nobody is alone on them.
  void share(std::span<const std::int32_t> links) {
    for (const std::int32_t link : links) --holder_[link];
  }
  void leave_shared(std::span<const std::int32_t> links) {
    for (const std::int32_t link : links) ++holder_[link];
  }

 private:
  static constexpr std::int32_t kFree = -1;
  std::vector<std::int32_t> holder_;  // a rendezvous, or kFree less the number of those that share
};

}  // namespace podsim
