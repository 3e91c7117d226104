// What the partitioner minimises on a placed mesh: the predicted time of each collective, alone on the fabric.
#include "scheduler/fabric_cost.h"

#include <algorithm>
#include <array>

namespace podsim {
namespace {

constexpr std::array<double, 9> kSizes = {0,           0x1p12, 0x1p16, 0x1p20, 0x1p24,
                                          0x1p28,      0x1p32, 0x1p36, 0x1p40};  // bytes

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

double FabricCost::sample(CollectiveKind kind, Curve& curve, std::size_t index) const {
  double& seconds = curve.seconds[index];
  if (seconds < 0)
    seconds = predict(fabric_, plan(fabric_, {kind, Bytes{kSizes[index]}}, curve.group)).in_seconds();
  return seconds;
}

double FabricCost::collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const {
  const AxisList set = canonical(axes);
  if (shard_count(set) == 1) return 0;
  auto [it, added] = curves_.try_emplace({kind, set});
  Curve& curve = it->second;
  if (added) curve = {first_group(mesh_, placement_, set), std::vector<double>(kSizes.size(), -1)};
  std::size_t above = 1;
  while (above + 1 < kSizes.size() && kSizes[above] < bytes.value) ++above;
  const double low = sample(kind, curve, above - 1), high = sample(kind, curve, above);
  const double share = (bytes.value - kSizes[above - 1]) / (kSizes[above] - kSizes[above - 1]);
  return low + share * (std::max(low, high) - low);
}

}  // namespace podsim
