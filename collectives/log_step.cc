// Log-step gather and scatter for any group size: ceil(log2 n) steps, far ranks first with little data (as
// NCCL's PAT, "parallel aggregated trees").
#include <bit>

#include "collectives/algorithms.h"
#include "engine/check.h"

namespace podsim {

// Before the step of distance d a rank holds the parts of the ranks 0, 2d, 4d, ... behind it, and passes them
// d ahead. Every number from 1 to n - 1 has one lowest bit, so each part comes once.
std::size_t log_step_parts(std::size_t ranks, std::size_t distance) {
  PODSIM_CHECK(distance > 0 && distance < ranks, "a rank passes parts to another one");
  return (ranks - distance + 2 * distance - 1) / (2 * distance);
}

namespace {

// Leaves the sum empty, as it must find it.
Phase shift_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> ranks, std::size_t distance,
                  std::size_t count, LoadSum& sum) {
  for (std::size_t i = 0; i < count; ++i)
    sum.add(fabric, ranks[i], ranks[(i + distance) % ranks.size()], 1.0);
  const Time latency = sum.longest_latency();
  return {latency, sum.loads(bytes)};
}

// Only what the first `count` ranks send is counted.
std::optional<Phases> gather_in_log_steps(const Fabric& fabric, const Collective& collective,
                                          std::span<const ChipId> group, std::size_t count,
                                          const AlikeSlices* slices = nullptr) {
  if (ring_passes(collective.kind) == 0) return std::nullopt;
  std::vector<ChipId> ranks(group.begin(), group.end());
  if (fabric.gpus_per_domain > 1) ranks = cut_at_domains(fabric, group).chips;
  const std::size_t n = ranks.size();
  Phases gather;
  LoadSum sum(slices);
  for (std::size_t distance = std::bit_ceil(n) / 2; distance > 0; distance /= 2) {
    const double parts = static_cast<double>(log_step_parts(n, distance));
    gather.push_back(shift_phase(fabric, collective.bytes * (parts / static_cast<double>(n)), ranks, distance,
                                 count, sum));
  }
  if (collective.kind == CollectiveKind::kAllGather) return gather;
  // A scatter is a gather backwards, with the data going the other way round on the same cables.
  Phases scatter(gather.rbegin(), gather.rend());
  if (collective.kind == CollectiveKind::kAllReduce)
    scatter.insert(scatter.end(), gather.begin(), gather.end());
  return scatter;
}

}  // namespace

std::optional<Phases> plan_log_step(const Fabric& fabric, const Collective& collective,
                                    std::span<const ChipId> group) {
  return gather_in_log_steps(fabric, collective, group, group.size());
}

std::optional<Phases> outline_log_step(const Fabric& fabric, const Collective& collective,
                                       std::span<const ChipId> group) {
  return gather_in_log_steps(fabric, collective, group, 1);
}

std::optional<Phases> log_step_in_one_slice(const Fabric& fabric, const Collective& collective,
                                            std::span<const ChipId> group, const AlikeSlices& slices) {
  return gather_in_log_steps(fabric, collective, group, slices.ranks_in_first(group), &slices);
}

}  // namespace podsim
