// The steps of rings, tori, halving-doubling, hierarchies and direct exchanges.
#include "collectives/steps.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/channel.h"
#include "collectives/library.h"
#include "collectives/torus_balance.h"
#include "collectives/torus_box.h"

namespace podsim {
namespace {

// Collects channels and gives every pair of chips one route.
class StepBuilder {
 public:
  StepBuilder(const Fabric& fabric, std::span<const ChipId> group)
      : fabric_(fabric), rank_of_(fabric.chips, -1) {
    for (std::size_t rank = 0; rank < group.size(); ++rank)
      rank_of_[group[rank]] = static_cast<std::int32_t>(rank);
  }

  void add(Step& step, ChipId from, ChipId to, double bytes) {
    const auto [entry, is_new] = route_of_.try_emplace({from, to}, static_cast<std::int32_t>(routes_.size()));
    if (is_new) {
      std::vector<RouteHop> hops = route(fabric_, from, to);
      const Time latency = route_latency(fabric_, hops);
      routes_.push_back({std::move(hops), latency});
    }
    step.transfers.push_back({rank_of_[from], rank_of_[to], entry->second, bytes});
  }

  std::vector<StepRoute> take_routes() { return std::move(routes_); }

 private:
  const Fabric& fabric_;
  std::vector<std::int32_t> rank_of_;  // [chip]
  std::map<std::pair<ChipId, ChipId>, std::int32_t> route_of_;
  std::vector<StepRoute> routes_;
};

using Lanes = std::optional<std::vector<RingChannel>>;

// Everyone sends a part of `bytes` to the next, as often as the passes of a collective need.
Step ring_step(StepBuilder& builder, std::span<const ChipId> order, double bytes, int passes) {
  Step step;
  step.repeat = passes * static_cast<int>(order.size() - 1);
  for (std::size_t i = 0; i < order.size(); ++i)
    builder.add(step, order[i], order[(i + 1) % order.size()], bytes / static_cast<double>(order.size()));
  return step;
}

// The chips of one channel in ring order; see Algorithm::kRing.
std::vector<ChipId> channel_order(const Blocks& blocks, int channel) {
  std::vector<ChipId> order;
  for (int b = 0; b < blocks.count(); ++b) {
    const int size = static_cast<int>(blocks[b].size());
    for (int i = 0; i < size; ++i)
      order.push_back(blocks[b][(b % 2 == 0 ? channel + i : channel + size - 1 - i) % size]);
  }
  return order;
}

// All cyclic orders of the chips.
std::vector<std::vector<ChipId>> all_orders(std::vector<ChipId> chips) {
  std::ranges::sort(chips);
  std::vector<std::vector<ChipId>> orders;
  do orders.push_back(chips);
  while (std::next_permutation(chips.begin() + 1, chips.end()));
  return orders;
}

std::vector<std::vector<ChipId>> ring_orders(const Fabric& fabric, std::span<const ChipId> group) {
  if (fabric.gpus_per_domain <= 1) return {{group.begin(), group.end()}};
  const Blocks blocks = cut_at_domains(fabric, group);
  if (blocks.count() == 1 && fabric.nvlink_mesh) return all_orders(blocks.chips);
  if (blocks.count() < 2 || blocks.smallest() < 2) return {blocks.chips};
  std::vector<std::vector<ChipId>> orders;
  for (int channel = 0; channel < blocks.smallest(); ++channel)
    orders.push_back(channel_order(blocks, channel));
  return orders;
}

Lanes ring_channels(StepBuilder& builder, const Fabric& fabric, const Collective& collective,
                    std::span<const ChipId> group, bool both_ways) {
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  std::vector<RingChannel> channels;
  auto orders = ring_orders(fabric, group);
  const double bytes = collective.bytes.value / static_cast<double>(orders.size()) / (both_ways ? 2.0 : 1.0);
  for (std::vector<ChipId>& order : orders) {
    channels.push_back({ring_step(builder, order, bytes, passes)});
    if (!both_ways) continue;
    std::ranges::reverse(order);
    channels.push_back({ring_step(builder, order, bytes, passes)});
  }
  return channels;
}

// Neighbours in a ring along one dimension of a box: round a wrap, or folded on a line so that no hop is
// longer than two links.
std::vector<int> ring_positions(const TorusStage& stage) {
  std::vector<int> positions;
  if (stage.closure == Closure::kRing) {
    positions.resize(stage.length);
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }
  for (int i = 0; i < stage.length; i += 2) positions.push_back(i);
  for (int i = (stage.length - 1) | 1; i > 0; i -= 2)
    if (i < stage.length) positions.push_back(i);
  return positions;
}

// One step of all rings along a dimension: every chip of the box sends to the next in its ring.
Step torus_step(StepBuilder& builder, const TorusBox& box, const TorusStage& stage, bool forward,
                double bytes) {
  std::vector<int> positions = ring_positions(stage);
  if (!forward) std::ranges::reverse(positions);
  Step step;
  step.repeat = stage.length - 1;
  std::array<int, 3> at;
  for (at[2] = 0; at[2] < box.extent[2]; ++at[2])
    for (at[1] = 0; at[1] < box.extent[1]; ++at[1])
      for (at[0] = 0; at[0] < box.extent[0]; ++at[0]) {
        std::array<int, 3> from = at, to = at;
        from[stage.dimension] = positions[at[stage.dimension]];
        to[stage.dimension] = positions[(at[stage.dimension] + 1) % stage.length];
        builder.add(step, box.chip(from), box.chip(to), bytes / stage.length);
      }
  return step;
}

RingChannel torus_channel(StepBuilder& builder, const TorusBox& box, const std::vector<TorusStage>& stages,
                          bool forward, double bytes, CollectiveKind kind) {
  RingChannel scatter;
  for (const TorusStage& stage : stages) {
    scatter.push_back(torus_step(builder, box, stage, forward, bytes));
    bytes /= stage.length;
  }
  if (kind == CollectiveKind::kReduceScatter) return scatter;
  RingChannel gather(scatter.rbegin(), scatter.rend());
  if (kind == CollectiveKind::kAllReduce) gather.insert(gather.begin(), scatter.begin(), scatter.end());
  return gather;
}

Lanes torus_channels(StepBuilder& builder, const Fabric& fabric, const Collective& collective,
                     std::span<const ChipId> group) {
  const auto box = find_torus_box(fabric, group);
  if (ring_passes(collective.kind) == 0 || !box || box->is_twisted()) return std::nullopt;
  const auto orders = stage_orders(*box);
  const TorusBalance balance = balance_orders(order_loads(orders));
  std::vector<RingChannel> channels;
  for (std::size_t p = 0; p < orders.size(); ++p) {
    if (balance.fraction[p] <= 0) continue;
    for (const bool forward : {true, false})
      channels.push_back(torus_channel(builder, *box, orders[p], forward,
                                       collective.bytes.value * balance.fraction[p] / 2, collective.kind));
  }
  return channels;
}

Lanes halving_doubling_channels(StepBuilder& builder, const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group) {
  if (ring_passes(collective.kind) == 0 || !std::has_single_bit(group.size())) return std::nullopt;
  std::vector<ChipId> ranks(group.begin(), group.end());
  if (fabric.gpus_per_domain > 1) ranks = cut_at_domains(fabric, group).chips;
  RingChannel halving;
  double bytes = collective.bytes.value;
  for (std::size_t distance = 1; distance < ranks.size(); distance *= 2) {
    bytes /= 2;
    Step& step = halving.emplace_back();
    for (std::size_t i = 0; i < ranks.size(); ++i) builder.add(step, ranks[i], ranks[i ^ distance], bytes);
  }
  if (collective.kind == CollectiveKind::kReduceScatter) return {{halving}};
  RingChannel doubling(halving.rbegin(), halving.rend());
  if (collective.kind == CollectiveKind::kAllReduce)
    doubling.insert(doubling.begin(), halving.begin(), halving.end());
  return {{doubling}};
}

// As log_step.cc: far ranks first with little data, and backwards to reduce.
Lanes log_step_channels(StepBuilder& builder, const Fabric& fabric, const Collective& collective,
                        std::span<const ChipId> group) {
  if (ring_passes(collective.kind) == 0) return std::nullopt;
  std::vector<ChipId> ranks(group.begin(), group.end());
  if (fabric.gpus_per_domain > 1) ranks = cut_at_domains(fabric, group).chips;
  RingChannel gather;
  for (std::size_t distance = std::bit_ceil(ranks.size()) / 2; distance > 0; distance /= 2) {
    const double bytes = collective.bytes.value *
                         static_cast<double>(log_step_parts(ranks.size(), distance)) /
                         static_cast<double>(ranks.size());
    Step& step = gather.emplace_back();
    for (std::size_t i = 0; i < ranks.size(); ++i)
      builder.add(step, ranks[i], ranks[(i + distance) % ranks.size()], bytes);
  }
  if (collective.kind == CollectiveKind::kAllGather) return {{gather}};
  RingChannel scatter(gather.rbegin(), gather.rend());
  if (collective.kind == CollectiveKind::kAllReduce)
    scatter.insert(scatter.end(), gather.begin(), gather.end());
  return {{scatter}};
}

void add_pairs(StepBuilder& builder, Step& step, std::span<const ChipId> members, double bytes) {
  for (const ChipId from : members)
    for (const ChipId to : members)
      if (from != to) builder.add(step, from, to, bytes);
}

// Every domain exchanges all pairs in one step; rings of the rails run between.
Lanes hierarchical_channels(StepBuilder& builder, const Fabric& fabric, const Collective& collective,
                            std::span<const ChipId> group) {
  const int passes = ring_passes(collective.kind);
  const Blocks blocks = cut_at_domains(fabric, group);
  const int rails = blocks.rails();
  if (passes == 0 || rails == 0 || !fabric.slices.empty()) return std::nullopt;
  Step inside, across;
  for (int b = 0; b < blocks.count(); ++b)
    add_pairs(builder, inside, blocks[b], collective.bytes.value / rails);
  for (int r = 0; r < rails; ++r) {
    std::vector<ChipId> rail;
    for (int b = 0; b < blocks.count(); ++b) rail.push_back(blocks[b][r]);
    Step ring = ring_step(builder, rail, collective.bytes.value / rails, passes);
    across.repeat = ring.repeat;
    across.transfers.insert(across.transfers.end(), ring.transfers.begin(), ring.transfers.end());
  }
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      return {{{inside, across}}};
    case CollectiveKind::kAllGather:
      return {{{across, inside}}};
    default:
      return {{{inside, across, inside}}};
  }
}

Lanes direct_channels(StepBuilder& builder, const Collective& collective, std::span<const ChipId> group) {
  Step step;
  switch (collective.kind) {
    case CollectiveKind::kAllToAll:
      for (std::size_t rank = 0; rank < collective.receive_share.size(); ++rank)
        for (const ChipId from : group)
          if (const double bytes = collective.bytes.value * collective.receive_share[rank];
              from != group[rank] && bytes > 0)
            builder.add(step, from, group[rank], bytes);
      if (collective.receive_share.empty())
        add_pairs(builder, step, group, collective.bytes.value / static_cast<double>(group.size()));
      break;
    case CollectiveKind::kPermute:
      step = ring_step(builder, group, collective.bytes.value * static_cast<double>(group.size()), 1);
      step.repeat = 1;
      break;
    case CollectiveKind::kSendReceive:
      if (group.size() != 2) return std::nullopt;
      builder.add(step, group[0], group[1], collective.bytes.value);
      break;
    default:
      return std::nullopt;
  }
  return {{{std::move(step)}}};
}

Lanes channels_of(Algorithm algorithm, StepBuilder& builder, const Fabric& fabric,
                  const Collective& collective, std::span<const ChipId> group) {
  switch (algorithm) {
    case Algorithm::kRing:
      return ring_channels(builder, fabric, collective, group, false);
    case Algorithm::kBidirectionalRing:
      return ring_channels(builder, fabric, collective, group, true);
    case Algorithm::kTorus:
      return torus_channels(builder, fabric, collective, group);
    case Algorithm::kHalvingDoubling:
      return halving_doubling_channels(builder, fabric, collective, group);
    case Algorithm::kLogStep:
      return log_step_channels(builder, fabric, collective, group);
    case Algorithm::kHierarchical:
      return hierarchical_channels(builder, fabric, collective, group);
    case Algorithm::kDirect:
      return direct_channels(builder, collective, group);
    default:
      return std::nullopt;
  }
}

// Links are busy for longer than their bytes alone would make them, as in over_channel.
void slow_down(const Fabric& fabric, const ChannelSpec& channel, StepPlan& plan) {
  plan.start_up += channel.setup;
  for (StepRoute& route : plan.routes)
    for (RouteHop& hop : route.hops)
      hop.share /= share_sustained(fabric, channel, fabric.links[hop.link].kind);
}

// As in over_library, whose protocols have latencies of their own: all are waited for before the first step.
void slow_down(const Fabric& fabric, const LibrarySpec& library, const CollectivePlan& fluid,
               CollectiveKind kind, StepPlan& plan) {
  for (const Phase& phase : fluid.phases) plan.start_up += phase.latency;
  const Protocol protocol = protocol_of_largest(kind, plan.algorithm);
  for (StepRoute& route : plan.routes) {
    route.latency = {};
    for (RouteHop& hop : route.hops)
      hop.share /= share_sustained(library, protocol, fabric.links[hop.link].kind);
  }
}

}  // namespace

