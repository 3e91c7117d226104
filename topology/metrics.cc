// Distances by breadth-first search and the bisection by minimum cuts.
#include "topology/metrics.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <vector>

#include "topology/fabric_graph.h"
#include "topology/min_cut.h"
#include "topology/route_parts.h"

namespace podsim {
namespace {

// The links that routes of one source may take: ICI inside its slice (within), NVLink and switches otherwise,
// where no chip relays.
struct UsableLink {
  const Fabric* fabric = nullptr;
  ChipId source = 0;
  bool within_slice = false;

  bool operator()(LinkId id) const {
    const Link& link = fabric->links[id];
    const bool is_ici = link.kind == LinkKind::kIci || link.kind == LinkKind::kIciOptical;
    if (within_slice) return is_ici;
    return !is_ici && (link.from == source || link.from >= fabric->chips);
  }
};

// hops[v] from the source, 0 where not reached.
std::vector<int> search(const UsableLink& usable) {
  std::vector<int> hops(usable.fabric->nodes.size(), 0);
  const boost::filtered_graph<Fabric, UsableLink> view(*usable.fabric, usable);
  auto record = boost::make_bfs_visitor(boost::record_distances(hops.data(), boost::on_tree_edge()));
  boost::breadth_first_search(view, usable.source, boost::visitor(record));
  return hops;
}

// Whether chips reach each other by more than the ICI of their slice.
bool leads_beyond_slices(const Fabric& fabric) {
  return fabric.slices.empty() || fabric.nodes.size() > static_cast<std::size_t>(fabric.chips);
}

// hops[chip] from the source by the ways that are left, 0 where there are none.
std::vector<int> hops_round_damage(const Fabric& fabric, ChipId source) {
  std::vector<int> hops(fabric.chips, 0);
  const auto record = [&](const Ways& ways) {
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      if (hops[chip] == 0 && ways.lead_from(chip)) hops[chip] = ways.hops_from(chip);
  };
  if (!fabric.slices.empty()) record(Ways::in_slice(fabric, source));
  if (leads_beyond_slices(fabric)) record(Ways::anywhere(fabric, source));
  return hops;
}

// The same without failures.
std::vector<int> hops_from(const Fabric& fabric, ChipId source) {
  std::vector<int> hops(fabric.nodes.size(), 0);
  if (!fabric.slices.empty()) hops = search({&fabric, source, true});
  if (!leads_beyond_slices(fabric)) return hops;
  const std::vector<int> beyond = search({&fabric, source, false});
  for (ChipId chip = 0; chip < fabric.chips; ++chip)
    if (hops[chip] == 0) hops[chip] = beyond[chip];
  return hops;
}

void measure_distances(const Fabric& fabric, FabricMetrics& metrics) {
  std::int64_t total = 0;
  metrics.connected = true;
  for (ChipId source = 0; source < fabric.chips; ++source) {
    const std::vector<int> hops =
        fabric.damaged ? hops_round_damage(fabric, source) : hops_from(fabric, source);
    for (ChipId chip = 0; chip < fabric.chips; ++chip) {
      if (chip != source && hops[chip] == 0) metrics.connected = false;
      total += hops[chip];
      metrics.diameter_hops = std::max(metrics.diameter_hops, hops[chip]);
    }
  }
  if (fabric.chips > 1) metrics.mean_hops = static_cast<double>(total) / fabric.chips / (fabric.chips - 1);
}

// The halves of chips by number and, in a single slice, by coordinate in each dimension of even length.
std::vector<std::vector<bool>> ways_to_halve(const Fabric& fabric) {
  std::vector<std::vector<bool>> ways(1, std::vector<bool>(fabric.chips));
  for (ChipId chip = 0; chip < fabric.chips / 2; ++chip) ways[0][chip] = true;
  if (fabric.slices.size() != 1) return ways;
  const TorusSlice& slice = fabric.slices[0];
  for (int d = 0; d < 3; ++d) {
    if (slice.shape[d] % 2 != 0) continue;
    std::vector<bool> half(fabric.chips);
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      half[chip] = slice.coordinate(chip)[d] < slice.shape[d] / 2;
    if (half != ways[0]) ways.push_back(std::move(half));
  }
  return ways;
}

}  // namespace

FabricMetrics measure(const Fabric& fabric) {
  FabricMetrics metrics;
  measure_distances(fabric, metrics);
  if (fabric.chips < 2) return metrics;
  for (const std::vector<bool>& half : ways_to_halve(fabric)) {
    std::vector<ChipId> inside, outside;
    for (ChipId chip = 0; chip < fabric.chips; ++chip) (half[chip] ? inside : outside).push_back(chip);
    const Bandwidth flow = min_cut(fabric, inside, outside);
    if (metrics.bisection == Bandwidth{} || flow < metrics.bisection) metrics.bisection = flow;
  }
  return metrics;
}

}  // namespace podsim
