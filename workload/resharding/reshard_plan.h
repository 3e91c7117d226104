// The cheapest steps that take a tensor from one layout to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "workload/mesh/layout.h"
#include "workload/resharding/cost_model.h"

namespace podsim {

enum class StepKind : std::uint8_t {
  kSlice,          // no communication: unused axes appended to dimensions, or turned into a partial sum
  kPermute,        // any rearrangement that keeps the shards of every dimension and the partial sums
  kAllToAll,       // trailing axes move to the end of other dimensions
  kAllGather,      // trailing axes leave
  kReduceScatter,  // unreduced axes become trailing axes
  kAllReduce,      // unreduced axes are summed
  kHalo,           // a slab to the neighbour along one dimension
  kCompute,        // the operation itself; only in listings
};

// Where a plan may split axes.
enum class AxisSplit : std::uint8_t {
  kAsLaidOut,  // where one of the two layouts does
  kByFactors   // there, and into factors where sizes must match
};

struct PlanStep {
  StepKind kind = StepKind::kSlice;
  AxisList axes = {};  // gathered, moved, sliced, scattered or reduced; the halo's axis
  std::vector<int> from_dims = {}, to_dims = {};
  Layout after = {};
  int count = 1;
  Bytes operand = {}, result = {}, sent = {};  // per device and execution; padded local shapes
  int halo_dim = -1;                           // kHalo
  bool halo_left = false;
  std::int64_t halo_width = 0;
  int halo_distance = 1;  // shards away
};

// The collective that carries a step; nothing for a slice or the computation. A halo is a permute.
std::optional<CollectiveKind> collective_of(StepKind kind);
// Bytes in the convention of Collective::bytes.
Bytes collective_bytes(const PlanStep& step);
PlanCost step_cost(const PlanStep& step, const CostModel& cost);

inline constexpr std::size_t kFineAtoms = 12;  // more atoms are not cut further than the layouts cut them
inline constexpr int kMostMoves = 10'000;      // looked at from either end of one search

// REQUIRES: layouts valid on the mesh, of the tensor's rank. Axes of `to.unreduced` that `from` does not have
// unreduced become so by slicing (the value is kept on one shard, zero elsewhere). The result is the cheapest
// of all plans with slices, all-to-alls, gathers, reductions and at most one permute over axes that are split
// as `split` allows; deterministic. Where all plans cost `give_up_at` or more, some plan.
// The search is exact for what occurs, but for two tricks: by time, axes at the bottom of a dimension in both
// layouts are not gathered to be cut again; and partial sums are made by zero padding only where `to` wants
// them, never on the way, nor are sums that `to` wants reduced in between. Beyond kFineAtoms axes are split
// only as the layouts do; beyond kAnyLabelOrder (reshard_moves.h), axes that wait on a dimension do so in one
// order only; when kMostMoves have been looked at the best so far stands; beyond kMaxLabels atoms or kMaxDims
// cut dimensions (reshard_space.h) all that differs is gathered and sliced.
std::vector<PlanStep> plan_reshard(const Mesh& mesh, const TensorShape& shape, const Layout& from,
                                   const Layout& to, const CostModel& cost,
                                   AxisSplit split = AxisSplit::kByFactors,
                                   double give_up_at = std::numeric_limits<double>::infinity());

PlanCost total_cost(const std::vector<PlanStep>& steps, const CostModel& cost);

}  // namespace podsim