std::int64_t StepPlan::transfers() const {
  std::int64_t sum = 0;
  for (const RingChannel& channel : channels)
    for (const Step& step : channel) sum += static_cast<std::int64_t>(step.transfers.size()) * step.repeat;
  return sum;
}

std::string_view why_no_steps(Algorithm algorithm, const Collective& collective) {
  switch (algorithm) {
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
    case Algorithm::kSharp:
      return "is a reduction in switches, without steps between ranks";
    case Algorithm::kTorus:
      return "has no steps in a twisted torus, whose rings wind through it";
    case Algorithm::kHierarchical:
      return collective.kind == CollectiveKind::kAllToAll ? "has steps for reductions and gathers only"
                                                          : "has steps in NVLink domains only, not in slices";
    default:
      return "is a stream of chunks, not of steps";
  }
}

std::optional<StepPlan> plan_steps(Algorithm algorithm, const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group) {
  const auto fluid = plan_with(algorithm, fabric, collective, group);
  if (!fluid) return std::nullopt;
  StepPlan plan;
  plan.algorithm = algorithm;
  plan.bytes = collective.bytes;
  plan.group.assign(group.begin(), group.end());
  plan.start_up = fluid->launch;
  for (const Phase& phase : fluid->phases) plan.start_up += phase.ramp.at(collective.bytes);
  if (group.size() == 1) return plan;
  StepBuilder builder(fabric, group);
  auto channels = channels_of(algorithm, builder, fabric, collective, group);
  if (!channels) return std::nullopt;
  plan.channels = *std::move(channels);
  plan.routes = builder.take_routes();
  if (const ChannelSpec* channel = find_channel(fabric, collective.kind, algorithm, group[0]))
    slow_down(fabric, *channel, plan);
  else if (fabric.library)
    slow_down(fabric, *fabric.library, *fluid, collective.kind, plan);
  return plan;
}

}  // namespace podsim
