// One function per collective algorithm: the phases of a collective on a group; used only inside this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/blocks.h"
#include "collectives/collective.h"
#include "collectives/load_sum.h"
#include "engine/time_limits.h"
#include "topology/gather_loads.h"

namespace podsim {

using Phases = std::vector<Phase>;

// So many times a latency, kTooLongForAStep at most. REQUIRES: both are at least 0.
inline Time capped_times(std::int64_t times, Time latency) {
  const Int128 product = static_cast<Int128>(times) * latency.ps;
  return product < kTooLongForAStep.ps ? Time{static_cast<std::int64_t>(product)} : kTooLongForAStep;
}

// A braced list would copy the loads.
inline Phases alone(Phase phase) {
  Phases phases;
  phases.push_back(std::move(phase));
  return phases;
}

// Each returns nothing where the algorithm does not apply. REQUIRES: at least two chips, no repeats.
std::optional<Phases> plan_ring(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group);
std::optional<Phases> plan_bidirectional_ring(const Fabric& fabric, const Collective& collective,
                                              std::span<const ChipId> group);
std::optional<Phases> plan_torus(const Fabric& fabric, const Collective& collective,
                                 std::span<const ChipId> group);
std::optional<Phases> plan_tree(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group);
std::optional<Phases> plan_hierarchical(const Fabric& fabric, const Collective& collective,
                                        std::span<const ChipId> group);
std::optional<Phases> plan_halving_doubling(const Fabric& fabric, const Collective& collective,
                                            std::span<const ChipId> group);
// The reduction or gather of which `halving` is the reduce-scatter by recursive halving: doubling is halving
// backwards. Nothing for other kinds.
std::optional<Phases> from_halving(CollectiveKind kind, Phases halving);
std::optional<Phases> plan_nvls(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group);
std::optional<Phases> plan_nvls_tree(const Fabric& fabric, const Collective& collective,
                                     std::span<const ChipId> group);
// How many of all parts of a gather a rank passes to the one `distance` ahead.
std::size_t log_step_parts(std::size_t ranks, std::size_t distance);
std::optional<Phases> plan_log_step(const Fabric& fabric, const Collective& collective,
                                    std::span<const ChipId> group);
std::optional<Phases> plan_sharp(const Fabric& fabric, const Collective& collective,
                                 std::span<const ChipId> group);
std::optional<Phases> plan_direct(const Fabric& fabric, const Collective& collective,
                                  std::span<const ChipId> group);

// Outlines: some of the transfers of a plan, with the same phases. Predicted to take no longer than the plan
// and far cheaper to make, so that plan() need not make plans that cannot win. Nothing where the algorithm
// does not apply.
std::optional<Phases> outline_ring(const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group);
std::optional<Phases> outline_bidirectional_ring(const Fabric& fabric, const Collective& collective,
                                                 std::span<const ChipId> group);
std::optional<Phases> outline_tree(const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group);
std::optional<Phases> outline_halving_doubling(const Fabric& fabric, const Collective& collective,
                                               std::span<const ChipId> group);

std::optional<Phases> outline_log_step(const Fabric& fabric, const Collective& collective,
                                       std::span<const ChipId> group);

// Of a group that goes on alike from slice to slice: the same phases, with the loads of one slice only.
// REQUIRES: slices.ranks_in_first(group) < group.size().
std::optional<Phases> ring_in_one_slice(const Fabric& fabric, const Collective& collective,
                                        std::span<const ChipId> group, const AlikeSlices& slices);
std::optional<Phases> bidirectional_ring_in_one_slice(const Fabric& fabric, const Collective& collective,
                                                      std::span<const ChipId> group,
                                                      const AlikeSlices& slices);
std::optional<Phases> hierarchical_in_one_slice(const Fabric& fabric, const Collective& collective,
                                                std::span<const ChipId> group, const AlikeSlices& slices);
std::optional<Phases> halving_doubling_in_one_slice(const Fabric& fabric, const Collective& collective,
                                                    std::span<const ChipId> group, const AlikeSlices& slices);
std::optional<Phases> log_step_in_one_slice(const Fabric& fabric, const Collective& collective,
                                            std::span<const ChipId> group, const AlikeSlices& slices);
std::optional<Phases> direct_in_one_slice(const Fabric& fabric, const Collective& collective,
                                          std::span<const ChipId> group, const AlikeSlices& slices);

// Times that a ring algorithm passes the data round: 2 for all-reduce (scatter, then gather), 1 for
// all-gather and reduce-scatter, 0 for every other kind. One pass of n ranks is n - 1 steps and (n - 1) / n
// of the data on each hop.
int ring_passes(CollectiveKind kind);

// The share of the data that a rank passes on: (n - 1) / n.
double passed_on(std::size_t ranks);

// One pass over the links of an NVLink domain: every member sends 1 / n of the data to each other at once, in
// one step. Behind the domain's switches that loads a member's links like a ring does, so the ring's routes
// stand for all pairs; in a mesh each pair has links of its own.
void add_domain_exchange(const Fabric& fabric, std::span<const ChipId> members, double passes, LoadSum& sum);

// What an all-reduce over domains puts on the links of one: every member's tensor up and down where its
// switches reduce, an exchange there and back otherwise.
void add_inside_all_reduce(const Fabric& fabric, std::span<const ChipId> members, LoadSum& sum);

// Adds double binary trees over member r of every block, for every rail r, each with 1 / rails of the data:
// up and down when it reduces, down from the first block otherwise. Returns the latency of the longest.
// REQUIRES: blocks.rails() > 0.
Time add_rail_trees(const Fabric& fabric, const Blocks& blocks, bool reduces, LoadSum& sum);

// Hops between the root of a double binary tree and its farthest rank. REQUIRES: ranks >= 2.
int tree_depth(std::size_t ranks);

// Of an all-reduce over double binary trees: parts of half of the data that the busiest rank sends, and as
// many that it receives. REQUIRES: ranks >= 2. O(ranks).
int busiest_in_double_tree(std::size_t ranks);

// Multi-ring over a group that fills a sub-box of one torus slice, in one phase; nothing for other groups.
std::optional<Phase> torus_phase(const Fabric& fabric, Bytes bytes, int passes,
                                 std::span<const ChipId> group);

// One logical ring (or its channels, see Algorithm::kRing) over a group, in one phase.
Phase ring_phase(const Fabric& fabric, Bytes bytes, int passes, std::span<const ChipId> group);

// All pairs at once; `bytes` is what one rank holds. With `slices` the pairs inside the first slice stand for
// those inside any.
Phase all_to_all_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> group,
                       const AlikeSlices* slices = nullptr);

