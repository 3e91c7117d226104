// What a collective takes when every group along its axes runs it at once, as groups of a step do.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collectives/candidates.h"

namespace podsim {

// Time of one algorithm as a function of the message's size.
struct CrowdCurve {
  struct Part {
    Time latency;
    Ramp ramp;
    double seconds_per_byte;  // of the message, on the busiest link
    double alone_s_per_byte;  // the same where only the first group runs
  };
  Algorithm algorithm;
  Time launch;
  std::vector<Part> parts;

  double seconds(Bytes message) const;
  double seconds_alone(Bytes message) const;  // of the first group by itself
  double fixed_seconds() const;               // launch and latencies
  double seconds_per_byte() const;            // without ramps
};

// A fabric as groups find it that are not alone on it.
class Crowd {
 public:
  using Groups = std::vector<std::vector<ChipId>>;

  // The fabric must outlive the crowd. O(links).
  explicit Crowd(const Fabric& fabric);

  // The fabric's alike slices, or nullptr.
  const AlikeSlices* slices() const { return slices_ ? &*slices_ : nullptr; }

  // May a group like this load links that other groups along the same axes load? Not inside a domain or along
  // whole dimensions of a torus, nor where every GPU has a NIC and no switch has less above it than below.
  // Where groups are planned route by route (damaged fabrics, individual switches), nobody looks.
  bool shares_links(std::span<const ChipId> group) const;

  // A curve for each algorithm that applies to the first group. What other groups load counts, as if all were
  // in the same phase.
  std::vector<CrowdCurve> curves(CollectiveKind kind, const Fanout& fanout, const Groups& groups) const;

 private:
  CrowdCurve curve(const CollectivePlan& first, const Collective& collective, const Groups& groups) const;

  const Fabric& fabric_;
  std::optional<AlikeSlices> slices_;
  bool uplinks_limit_;  // some switch has less above it than below
};

}  // namespace podsim
