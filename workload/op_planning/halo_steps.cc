// Halo exchanges as steps of a plan.
#include "workload/op_planning/halo_steps.h"

#include <cstdlib>

namespace podsim {

HaloSteps::HaloSteps(const TensorShape& shape, Layout layout)
    : layout_(std::move(layout)), element_bytes_(shape.element_bytes) {
  for (std::size_t d = 0; d < shape.dims.size(); ++d)
    extents_.push_back(local_size(shape.dims[d], layout_.dims[d]));
}

bool HaloSteps::add(const Window& window, std::int64_t outputs, int dim, const AxisList& axes) {
  if (axes.empty()) return true;
  const auto hops = halo_hops(window, outputs, shard_count(axes));
  if (!hops) return false;
  double row = element_bytes_, widths = 0;
  for (std::size_t d = 0; d < extents_.size(); ++d)
    row *= d == static_cast<std::size_t>(dim) ? 1 : extents_[d];
  for (const HaloHop& hop : *hops) {
    const Bytes slab{row * static_cast<double>(hop.width)};
    PlanStep step{.kind = StepKind::kHalo,
                  .axes = canonical(axes),
                  .after = layout_,
                  .operand = slab,
                  .result = slab,
                  .sent = slab};
    step.halo_dim = dim;
    step.halo_left = hop.distance < 0;
    step.halo_width = hop.width;
    step.halo_distance = std::abs(hop.distance);
    steps_.push_back(step);
    widths += static_cast<double>(hop.width);
  }
  extents_[static_cast<std::size_t>(dim)] += widths;
  return true;
}

double HaloSteps::sent_bytes() const {
  double sent = 0;
  for (const PlanStep& step : steps_) sent += step.sent.value;
  return sent;
}

}  // namespace podsim
