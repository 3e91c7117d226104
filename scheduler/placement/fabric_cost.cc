// What the partitioner minimises on a placed mesh: the predicted time of each collective, with no other kind
// of traffic on the fabric.
#include "scheduler/placement/fabric_cost.h"

#include <algorithm>
#include <array>
#include <bit>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::array kSizes = {Bytes{0x1p12}, Bytes{0x1p18},
                               Bytes{0x1p28}};  // at which algorithms are chosen

std::vector<ChipId> group_of(const Placement& placement, std::size_t first,
                             const std::vector<std::size_t>& steps) {
  std::vector<ChipId> group;
  for (const std::size_t step : steps) group.push_back(placement.chip_of_device[first + step]);
  return group;
}

// All groups; a device that is in none before it is the first of its own.
Crowd::Groups placed_groups(const Placement& placement, const std::vector<std::size_t>& steps) {
  std::vector<bool> grouped(placement.chip_of_device.size());
  Crowd::Groups groups;
  for (std::size_t first = 0; first < grouped.size(); ++first) {
    if (grouped[first]) continue;
    for (const std::size_t step : steps) grouped[first + step] = true;
    groups.push_back(group_of(placement, first, steps));
  }
  return groups;
}

// Bytes per second of all links into the chip that has most. In a regular tree all have the same.
double most_into_a_chip(const Fabric& fabric) {
  if (fabric.tree() != nullptr) {
    double sum = 0;
    for (const Link& link : fabric.out(0)) sum += link.bandwidth.value;
    return sum;
  }
  std::vector<double> into(static_cast<std::size_t>(fabric.chips), 0);
  for (const Link& link : fabric.links)
    if (link.to < fabric.chips) into[static_cast<std::size_t>(link.to)] += link.bandwidth.value;
  return *std::max_element(into.begin(), into.end());
}

}  // namespace

FabricCost::FabricCost(const Fabric& fabric, const Mesh& mesh, const Placement& placement, FlopRate rate,
                       Shared* shared)
    : fabric_(fabric),
      mesh_(mesh),
      placement_(placement),
      rate_(rate),
      shared_(placement.in_order() && std::cmp_equal(placement.chip_of_device.size(), fabric.chips)
                  ? shared
                  : nullptr),
      crowd_(fabric) {
  PODSIM_CHECK(rate.value > 0, "collectives are weighed against computation");
  PODSIM_CHECK(!placement.chip_of_device.empty(), "a mesh has devices");
  injection_ = {most_into_a_chip(fabric)};
  find_domains();
}

// Domains of which every GPU has a NIC, as many GPUs as a power of two, filled by the devices in order. Then
// no plan brings a GPU more from other domains than its NIC carries: routes end at it.
void FabricCost::find_domains() {
  const int domain = fabric_.gpus_per_domain;
  if (domain <= 1 || fabric_.nvlink_mesh || !std::has_single_bit(static_cast<unsigned>(domain))) return;
  if (!placement_.in_order()) return;
  if (const RegularTree* tree = fabric_.tree()) {
    nics_ = {domain * fabric_.links[static_cast<std::size_t>(tree->nic_up(0))].bandwidth.value};
    domain_ = domain;
    return;
  }
  std::vector<double> by_nic(static_cast<std::size_t>(fabric_.chips), 0);
  for (const Link& link : fabric_.links)
    if (link.to < fabric_.chips && link.kind == LinkKind::kNic)
      by_nic[static_cast<std::size_t>(link.to)] += link.bandwidth.value;
  const auto [least, most] = std::minmax_element(by_nic.begin(), by_nic.end());
  if (*least <= 0) return;
  nics_ = {domain * *most};
  domain_ = domain;
}

int FabricCost::neighbours_in_domain(const AxisRef& piece) const {
  if (domain_ == 0) return 0;
  const int distance = stride(mesh_, piece);
  if (distance >= domain_) return 1;
  return domain_ % distance == 0 ? std::min(piece.size, domain_ / distance) : 0;
}

FabricCost::Curve FabricCost::curve(const CollectivePlan& planned) const {
  Curve result;
  result.fixed_s = planned.launch.in_seconds();
  for (const Phase& phase : planned.phases) {
    result.fixed_s += phase.latency.in_seconds();
    double busiest = 0;
    for (const LinkLoad& load : phase.loads)
      busiest = std::max(busiest, load.bytes / fabric_.cable(load.link).bandwidth.value);
    result.per_byte += busiest / planned.bytes.value;
  }
  return result;
}

std::vector<FabricCost::Curve> FabricCost::curves(CollectiveKind kind, const AxisList& axes) const {
  const std::vector<std::size_t> steps = steps_in_group(mesh_, axes);
  const std::vector<ChipId> group = group_of(placement_, 0, steps);
  std::vector<Curve> curves;
  if (group.size() < placement_.chip_of_device.size() && crowd_.shares_links(group)) {
    for (const CrowdCurve& crowded : crowd_.curves(kind, {}, placed_groups(placement_, steps)))
      curves.push_back({crowded.fixed_seconds(), crowded.seconds_per_byte()});
  } else {
    for (const CollectivePlan& planned : plans_of_sizes(fabric_, kind, kSizes, group, crowd_.slices()))
      curves.push_back(curve(planned));
  }
  return curves;
}

// Neighbours that continue each other are one.
FabricCost::Strides FabricCost::strides(const AxisList& axes) const {
  Strides strides;
  for (const AxisRef& ref : axes) strides.emplace_back(stride(mesh_, ref), ref.size);
  std::sort(strides.rbegin(), strides.rend());
  Strides merged;
  for (const auto& [stride, size] : strides) {
    if (!merged.empty() && merged.back().first == stride * size)
      merged.back() = {stride, size * merged.back().second};
    else
      merged.emplace_back(stride, size);
  }
  return merged;
}

double FabricCost::collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const {
  const AxisList set = canonical(axes);
  if (shard_count(set) == 1) return 0;
  auto [it, added] = curves_.try_emplace({kind, set});
  std::vector<Curve>& curves = it->second;
  if (added && shared_) {
    const auto [known, is_new] = shared_->try_emplace({kind, strides(set)});
    if (is_new) known->second = this->curves(kind, set);
    curves = known->second;
  } else if (added) {
    curves = this->curves(kind, set);
  }
  double seconds = curves.front().at(bytes);
  for (const Curve& other : curves) seconds = std::min(seconds, other.at(bytes));
  return seconds;
}

}  // namespace podsim