// Whether that adds the pairs of a group inside one slice flow by flow, so that flows on one path can
// collide. REQUIRES: flows_collide(fabric).
bool adds_flow_by_flow(const Fabric& fabric, std::span<const ChipId> group);

// All-to-alls with unequal parts at once, among groups that share no chip.
class UnequalExchange {
 public:
  // The fabric must outlive this.
  explicit UnequalExchange(const Fabric& fabric) : fabric_(fabric), gathered_(fabric) {}

  // receive_share[j] of what each rank holds goes to rank j.
  void add(std::span<const ChipId> group, std::span<const double> receive_share);
  // `bytes` is what one rank holds.
  Phase phase(Bytes bytes);

 private:
  const Fabric& fabric_;
  GatherLoads gathered_;
  LoadSum sum_;
  Time latency_;
};

// As all_to_all_phase, with receive_share[j] of what a rank holds going to rank j. O(ranks * links), or
// O(ranks^2) routes over switches.
Phase all_to_all_v_phase(const Fabric& fabric, Bytes bytes, std::span<const double> receive_share,
                         std::span<const ChipId> group);

// The same inside equal domains, and then on each rail: every chip first gives each neighbour in its domain
// what goes to the neighbour's rail. REQUIRES: blocks.rails() > 0; the blocks are those of the group.
Phases unequal_exchange_by_rails(const Fabric& fabric, const Collective& collective, const Blocks& blocks,
                                 std::span<const ChipId> group);

// The sum of phases that run at once on groups of their own.
Phase at_once(const std::vector<Phase>& phases);

}  // namespace podsim
