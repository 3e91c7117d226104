// Counts visits: when each begins, the fetches of how many later ones are on their way.
#include "scheduler/lowering/weight_prefetch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "engine/check.h"
#include "engine/index.h"
#include "workload/job/stack.h"

namespace podsim {
namespace {

constexpr int kHostDepth = 1;  // visits that a copy from the host is ahead of its use

int depth_of(const Visit& visit, int forward, int backward) {
  if (visit.interleaved) return 0;
  return visit.pass == Pass::kForward ? forward : backward;
}

}  // namespace

WeightPrefetch::WeightPrefetch(PartLowering& parts, const PassBlocks& blocks, const Stack& stack,
                               std::vector<Visit> visits)
    : parts_(parts), stack_(stack), visits_(std::move(visits)) {
  if (blocks.gather_weights())
    gathers_ =
        launched(stack.prefetch_forward, stack.prefetch_backward, std::vector<int>(visits_.size(), -1));
  if (blocks.copy_from_host()) copies_ = launched(kHostDepth, kHostDepth, behind_forward_visits());
}

// [visit] the one behind that of the same microbatch and piece in the forward direction; -1 for forward
// visits.
std::vector<int> WeightPrefetch::behind_forward_visits() const {
  std::vector<int> behind(visits_.size(), -1);
  std::map<std::pair<int, int>, std::vector<int>> open;  // those whose backward pass is still to come
  for (std::size_t v = 0; v < visits_.size(); ++v) {
    const Visit& visit = visits_[v];
    if (visit.pass == Pass::kWeightGradient) continue;
    std::vector<int>& pieces = open[{visit.microbatch, visit.chunk}];
    if (visit.pass == Pass::kForward) {
      pieces.push_back(static_cast<int>(v));
    } else {
      PODSIM_CHECK(!pieces.empty(), "a backward pass follows its forward pass");
      behind[v] = pieces.back() + 1;
      pieces.pop_back();
    }
  }
  return behind;
}

// Fetches of visit v are launched when visit `when` begins, at the latest its own. Behind those of a visit
// that launches its own at their use come no others.
WeightPrefetch::Launched WeightPrefetch::launched(int forward_depth, int backward_depth,
                                                  const std::vector<int>& not_before) const {
  Launched launched(visits_.size() + 1, 0);
  int when = -1;
  for (int v = 0; v < static_cast<int>(visits_.size()); ++v) {
    const int depth = depth_of(visits_[at(v)], forward_depth, backward_depth);
    when = std::max({when, v - depth, not_before[at(v)]});
    launched[at(when + 1)] = v + 1;
    if (depth == 0) ++when;
  }
  for (std::size_t v = 1; v < launched.size(); ++v) launched[v] = std::max(launched[v], launched[v - 1]);
  return launched;
}

void WeightPrefetch::begin_step() {
  for (int v = 0; v < by(gathers_, 0); ++v) parts_.launch_gathers(visits_[at(v)]);
  for (int v = 0; v < by(copies_, 0); ++v) parts_.launch_copies(parts_.block(visits_[at(v)]));
}

Ahead WeightPrefetch::begin_visit(int v) {
  Ahead ahead;
  ahead.own_gathers = depth_of(visits_[at(v)], stack_.prefetch_forward, stack_.prefetch_backward) > 0;
  for (int due = by(gathers_, v); due < by(gathers_, v + 1); ++due)
    if (due > v || ahead.own_gathers) parts_.launch_gathers(visits_[at(due)]);
  for (int later = v + 1; later < by(gathers_, v + 1); ++later)
    ahead.gathers += count_gathers(parts_.block(visits_[at(later)]));
  for (int due = by(copies_, v); due < by(copies_, v + 1); ++due)
    parts_.launch_copies(parts_.block(visits_[at(due)]));
  for (int later = v + 1; later < by(copies_, v + 1); ++later)
    ahead.copies += count_copies(parts_.block(visits_[at(later)]));
  return ahead;
}

std::vector<std::int32_t> WeightPrefetch::shape(int first, int count) const {
  std::vector<std::int32_t> shape;
  const int end = first + count;
  for (const Launched& launched : {std::cref(gathers_), std::cref(copies_)})
    for (int v = first; v <= end && !launched.empty(); ++v) shape.push_back(by(launched, v) - v);
  for (int later = end; later < std::max(by(gathers_, end), by(copies_, end)); ++later) {
    shape.push_back(visits_[at(later)].part);
    shape.push_back(static_cast<std::int32_t>(visits_[at(later)].pass));
  }
  return shape;
}

}  // namespace podsim
