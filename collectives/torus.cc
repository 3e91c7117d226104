// Multi-ring over a torus: parts of the data start on different dimensions and run both ways round.
#include <algorithm>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/torus_balance.h"
#include "collectives/torus_box.h"

namespace podsim {
namespace {

struct TorusTraffic {
  std::array<double, 3> load;  // of one pass of the group on each link of a dimension, per byte of the data
  std::vector<std::vector<TorusStage>> used_orders;
};

TorusTraffic balance_traffic(const TorusBox& box) {
  auto orders = stage_orders(box);
  const TorusBalance balance = balance_orders(order_loads(orders));
  TorusTraffic traffic{balance.load, {}};
  for (std::size_t d = 0; d < 3; ++d) traffic.load[d] /= box.stride[d];
  for (std::size_t p = 0; p < orders.size(); ++p)
    if (balance.fraction[p] > 0) traffic.used_orders.push_back(std::move(orders[p]));
  return traffic;
}

Time longest_order(const TorusTraffic& traffic, const std::array<Time, 3>& link_latency) {
  Time longest;
  for (const auto& stages : traffic.used_orders) {
    Time latency;
    for (const TorusStage& stage : stages)
      latency +=
          capped_times(std::int64_t{stage.length - 1} * links_per_step(stage), link_latency[stage.dimension]);
    longest = std::max(longest, latency);
  }
  return longest;
}

// What a missing link should carry goes round it on the routes between its ends.
void add_detours(const Fabric& fabric, const std::vector<BoxGap>& gaps,
                 const std::array<double, 3>& link_bytes, std::array<Time, 3>& link_latency,
                 std::vector<LinkLoad>& loads) {
  if (gaps.empty()) return;
  LoadSum sum;
  for (const auto& [from, to, d] : gaps) {
    const auto detour = route(fabric, from, to);
    sum.add(fabric, detour, link_bytes[d]);
    link_latency[d] = std::max(link_latency[d], route_latency(fabric, detour));
  }
  for (const LinkLoad& load : loads) sum.add(load.link, load.bytes);
  loads = sum.loads({1.0});
}

}  // namespace

std::optional<Phase> torus_phase(const Fabric& fabric, Bytes bytes, int passes,
                                 std::span<const ChipId> group) {
  const auto box = find_torus_box(fabric, group);
  if (!box || group.size() < 2) return std::nullopt;
  const TorusTraffic traffic = balance_traffic(*box);
  std::array<double, 3> link_bytes;
  for (int d = 0; d < 3; ++d) link_bytes[d] = passes * traffic.load[d] * bytes.value;
  std::array<Time, 3> link_latency = {};
  Phase phase;
  const auto [links, gaps] = box_ways(fabric, *box);
  phase.loads.reserve(bytes.value > 0 ? links.size() : 0);
  for (const auto& [link, d] : links) {
    link_latency[d] = std::max(link_latency[d], fabric.links[link].latency);
    if (link_bytes[d] > 0) phase.loads.push_back({link, link_bytes[d]});
  }
  add_detours(fabric, gaps, link_bytes, link_latency, phase.loads);
  phase.latency = passes * longest_order(traffic, link_latency);
  return phase;
}

std::optional<Phases> plan_torus(const Fabric& fabric, const Collective& collective,
                                 std::span<const ChipId> group) {
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  auto phase = torus_phase(fabric, collective.bytes, passes, group);
  if (!phase) return std::nullopt;
  return alone(*std::move(phase));
}

}  // namespace podsim
