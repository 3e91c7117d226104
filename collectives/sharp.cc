// In-network reduction (SHARP): the switches of the fat-tree add up what comes from below, and the sum goes
// down again.
#include <algorithm>

#include "collectives/algorithms.h"

namespace podsim {
namespace {

// Members of every block when all have as many; otherwise 0.
int equal_members(const Blocks& blocks) {
  const int size = blocks.smallest();
  return blocks.count() * size == static_cast<int>(blocks.chips.size()) ? size : 0;
}

// Adds the tree of switches over the chips of one rail: each link of it carries the rail's part once up and
// once down. Returns the latency up and down.
Time add_reducing_tree(const Fabric& fabric, std::vector<NodeId> nodes, double units, LoadSum& sum) {
  Time latency;
  for (std::ranges::sort(nodes); nodes.front() != nodes.back();) {
    Time tier;
    for (NodeId& node : nodes) {
      const LinkId up = fabric.out_first[node + 1] - 1;  // see the invariants of Fabric
      const LinkId down = fabric.link_between(fabric.links[up].to, node);
      sum.add(up, units);
      sum.add(down, units);
      tier = std::max(tier, fabric.links[up].latency + fabric.links[down].latency);
      node = fabric.links[up].to;
    }
    latency += tier;
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  return latency;
}

}  // namespace

// Inside the domains the sum is made by the NVLink switches where they reduce and by an exchange otherwise;
// per rail the fat-tree adds up the 1 / members of it that lie there.
std::optional<Phases> plan_sharp(const Fabric& fabric, const Collective& collective,
                                 std::span<const ChipId> group) {
  if (!fabric.sharp || fabric.damaged || collective.kind != CollectiveKind::kAllReduce) return std::nullopt;
  const Blocks domains = cut_at_domains(fabric, group);
  const int members = equal_members(domains);
  if (domains.count() < 2 || members == 0) return std::nullopt;
  LoadSum inside, all;
  for (int b = 0; b < domains.count() && members > 1; ++b) {
    if (b == 0) add_inside_all_reduce(fabric, domains[b], inside);
    add_inside_all_reduce(fabric, domains[b], all);
  }
  const Time ways_inside = 2 * inside.longest_latency();
  Time across;
  for (int r = 0; r < members; ++r) {
    std::vector<NodeId> rail;
    for (int b = 0; b < domains.count(); ++b) rail.push_back(domains[b][r]);
    across = std::max(across, add_reducing_tree(fabric, std::move(rail), 1.0 / members, all));
  }
  const int stages = (members > 1 ? 2 : 0) + 2;
  return alone({ways_inside + across, all.loads(collective.bytes), stages});
}

}  // namespace podsim
