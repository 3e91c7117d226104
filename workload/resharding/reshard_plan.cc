// The cheapest steps that take a tensor from one layout to another.
#include "workload/resharding/reshard_plan.h"

#include <algorithm>
#include <numeric>

#include "engine/check.h"
#include "engine/index.h"
#include "workload/resharding/reshard_search.h"

namespace podsim {
namespace {

// A bound that is met to this share is met: values are sums of fractions.
constexpr double kCostRounding = 1e-12;

bool equal(const Layout& a, const Layout& b) {
  for (std::size_t d = 0; d < a.dims.size(); ++d)
    if (merged(a.dims[d]) != merged(b.dims[d])) return false;
  return canonical(a.unreduced) == canonical(b.unreduced);
}

void fill_bytes(PlanStep& step, Bytes before, Bytes after) {
  step.operand = before;
  step.result = after;
  if (const auto kind = collective_of(step.kind))
    step.sent = sent_bytes(*kind, shard_count(step.axes), collective_bytes(step));
}

// Dimensions of the search: those that layouts cut, then the longest others, on which axes may wait.
std::vector<int> searched_dims(const TensorShape& shape, const Layout& from, const Layout& to) {
  std::vector<int> dims(shape.dims.size());
  std::iota(dims.begin(), dims.end(), 0);
  const auto cut = [&](int d) { return !from.dims[at(d)].empty() || !to.dims[at(d)].empty(); };
  std::stable_sort(dims.begin(), dims.end(), [&](int a, int b) {
    if (cut(a) != cut(b)) return cut(a);
    return local_size(shape.dims[at(a)], {}) > local_size(shape.dims[at(b)], {});
  });
  const auto used = static_cast<std::size_t>(std::count_if(dims.begin(), dims.end(), cut));
  dims.resize(std::min(dims.size(), std::max<std::size_t>(used, kMaxDims)));
  std::sort(dims.begin(), dims.end());
  return dims;
}

// Where there are too many pieces of axes for a search: reduces, gathers all that differs, and slices.
std::vector<PlanStep> gather_and_slice(const TensorShape& shape, const Layout& from, const Layout& to) {
  std::vector<PlanStep> steps;
  Layout now = from;
  const auto add = [&](StepKind kind, AxisList axes, const Layout& next) {
    if (axes.empty()) return;
    PlanStep step{.kind = kind, .axes = canonical(std::move(axes)), .after = next};
    fill_bytes(step, local_bytes(shape, now), local_bytes(shape, next));
    steps.push_back(std::move(step));
    now = next;
  };
  Layout next = now;
  next.unreduced = without(from.unreduced, without(from.unreduced, to.unreduced));
  add(StepKind::kAllReduce, without(from.unreduced, to.unreduced), next);
  AxisList gone, back = without(to.unreduced, from.unreduced);
  std::vector<int> from_dims, to_dims;
  for (std::size_t d = 0; d < now.dims.size(); ++d) {
    std::size_t same = 0;
    while (same < from.dims[d].size() && same < to.dims[d].size() && from.dims[d][same] == to.dims[d][same])
      ++same;
    const auto tail = static_cast<std::ptrdiff_t>(same);
    next.dims[d].resize(same);
    gone.insert(gone.end(), from.dims[d].begin() + tail, from.dims[d].end());
    back.insert(back.end(), to.dims[d].begin() + tail, to.dims[d].end());
    if (same < from.dims[d].size()) from_dims.push_back(static_cast<int>(d));
    if (same < to.dims[d].size()) to_dims.push_back(static_cast<int>(d));
  }
  add(StepKind::kAllGather, gone, next);
  if (!gone.empty()) steps.back().from_dims = from_dims;
  add(StepKind::kSlice, back, to);
  if (!back.empty()) steps.back().to_dims = to_dims;
  return steps;
}

// No dimension loses labels and gains others.
bool one_way(const PileState& before, const PileState& after) {
  for (int d = 0; d < kSums; ++d) {
    const Pile a = before.at[at(d)], b = after.at[at(d)];
    const int more = height(b) - height(a);
    if (more >= 0 ? b >> (4 * more) != a : a >> (-4 * more) != b) return false;
  }
  return true;
}

// Consecutive slices become one where one can do it.
Path tidy(const PileState& from, const Path& path) {
  Path tidied;
  PileState before = from;  // the last step of `tidied`
  for (const PathStep& step : path) {
    const bool slices =
        !tidied.empty() && step.kind == StepKind::kSlice && tidied.back().kind == StepKind::kSlice;
    if (slices && one_way(before, step.after)) {
      tidied.back() = step;
      continue;
    }
    if (!tidied.empty()) before = tidied.back().after;
    tidied.push_back(step);
  }
  return tidied;
}

PlanStep written(const TensorShape& shape, const ReshardSpace& space, const PileState& before,
                 const PathStep& step, const Layout& layout) {
  PlanStep plan{.kind = step.kind, .after = space.layout_of(step.after, layout)};
  Pile labels = taken(space, before, step);
  for (int d = 0; d < space.dims(); ++d) {
    const Pile old = before.at[at(d)], next = step.after.at[at(d)];
    if (step.kind == StepKind::kPermute || old == next) continue;
    (height(next) < height(old) ? plan.from_dims : plan.to_dims).push_back(space.tensor_dim(d));
    if (step.kind != StepKind::kSlice) continue;
    for (int i = height(old); i < height(next); ++i) labels = inserted(labels, at_depth(next, i));
  }
  if (step.kind == StepKind::kSlice) {
    for (Pile more = difference(step.after.at[kSums], before.at[kSums]); more != 0; more = popped(more))
      if (difference(inserted(0, top(more)), labels) != 0) labels = inserted(labels, top(more));
  }
  plan.axes = space.axes_of(labels);
  fill_bytes(plan, local_bytes(shape, layout), local_bytes(shape, plan.after));
  return plan;
}

struct Cheapest {
  std::vector<PlanStep> steps;
  PathCost cost;
};

Cheapest plan_over(const std::vector<AxisRef>& atoms, const TensorShape& shape, const std::vector<int>& dims,
                   const Layout& from, const Layout& to, const CostModel& cost, double give_up_at) {
  const ReshardSpace space(shape, dims, atoms, cost);
  const PileState start = space.state_of(from), goal = space.state_of(to);
  Path path = greedy_path(space, start, goal);
  const PathCost first = path_cost(space, start, path);
  const double bound = space.at_least(space.bytes_missing(start, goal));
  const bool proven =
      first.collectives == 0 || (first.collectives <= 2 && first.value <= bound * (1 + kCostRounding));
  if (!proven && std::max(bound, space.at_least_between(start, goal)) < give_up_at)
    path = cheapest_path(space, start, goal, std::move(path), give_up_at, kMostMoves);
  path = tidy(start, path);
  Cheapest plan{.steps = {}, .cost = path_cost(space, start, path)};
  PileState before = start;
  Layout layout = from;
  for (const PathStep& step : path) {
    plan.steps.push_back(written(shape, space, before, step, layout));
    before = step.after;
    layout = plan.steps.back().after;
  }
  return plan;
}

}  // namespace

std::vector<PlanStep> plan_reshard(const Mesh& mesh, const TensorShape& shape, const Layout& from,
                                   const Layout& to, const CostModel& cost, AxisSplit split,
                                   double give_up_at) {
  PODSIM_CHECK(from.dims.size() == shape.dims.size() && to.dims.size() == shape.dims.size(),
               "layouts are of the tensor's rank");
  if (equal(from, to)) return {};
  const std::vector<int> dims = searched_dims(shape, from, to);
  const auto cut = [&](AtomCut by) { return cut_into_atoms(mesh, from, to, by); };
  std::vector<AxisRef> atoms;
  if (split == AxisSplit::kByFactors) atoms = cut(AtomCut::kSmallFactorsMajor);
  const bool fine = split == AxisSplit::kByFactors && atoms.size() <= kFineAtoms;
  if (!fine) atoms = cut(AtomCut::kAsLaidOut);
  if (atoms.size() > kMaxLabels) {
    const AxisList used = [&] {
      AxisList all = from.sharded();
      for (const AxisList& list : {from.unreduced, to.sharded(), to.unreduced})
        all.insert(all.end(), list.begin(), list.end());
      return all;
    }();
    std::erase_if(atoms, [&](const AxisRef& atom) { return !overlap(AxisList{atom}, used); });
  }
  if (atoms.size() > kMaxLabels || dims.size() > kMaxDims) return gather_and_slice(shape, from, to);
  Cheapest best = plan_over(atoms, shape, dims, from, to, cost, give_up_at);
  // Of an axis of unequal factors either may be the minor one.
  if (const auto other = fine ? cut(AtomCut::kLargeFactorsMajor) : atoms; other != atoms) {
    Cheapest plan = plan_over(other, shape, dims, from, to, cost, give_up_at);
    if (PathOrder(best.cost).key(plan.cost) < PathOrder(best.cost).key(best.cost)) best = std::move(plan);
  }
  if (!best.steps.empty()) best.steps.back().after = to;
  return best.steps;
}

}  // namespace podsim
