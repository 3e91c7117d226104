// Channels: measured behaviour of a library by message size, put on top of the plan of an algorithm.
#include "collectives/channel.h"

#include <algorithm>
#include <bit>

#include "collectives/library.h"
#include "engine/time_limits.h"

namespace podsim {
namespace {

bool is_twisted(const Fabric& fabric, ChipId chip) {
  const TorusSlice* slice = fabric.slice_of(chip);
  return slice && slice->twist != TorusSlice{}.twist;
}

// With w = seconds per byte of the message at the sustained rate, a chunk of c bytes is c w in every stage,
// of which the overhead is no wire time.
ChunkRamp ramp_of(const Fabric& fabric, const ChannelSpec& channel, const Phase& phase, Bytes message) {
  if (channel.chunk.value <= 0 || channel.chunk_overhead == Time{} || message.value <= 0) return {};
  double busiest_s = 0;
  for (const LinkLoad& load : phase.loads)
    busiest_s = std::max(busiest_s, load.bytes / fabric.cable(load.link).bandwidth.value);
  const double overhead_s = channel.chunk_overhead.in_seconds();
  const double wire_s = channel.chunk.value * (busiest_s / message.value) - overhead_s;
  if (wire_s <= 0) return {};  // the largest chunks are no gain over small ones
  return {capped_seconds(phase.stages * wire_s), channel.chunk * (phase.stages * wire_s / overhead_s)};
}

bool spans_slices(const Fabric& fabric, std::span<const ChipId> group) {
  if (fabric.slices.size() < 2) return false;
  const auto [first, last] = std::ranges::minmax(group);
  return fabric.slice_of(first) != fabric.slice_of(last);
}

}  // namespace

bool is_considered(const Fabric& fabric, CollectiveKind kind, std::span<const ChipId> group,
                   Algorithm algorithm) {
  if (is_offered(fabric, kind, algorithm)) return true;
  return algorithm == Algorithm::kLogStep && !std::has_single_bit(group.size()) &&
         spans_slices(fabric, group) && is_offered(fabric, kind, Algorithm::kHalvingDoubling);
}

const ChannelSpec* find_channel(const Fabric& fabric, CollectiveKind kind, Algorithm algorithm, ChipId chip) {
  const ChannelSpec* best = nullptr;
  int most_particular = -1;
  for (const ChannelSpec& channel : fabric.channels) {
    const bool fits = (channel.algorithm.empty() || channel.algorithm == to_string(algorithm)) &&
                      (channel.kind.empty() || channel.kind == to_string(kind)) &&
                      (!channel.twisted || is_twisted(fabric, chip));
    const int particular = 4 * channel.twisted + 2 * !channel.algorithm.empty() + !channel.kind.empty();
    if (!fits || particular <= most_particular) continue;
    most_particular = particular;
    best = &channel;
  }
  return best;
}

double share_sustained(const Fabric& fabric, const ChannelSpec& channel, LinkKind kind) {
  switch (kind) {
    case LinkKind::kIci:
    case LinkKind::kIciOptical:
      return channel.ici_efficiency;
    case LinkKind::kNvlink:
      return channel.nvlink_efficiency;
    case LinkKind::kNic:
      return channel.nic_efficiency;
    case LinkKind::kTrunk:
      return fabric.gpus_per_domain > 0 ? channel.nic_efficiency : 1;
    default:
      return 1;
  }
}

bool is_offered(const Fabric& fabric, CollectiveKind kind, Algorithm algorithm) {
  bool names_others = false;
  for (const ChannelSpec& channel : fabric.channels) {
    const bool of_kind = channel.kind == to_string(kind);
    if (channel.algorithm == to_string(algorithm) && (of_kind || channel.kind.empty())) return true;
    names_others = names_others || (of_kind && !channel.algorithm.empty());
  }
  if (!names_others && fabric.library) return is_offered(*fabric.library, kind, algorithm);
  return !names_others && algorithm != Algorithm::kLogStep;
}

CollectivePlan over_channel(const Fabric& fabric, const Collective& collective, Algorithm algorithm,
                            std::span<const ChipId> group, Phases phases) {
  CollectivePlan made = {algorithm, collective.bytes, fabric.collective_launch, std::move(phases)};
  const ChannelSpec* channel = find_channel(fabric, collective.kind, algorithm, group[0]);
  if (made.phases.empty()) return made;
  if (!channel && fabric.library)
    return over_library(*fabric.library, fabric, shape_of(fabric, group), collective, std::move(made));
  if (!channel) return made;
  for (Phase& phase : made.phases) {
    for (LinkLoad& load : phase.loads)
      load.bytes /= share_sustained(fabric, *channel, fabric.cable(load.link).kind);
    phase.ramp.add(
        {.fixed = {}, .s_per_byte = 0, .chunks = ramp_of(fabric, *channel, phase, collective.bytes)});
  }
  made.phases.front().latency += channel->setup;
  return made;
}

}  // namespace podsim
