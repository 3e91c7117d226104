// Protocols of a library put on top of the plan of an algorithm.
#include "collectives/library.h"

#include <algorithm>
#include <bit>

#include "collectives/algorithms.h"
#include "engine/check.h"
#include "engine/time_limits.h"

namespace podsim {
namespace {

// Hops that a part of the message makes one after another, and the stages that its first chunk fills.
struct Steps {
  int inside = 0, across = 0;  // over links of a domain, and over the network
  int stages = 1;
};

int depth(int ranks) { return ranks > 1 ? tree_depth(static_cast<std::size_t>(ranks)) : 0; }

// Up and down a tree, or down only.
int ways(CollectiveKind kind) { return kind == CollectiveKind::kBroadcast ? 1 : 2; }

// A ring passes every domain once a round, and so do the rings that a hierarchy has inside domains: a library
// gathers there as it gathers in one domain alone. A tree runs down the members of a domain as a chain; a
// switch that reduces is one hop away from all.
Steps steps_of(CollectiveKind kind, Algorithm algorithm, const GroupShape& shape) {
  const bool crosses = shape.domains > 1;
  switch (algorithm) {
    case Algorithm::kRing:
    case Algorithm::kBidirectionalRing: {
      const int passes = std::max(1, ring_passes(kind)), steps = passes * (shape.ranks - 1);
      const int across = crosses ? std::min(steps, passes * shape.domains) : 0;
      return {steps - across, across, 1};
    }
    case Algorithm::kTree: {
      const int across = ways(kind) * depth(shape.domains);
      return {ways(kind) * (shape.members - 1), across, across + (shape.members > 1 ? 2 : 0)};
    }
    case Algorithm::kNvls:
      return {1, 0, 2};
    case Algorithm::kNvlsTree:
      return {2, 2 * depth(shape.domains), 2 + 2 * depth(shape.domains)};
    case Algorithm::kSharp:
      return {shape.members > 1 ? 2 : 0, 2, shape.members > 1 ? 4 : 2};
    case Algorithm::kHierarchical:
      if (kind == CollectiveKind::kAllToAll) return {1, 1, 1};
      return {ring_passes(kind) * (shape.members - 1), ring_passes(kind) * (shape.domains - 1), 1};
    case Algorithm::kHalvingDoubling:
    case Algorithm::kLogStep: {
      const int steps = std::max(1, ring_passes(kind)) * depth(shape.ranks);
      return crosses ? Steps{0, steps, 1} : Steps{steps, 0, 1};
    }
    default:
      return crosses ? Steps{0, 1, 1} : Steps{1, 0, 1};
  }
}

// From that of small messages to that of large ones.
std::span<const Protocol> protocols_of(CollectiveKind kind, Algorithm algorithm) {
  static constexpr Protocol kInSteps[] = {Protocol::kLl, Protocol::kLl128, Protocol::kSimple};
  static constexpr Protocol kAtOnce[] = {Protocol::kExchangeLl, Protocol::kExchange};
  static constexpr Protocol kReduced[] = {Protocol::kReduction};
  switch (algorithm) {
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
    case Algorithm::kSharp:
      return kReduced;
    case Algorithm::kDirect:
      return kAtOnce;
    default:
      if (kind == CollectiveKind::kAllToAll) return kAtOnce;
      return kInSteps;
  }
}

// Of equal links the one that carries most in a phase.
struct Busiest {
  LinkKind kind;
  double bandwidth, bytes;
};

// Of the links of a phase: where nearly all are of a few kinds and rates, those of these.
std::vector<Busiest> busiest_of(const Fabric& fabric, const Phase& phase) {
  constexpr std::size_t kFew = 8;
  std::vector<Busiest> busiest;
  for (const LinkLoad& load : phase.loads) {
    const Link& link = fabric.cable(load.link);
    const auto end = busiest.begin() + static_cast<std::ptrdiff_t>(std::min(kFew, busiest.size()));
    const auto equal = std::find_if(busiest.begin(), end, [&](const Busiest& other) {
      return other.kind == link.kind && other.bandwidth == link.bandwidth.value;
    });
    if (equal == end)
      busiest.push_back({link.kind, link.bandwidth.value, load.bytes});
    else
      equal->bytes = std::max(equal->bytes, load.bytes);
  }
  return busiest;
}

// What is the same of all protocols of a plan.
struct Carried {
  const LibrarySpec& library;
  CollectiveKind kind;
  const CollectivePlan& plan;
  std::vector<std::vector<Busiest>> busiest;  // [phase]
  GroupShape shape;
  Steps steps;

