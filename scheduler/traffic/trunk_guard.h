// Watches whether links between the switches of a regular tree may limit what plans send.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/zero_array.h"
#include "scheduler/traffic/form_plans.h"
#include "scheduler/traffic/tree_places.h"

namespace podsim {

// Hands phases on, and notes those in which a link between switches carries more than the links below it.
class TrunkGuard : public PhaseSink {
 public:
  // Both must outlive this.
  TrunkGuard(const RegularTree& tree, PhaseSink& onward);

  void add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) override;
  // In even groups no link between switches is fuller than those of chips.
  EvenPhaseSink* even() override { return onward_.even(); }
  void end_form(std::size_t pattern) override { onward_.end_form(pattern); }
  bool found_limits() const { return found_limits_; }

 private:
  struct BelowTrunk {
    std::int64_t usage = 0, links = 0;
  };
  bool any_overfull(std::span<const UsageOnLink> uses);

  const RegularTree& tree_;
  TreeTrunks trunks_;
  PhaseSink& onward_;
  ZeroArray<BelowTrunk> below_;        // [trunk], empty between phases
  std::vector<Use> crossing_;          // of a phase, by trunk
  std::vector<std::int32_t> touched_;  // entries of below_
  bool found_limits_ = false;
};

}  // namespace podsim
