// Follows hops up to the first switch above both ends, and adds up what comes to each switch.
#include "collectives/ring_trunks.h"

#include <algorithm>
#include <tuple>

#include "topology/switch_runs.h"

namespace podsim {

void RingTrunks::cross(std::size_t t, NodeId first, std::int32_t switches, std::int64_t hops, bool down) {
  if (switches == 0) return;
  const RegularTree::Tier& tier = tree_.tier(t);
  const std::int32_t rail = (first - tier.first) % tier.in_set, at = (first - tier.first) / tier.in_set;
  for (const bool way : {down, !down}) {
    steps_.push_back({t, way, rail, at, hops});
    steps_.push_back({t, way, rail, at + switches, -hops});
    if (!both_ways_) break;
  }
}

void RingTrunks::add(ChipId from, ChipId to) {
  NodeId a = tree_.above(0, from), b = tree_.above(0, to);
  for (std::size_t t = 0; a != b; ++t) {
    cross(t, a, 1, 1, false);
    cross(t, b, 1, 1, true);
    a = tree_.parent(t, a);
    b = tree_.parent(t, b);
  }
}

void RingTrunks::add_series(ChipId from, ChipId to, std::int32_t hops, ChipId stride) {
  if (hops <= 0) return;
  if (tree_.rails_stay_together() && tree_.chips_below(0) % stride == 0) {
    add_regular(from, to, hops, stride);
    return;
  }
  for (std::int32_t i = 0; i < hops; ++i) add(from + i * stride, to + i * stride);
}

// Strides that begin where leaves may: hops inside them are alike, and so are those to the next one where it
// has another rail. Else those go up that leave the last stride below a switch.
void RingTrunks::add_regular(ChipId from, ChipId to, std::int32_t hops, ChipId stride) {
  const bool to_next = to / stride != from / stride;
  const ChipId last = to + (hops - 1) * stride;
  for (std::size_t t = 0; tree_.tier(t).leads_up; ++t) {
    const NodeId first = tree_.above(t, from), after = tree_.above(t, last);
    const bool one_rail = tree_.above(t, to - (to_next ? stride : 0)) == first;
    if (!one_rail) {
      for (const SwitchRun& run : switches_above(tree_, t, from, hops, stride))
        cross(t, run.first, run.switches, run.chips, false);
      for (const SwitchRun& run : switches_above(tree_, t, to, hops, stride))
        cross(t, run.first, run.switches, run.chips, true);
      continue;
    }
    if (!to_next || first == after) return;
    const std::int32_t in_set = tree_.tier(t).in_set, borders = (after - first) / in_set;
    cross(t, first, borders, 1, false);
    cross(t, first + in_set, borders, 1, true);
  }
}

void RingTrunks::add_ring(const StridedGroup& group, std::size_t members, bool closes_aside) {
  const std::vector<ChipId>&starts = group.starts(), &offsets = group.offsets();
  const ChipId stride = group.stride(), last_row = (group.rows() - 1) * stride;
  const std::size_t last_domain = offsets.size() - members;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    for (std::size_t i = 0; i < last_domain; ++i)
      add_series(starts[s] + offsets[i], starts[s] + offsets[i + members], group.rows(), stride);
    for (std::size_t m = 0; m < members; ++m) {
      const ChipId from = starts[s] + offsets[last_domain + m];
      add_series(from, starts[s] + stride + offsets[m], group.rows() - 1, stride);
      const bool closing = s + 1 == starts.size();
      const ChipId first = starts[closing ? 0 : s + 1];
      add(from + last_row, first + offsets[closing && closes_aside ? (m + 1) % members : m]);
    }
  }
}

std::vector<AlikeTrunks> RingTrunks::take() {
  const auto place = [](const Step& step) { return std::tuple(step.tier, step.down, step.rail, step.at); };
  std::ranges::sort(steps_, {}, place);
  std::vector<AlikeTrunks> alike;
  std::int64_t hops = 0;
  std::int32_t from = 0;  // where it became as many
  for (auto step = steps_.begin(); step != steps_.end();) {
    const Step& here = *step;
    const std::int64_t before = hops;
    for (; step != steps_.end() && place(*step) == place(here); ++step) hops += step->more;
    if (hops == before) continue;
    const RegularTree::Tier& tier = tree_.tier(here.tier);
    if (before > 0)
      alike.push_back(
          {here.tier, here.down, tier.first + from * tier.in_set + here.rail, here.at - from, before});
    from = here.at;
  }
  steps_.clear();
  return alike;
}

}  // namespace podsim