  bool streams_flags(Protocol protocol) const {
    return plan.algorithm == Algorithm::kTree && (protocol == Protocol::kLl || protocol == Protocol::kLl128);
  }
};

// With flags in the data a tree passes on what has come, hop by hop, and each hop costs a step: chunks of any
// size.
constexpr Bytes kLongestStream = {1 << 30};

// The way of the largest chunk through all stages (docs/theory/model.md, section 2).
ChunkRamp filled(int stages, Bytes chunk, Time overhead, double s_per_byte) {
  const double fill_s = stages * chunk.value * s_per_byte;
  if (fill_s <= 0 || overhead == Time{}) return {};
  return {capped_seconds(fill_s), chunk * (fill_s / overhead.in_seconds())};
}

// Of the plan's bytes on its busiest links, per byte of the message.
double seconds_per_byte(const Carried& of, Protocol protocol) {
  if (of.plan.bytes.value <= 0) return 0;
  double sum = 0;
  for (const std::vector<Busiest>& phase : of.busiest) {
    double busiest_s = 0;
    for (const Busiest& link : phase)
      busiest_s = std::max(busiest_s,
                           link.bytes / (link.bandwidth * share_sustained(of.library, protocol, link.kind)));
    sum += busiest_s;
  }
  return sum / of.plan.bytes.value;
}

Time fixed_of(const Carried& of, Protocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  const ProtocolSpec &inside = of.library.domain[p], &across = of.library.network[p];
  Time fixed = capped_times(of.steps.inside, of.shape.inside + inside.step) +
               capped_times(of.steps.across, of.shape.across + across.step);
  if (of.shape.members > 1) fixed += inside.setup;
  if (of.shape.domains > 1) fixed += across.setup;
  return fixed;
}

// A rank takes in the last part when no link waits for it. With flags in the data that is as much work as
// passing a part on. What a switch reduces comes as it is; but where domains are joined, each member hands
// its part of the sum to the network and back. Of a broadcast, which streams from rank to rank, one chunk
// alone comes last.
double landing_seconds_per_byte(const Carried& of, Protocol protocol, double on_links) {
  if (of.library.landing.value <= 0 || of.kind == CollectiveKind::kBroadcast) return 0;
  switch (protocol) {
    case Protocol::kLl:
    case Protocol::kLl128:
      return on_links / std::max(1, of.steps.inside + of.steps.across);
    case Protocol::kReduction:
      return of.shape.domains > 1 ? 1 / (of.shape.members * of.library.landing.value) : 0;
    default:
      return 1 / (of.shape.ranks * of.library.landing.value);
  }
}

// Chunks are those of the domains, or of the network where a domain has one member; where both are passed, so
// are the overheads.
ProtocolRamp protocol_ramp(const Carried& of, Protocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  const ProtocolSpec &spec = of.shape.members > 1 ? of.library.domain[p] : of.library.network[p],
                     &across = of.library.network[p];
  ProtocolRamp ramp = {
      .fixed = fixed_of(of, protocol), .s_per_byte = seconds_per_byte(of, protocol), .chunks = {}};
  const int pieces = protocol == Protocol::kReduction ? of.shape.members : 1;
  const Bytes chunk = spec.chunk * pieces;
  Time overhead = std::int64_t{pieces} * spec.chunk_overhead;
  if (of.shape.members > 1 && of.shape.domains > 1) overhead += across.chunk_overhead;
  // A reduction has no other protocol for what is small, so that its first chunk waits in every stage.
  if (protocol == Protocol::kReduction) ramp.fixed += std::int64_t{of.steps.stages} * overhead;
  ramp.chunks = filled(of.steps.stages, chunk, overhead, ramp.s_per_byte);
  if (of.streams_flags(protocol))
    ramp.chunks = filled(of.steps.inside + of.steps.across, kLongestStream, spec.step, ramp.s_per_byte);
  ramp.s_per_byte += landing_seconds_per_byte(of, protocol, ramp.s_per_byte);
  return ramp;
}

bool runs(const Carried& of, Protocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  return (of.shape.members == 1 || of.library.domain[p].efficiency > 0) &&
         (of.shape.domains == 1 || of.library.network[p].efficiency > 0);
}

}  // namespace

bool is_offered(const LibrarySpec& library, CollectiveKind kind, Algorithm algorithm) {
  bool names_others = false;
  for (const LibrarySpec::Offer& offer : library.offers) {
    if (offer.kind != to_string(kind)) continue;
    if (offer.algorithm == to_string(algorithm)) return true;
    names_others = true;
  }
  return !names_others && algorithm != Algorithm::kLogStep;
}

Protocol protocol_of_largest(CollectiveKind kind, Algorithm algorithm) {
  return protocols_of(kind, algorithm).back();
}

double share_sustained(const LibrarySpec& library, Protocol protocol, LinkKind kind) {
  const auto p = static_cast<std::size_t>(protocol);
  const auto share = [](double efficiency) { return efficiency > 0 ? efficiency : 1; };
  switch (kind) {
    case LinkKind::kNvlink:
      return share(library.domain[p].efficiency);
    case LinkKind::kNic:
    case LinkKind::kTrunk:
      return share(library.network[p].efficiency);
    default:
      return 1;
  }
}

GroupShape shape_of(const Fabric& fabric, std::span<const ChipId> group) {
  const Blocks blocks = cut_at_domains(fabric, group);
  GroupShape shape{static_cast<int>(group.size()), blocks.count(), 1, {}, {}};
  const auto latency = [&](ChipId from, ChipId to) { return route_latency(fabric, route(fabric, from, to)); };
  // Below a tree of switches the farthest from any one chip is as far as two of them can be; the lowest chip,
  // whatever the order in which a group names its own.
  ChipId lowest = group[0];
  for (int b = 0; b < blocks.count(); ++b) lowest = std::min(lowest, blocks[b][0]);
  for (int b = 0; b < blocks.count(); ++b) {
    shape.members = std::max(shape.members, static_cast<int>(blocks[b].size()));
    if (shape.inside == Time{} && blocks[b].size() > 1) shape.inside = latency(blocks[b][0], blocks[b][1]);
    if (blocks[b][0] != lowest) shape.across = std::max(shape.across, latency(lowest, blocks[b][0]));
  }
  return shape;
}

CollectivePlan over_library(const LibrarySpec& library, const Fabric& fabric, const GroupShape& shape,
                            const Collective& collective, CollectivePlan plan) {
  PODSIM_CHECK(!plan.phases.empty(), "a plan over a library has phases");
  std::vector<std::vector<Busiest>> busiest;
  for (const Phase& phase : plan.phases) busiest.push_back(busiest_of(fabric, phase));
  const Carried carried = {library, collective.kind,
                           plan,    std::move(busiest),
                           shape,   steps_of(collective.kind, plan.algorithm, shape)};
  const auto protocols = protocols_of(collective.kind, plan.algorithm);
  const double of_largest = seconds_per_byte(carried, protocols.back());
  Ramp ramp;
  for (const Protocol protocol : protocols) {
    if (!runs(carried, protocol) && protocol != protocols.back()) continue;
    ProtocolRamp one = protocol_ramp(carried, protocol);
    // Links carry every size at the rate of the largest; a protocol of small messages gains nothing on that.
    one.s_per_byte = std::max(0.0, one.s_per_byte - of_largest);
    ramp.add(one);
  }
  Time least = ramp.of[0].fixed;
  for (const ProtocolRamp& one : ramp.protocols()) least = std::min(least, one.fixed);
  for (std::size_t p = 0; p < ramp.count; ++p) ramp.of[p].fixed = ramp.of[p].fixed - least;
  const auto phases = static_cast<std::int64_t>(plan.phases.size());
  for (Phase& phase : plan.phases) {
    phase.latency = {least.ps / phases};
    for (LinkLoad& load : phase.loads)
      load.bytes /= share_sustained(library, protocols.back(), fabric.cable(load.link).kind);
  }
  plan.phases.front().latency = {least.ps - (phases - 1) * (least.ps / phases)};
  plan.phases.front().ramp = ramp;
  return plan;
}

}  // namespace podsim
