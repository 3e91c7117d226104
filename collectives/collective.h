// What a group of chips does together: the collective, the plan of its traffic, and its predicted time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/time_limits.h"
#include "topology/fabric.h"

namespace podsim {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendReceive,
  kPermute,
  kBarrier
};

// Pieces of an all-to-all (tokens) that go to several ranks each (experts), chosen alike: a piece crosses to
// an NVLink domain once, however many of its copies are meant for ranks there, and is copied there.
struct Fanout {
  double copies = 1;    // of a piece, all counted in the bytes of the collective; 1 = all pieces differ
  int most_blocks = 0;  // domains over which the copies of a piece are spread at most; 0 = any number
  friend auto operator<=>(const Fanout&, const Fanout&) = default;
};

// Mean number of `domains` to which a piece goes. At most fanout.copies, at least 1.
double domains_reached(const Fanout& fanout, int domains);

// `bytes`: all-reduce, broadcast, permute, send: the tensor each rank holds. All-gather: the whole result.
// Reduce-scatter: the whole input of a rank. All-to-all: what one rank holds before (it sends bytes/n to each
// rank, or receive_share[j] of them to rank j). Barrier: ignored.
struct Collective {
  CollectiveKind kind;
  Bytes bytes;
  // All-to-all: the share of what a rank holds that goes to each rank of the group, itself included; at least
  // 0, together 1. Empty = equal shares.
  std::vector<double> receive_share = {};
  Fanout fanout = {};  // all-to-all
};

enum class Algorithm : std::uint8_t {
  kRing,               // one logical ring in group order; with k members in every NVLink domain, k rings
                       // (channels), each leaving a domain by its own NIC
  kBidirectionalRing,  // half of the bytes each way round
  kTorus,              // multi-ring over every torus dimension the group fills, both directions
  kTree,               // double binary tree; over several equal NVLink domains, one per rail
  kHierarchical,       // scatter inside NVLink domains (or slices), ring across them per rail, gather inside;
                       // all-to-all inside, then per rail
  kHalvingDoubling,    // recursive halving-doubling; power-of-two groups
  kNvls,               // in-switch reduction inside one NVLink domain
  kDirect,             // every pair at once (all-to-all, send, permute)
  kNvlsTree,           // in-switch reduction in every NVLink domain, double binary tree across them per rail
  kLogStep,            // ceil(log2 n) steps of growing data between ever nearer ranks; any group
  kSharp,              // reduction in NVLink domains and in the switches of the fat-tree above them
};
inline constexpr Algorithm kLastAlgorithm = Algorithm::kSharp;
std::string_view to_string(CollectiveKind kind);
std::string_view to_string(Algorithm algorithm);

struct LinkLoad {
  LinkId link;
  double bytes;  // carried by this link in this phase, > 0
};

// What a pipeline of chunks takes beyond its bytes at the sustained rate. The best chunk grows with the
// square root of the message until it has the largest size; derivation in docs/theory/model.md, section 2.
struct ChunkRamp {
  Time most;   // the largest chunk's way through all stages
  Bytes full;  // message size from which on chunks are that large, > 0 where `most` is

  Time at(Bytes message) const {
    if (most == Time{}) return {};
    const double x = std::min(1.0, message.value / full.value);
    return Time::seconds(most.in_seconds() * (2 * std::sqrt(x) - x));
  }
  friend bool operator==(const ChunkRamp&, const ChunkRamp&) = default;
};

// What a message takes beyond its bytes at the rate of the largest, with one protocol.
struct ProtocolRamp {
  Time fixed;
  double s_per_byte = 0;
  ChunkRamp chunks;

  Time at(Bytes message) const {
    return fixed + capped_seconds(s_per_byte * message.value) + chunks.at(message);
  }
  friend bool operator==(const ProtocolRamp&, const ProtocolRamp&) = default;
};

// The same with the best of the protocols for its size.
struct Ramp {
  static constexpr std::size_t kMost = 3;  // protocols of one algorithm
  std::array<ProtocolRamp, kMost> of = {};
  std::size_t count = 0;

  void add(const ProtocolRamp& ramp) { of[count++] = ramp; }
  std::span<const ProtocolRamp> protocols() const { return {of.data(), count}; }
  Time at(Bytes message) const {
    Time least = count > 0 ? of[0].at(message) : Time{};
    for (std::size_t p = 1; p < count; ++p) least = std::min(least, of[p].at(message));
    return least;
  }
  friend bool operator==(const Ramp&, const Ramp&) = default;
};

// A part of a collective that must end before the next begins. `latency` = all its latency steps together.
// INVARIANT: each link occurs once; loads are sorted by link.
struct Phase {
  Time latency;
  std::vector<LinkLoad> loads;
  int stages = 1;  // that a chunk passes one after another
  Ramp ramp = {};
};

// Alone on the fabric a phase takes latency + ramp.at(bytes) + max over links of load / bandwidth.
struct CollectivePlan {
  Algorithm algorithm = Algorithm::kDirect;
  Bytes bytes;                // of the collective
  Time launch;                // fixed software cost before the first phase (Fabric::collective_launch)
  std::vector<Phase> phases;  // empty for a group of one chip, and then launch is zero
};

// Plans collectives of one group; transfers that several kinds of them have in common are planned once.
class GroupPlanner {
 public:
  // Both must outlive the planner.
  GroupPlanner(const Fabric& fabric, std::span<const ChipId> group) : fabric_(fabric), group_(group) {}

  // As the function of the same name.
  std::optional<CollectivePlan> plan_with(Algorithm algorithm, const Collective& collective);

 private:
  std::optional<std::vector<Phase>> halve_and_double(const Collective& collective);

  const Fabric& fabric_;
  std::span<const ChipId> group_;
  // The last reduce-scatter by recursive halving, of `halved_` bytes.
  std::optional<std::vector<Phase>> halving_;
  Bytes halved_;
};

// The plan of one algorithm, or nothing where it does not apply to this kind and group (for example kNvls
// across domains). REQUIRES: group has at least one chip, no repeats, all in the fabric; bytes >= 0. Any size
// and placement works for kRing (reductions and gathers) and kDirect (all-to-all, permute; send needs a group
// of two: from the first to the second). Broadcast starts at the first member.
std::optional<CollectivePlan> plan_with(Algorithm algorithm, const Fabric& fabric,
                                        const Collective& collective, std::span<const ChipId> group);

// The applicable plan of least predicted time (ties: the first in enum order).
CollectivePlan plan(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group);

// Time of a plan alone on the fabric, each phase rounded to the nearest picosecond.
Time predict(const Fabric& fabric, const CollectivePlan& plan);

// A lower bound that no plan may beat, from injection bandwidth B = the sum of a member's links in one
// direction. All-gather, reduce-scatter, all-to-all: (n-1)/n S / B of the slowest member (with receive_share
// what each sends or takes in); broadcast, send,
// permute: S / B; barrier: 0. All-reduce: the larger of 2(n-1) S / (sum of all B) and S / B of the slowest
// member, so 2(n-1)/n S / B when all are equal (a slow member may be a leaf of a tree and need not carry a
// ring's share), or S / B only where switches between members reduce.
Time lower_bound(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group);

// nccl-tests bus bandwidth for a measured or predicted time: algbw * 2(n-1)/n for all-reduce, (n-1)/n for
// gather, scatter, all-to-all; none of a barrier.
Bandwidth bus_bandwidth(const Collective& collective, int ranks, Time time);

}  // namespace podsim
