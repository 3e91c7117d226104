// What the partitioner minimises on a placed mesh: the predicted time of each collective but for its ramp,
// with no other kind of traffic on the fabric.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "scheduler/placement/crowd.h"
#include "scheduler/placement/place.h"
#include "workload/op_planning/known_plans.h"
#include "workload/resharding/cost_model.h"

namespace podsim {

// Seconds of a collective by the first group along its axes, with the fastest of the algorithms that are
// chosen at 4 KiB, 256 KiB and 256 MiB, scaled to its size, ramps left out: three plans per kind and set of
// axes, however often a search asks. Where groups along these axes share links, all of them run it at once,
// with any algorithm. Not for several threads at once.
class FabricCost : public CostModel {
 public:
  // Time of a plan as a function of the message's size, without ramps. Channels have them of all-reduces only
  // (a100_800g), so that the two halves of one would look cheaper than the whole. Over a library every kind
  // has one: left out too, so that prices mean the same on every fabric.
  struct Curve {
    double fixed_s = 0;   // launch and latencies
    double per_byte = 0;  // s on the busiest link of each phase
    double at(Bytes bytes) const { return fixed_s + per_byte * bytes.value; }
  };
  // How far apart the devices of a group lie, axis by axis, and how many they are.
  using Strides = std::vector<std::pair<int, int>>;
  // Curves of meshes on one fabric that fill it in order: what lies alike costs alike.
  using Shared = std::map<std::pair<CollectiveKind, Strides>, std::vector<Curve>>;

  // REQUIRES: fabric, mesh and placement outlive this, and so does `shared`, which all meshes have that have
  // it; `rate` is positive.
  FabricCost(const Fabric& fabric, const Mesh& mesh, const Placement& placement, FlopRate rate,
             Shared* shared = nullptr);

  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override;
  double compute(Flops flops) const override { return seconds_at(flops, rate_); }
  bool timed() const override { return true; }
  double at_least(Bytes received) const override { return seconds_at(received, injection_); }
  int neighbours_in_domain(const AxisRef& piece) const override;
  double from_afar_at_least(Bytes received) const override { return seconds_at(received, nics_); }
  double to_chip_from_afar_at_least(Bytes received) const override {
    return seconds_at(domain_ * received, nics_);
  }
  KnownPlans* known_plans() const override { return &plans_; }

 private:
  void find_domains();
  Curve curve(const CollectivePlan& planned) const;
  std::vector<Curve> curves(CollectiveKind kind, const AxisList& axes) const;
  Strides strides(const AxisList& axes) const;

  const Fabric& fabric_;
  const Mesh& mesh_;
  const Placement& placement_;
  FlopRate rate_;
  Shared* const shared_;  // nothing where devices are not the chips in order
  Crowd crowd_;
  Bandwidth injection_;  // of all links into the chip that has most
  int domain_ = 0;       // chips of an NVLink domain, which axes fill from the innermost on; 0 = none
  Bandwidth nics_{1};    // from other domains into one whose chips all have as much as any
  mutable std::map<std::pair<CollectiveKind, AxisList>, std::vector<Curve>> curves_;
  mutable KnownPlans plans_;
};

}  // namespace podsim
