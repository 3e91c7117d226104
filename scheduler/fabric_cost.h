// What the partitioner minimises on a placed mesh: the predicted time of each collective, alone on the fabric.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "scheduler/place.h"
#include "workload/cost_model.h"

namespace podsim {

// Seconds of a collective by the first group along its axes, with the algorithm that is chosen at its size.
// Between sizes of 0, 4 KiB and each 16 times more the time is a straight line, so that a search may ask as
// often as it likes: at most nine predictions per kind and set of axes. Not for several threads at once.
class FabricCost : public CostModel {
 public:
  // REQUIRES: fabric, mesh and placement outlive this; `rate` is positive.
  FabricCost(const Fabric& fabric, const Mesh& mesh, const Placement& placement, FlopRate rate);

  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override;
  double compute(Flops flops) const override { return seconds_at(flops, rate_); }
  bool timed() const override { return true; }
  double at_least(Bytes received) const override { return seconds_at(received, injection_); }

 private:
  struct Curve {
    std::vector<ChipId> group;
    std::vector<double> seconds;  // [sample]; negative = not asked yet
  };
  double sample(CollectiveKind kind, Curve& curve, std::size_t index) const;

  const Fabric& fabric_;
  const Mesh& mesh_;
  const Placement& placement_;
  FlopRate rate_;
  Bandwidth injection_;  // of all links into the chip that has most
  mutable std::map<std::pair<CollectiveKind, AxisList>, Curve> curves_;
};

}  // namespace podsim
