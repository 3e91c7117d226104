// Counts who meets on which link, and lowers its capacity by what collisions cost.
#include "scheduler/network/transport_model.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim {
namespace {

template <class Counts>
void increment(Counts& counts, std::int32_t node) {
  const auto found = std::ranges::find(counts, node, [](const auto& count) { return count.node; });
  if (found == counts.end())
    counts.push_back({node, 1});
  else
    ++found->flows;
}

template <class Counts>
void decrement(Counts& counts, std::int32_t node) {
  const auto found = std::ranges::find(counts, node, [](const auto& count) { return count.node; });
  PODSIM_CHECK(found != counts.end(), "a flow leaves a link that it did not join");
  if (--found->flows > 0) return;
  *found = counts.back();
  counts.pop_back();
}

}  // namespace

TransportModel::TransportModel(std::vector<double> capacity, double ticks_per_second,
                               const TransportDraw& draw)
    : transport_(draw.transport), seed_(draw.seed), fluid_(capacity, ticks_per_second) {
  if (transport_.is_ideal()) return;
  shared_links_.resize(capacity.size());
  capacity_ = std::move(capacity);
}

void TransportModel::begin(Tick now, std::int32_t from, std::int32_t to, std::span<const Use> uses,
                           double bytes, std::int32_t owner) {
  if (transport_.is_ideal()) {
    fluid_.begin(now, uses, bytes, owner);
    return;
  }
  if (static_cast<std::size_t>(owner) >= flows_.size()) flows_.resize(static_cast<std::size_t>(owner) + 1);
  Flow& flow = flows_[owner];
  flow.from = from;
  flow.to = to;
  const double weight = Lognormal(transport_.weight_spread)(
      random_normal(seed_, RandomPurpose::kFlowWeight, static_cast<std::uint64_t>(owner), 0));
  flow.uses.assign(uses.begin(), uses.end());
  for (Use& use : flow.uses) use.usage = weighted_usage(use.usage, weight);
  join(now, flow);
  fluid_.begin(now, flow.uses, bytes / weight, owner);
}

void TransportModel::set_capacity(Tick now, std::int32_t resource, double capacity) {
  PODSIM_CHECK(capacity >= 0, "a capacity has no sign");
  if (transport_.is_ideal()) {
    fluid_.set_capacity(now, resource, capacity);
    return;
  }
  capacity_[resource] = capacity;
  fluid_.set_capacity(now, resource, capacity * shared_links_[resource].share);
}

void TransportModel::end(Tick now, std::vector<std::int32_t>& owners) {
  const std::size_t first = owners.size();
  fluid_.end(now, owners);
  if (transport_.is_ideal()) return;
  for (std::size_t i = first; i < owners.size(); ++i) leave(now, flows_[owners[i]]);
}

void TransportModel::join(Tick now, const Flow& flow) {
  for (const Use& use : flow.uses) {
    increment(shared_links_[use.resource].sources, flow.from);
    increment(shared_links_[use.resource].destinations, flow.to);
    update(now, use.resource);
  }
}

void TransportModel::leave(Tick now, const Flow& flow) {
  for (const Use& use : flow.uses) {
    decrement(shared_links_[use.resource].sources, flow.from);
    decrement(shared_links_[use.resource].destinations, flow.to);
    update(now, use.resource);
  }
}

void TransportModel::update(Tick now, std::int32_t link) {
  SharedLink& shared = shared_links_[link];
  const double share = transport_.collided_share(shared.sources.size(), shared.destinations.size());
  if (share == shared.share) return;
  shared.share = share;
  fluid_.set_capacity(now, link, capacity_[link] * share);
}

}  // namespace podsim
