// What the partitioner minimises on a placed mesh: the predicted time of each collective, alone on the
// fabric.
#include "scheduler/fabric_cost.h"

#include <algorithm>
#include <array>

namespace podsim {
namespace {

constexpr std::array kSizes = {0x1p12, 0x1p18, 0x1p28};  // bytes at which algorithms are chosen

// Devices between two neighbours along the axis.
int stride_of(const Mesh& mesh, const AxisRef& ref) {
  int stride = mesh.axes[static_cast<std::size_t>(ref.axis)].size / (ref.pre * ref.size);
  for (std::size_t i = static_cast<std::size_t>(ref.axis) + 1; i < mesh.axes.size(); ++i)
    stride *= mesh.axes[i].size;
  return stride;
}

// The group of device 0.
std::vector<ChipId> first_group(const Mesh& mesh, const Placement& placement, const AxisList& axes) {
  std::vector<std::size_t> devices = {0};
  for (const AxisRef& ref : axes) {
    const auto stride = static_cast<std::size_t>(stride_of(mesh, ref));
    std::vector<std::size_t> longer;
    longer.reserve(devices.size() * static_cast<std::size_t>(ref.size));
    for (const std::size_t device : devices)
      for (int i = 0; i < ref.size; ++i) longer.push_back(device + static_cast<std::size_t>(i) * stride);
    devices = std::move(longer);
  }
  std::sort(devices.begin(), devices.end());
  std::vector<ChipId> group;
  for (const std::size_t device : devices) group.push_back(placement.chip_of_device[device]);
  return group;
}

}  // namespace

FabricCost::FabricCost(const Fabric& fabric, const Mesh& mesh, const Placement& placement, FlopRate rate)
    : fabric_(fabric), mesh_(mesh), placement_(placement), rate_(rate) {
  std::vector<double> into(static_cast<std::size_t>(fabric.chips), 0);
  for (const Link& link : fabric.links) {
    if (link.to < fabric.chips) into[static_cast<std::size_t>(link.to)] += link.bandwidth.value;
  }
  injection_ = {*std::max_element(into.begin(), into.end())};
}

FabricCost::Curve FabricCost::curve(CollectiveKind kind, Bytes bytes,
                                    const std::vector<ChipId>& group) const {
  const CollectivePlan planned = plan(fabric_, {kind, bytes}, group);
  Curve result;
  result.fixed_s = planned.launch.in_seconds();
  for (const Phase& phase : planned.phases) {
    result.fixed_s += phase.latency.in_seconds();
    double busiest = 0;
    for (const LinkLoad& load : phase.loads)
      busiest =
          std::max(busiest, load.bytes / fabric_.links[static_cast<std::size_t>(load.link)].bandwidth.value);
    result.per_byte += busiest / bytes.value;
  }
  return result;
}

double FabricCost::collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const {
  const AxisList set = canonical(axes);
  if (shard_count(set) == 1) return 0;
  auto [it, added] = curves_.try_emplace({kind, set});
  std::vector<Curve>& curves = it->second;
  if (added) {
    const std::vector<ChipId> group = first_group(mesh_, placement_, set);
    for (const double size : kSizes) curves.push_back(curve(kind, Bytes{size}, group));
  }
  double seconds = curves.front().at(bytes);
  for (const Curve& other : curves) seconds = std::min(seconds, other.at(bytes));
  return seconds;
}

}  // namespace podsim
