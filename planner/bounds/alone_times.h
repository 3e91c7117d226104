// The least time that a collective can take on a placed mesh: by the best of all algorithms, with nothing
// beside it.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "scheduler/lowering/instructions.h"
#include "scheduler/placement/place.h"

namespace podsim {

// How long the links out of a chip must be full to carry something: those inside its server or along its
// torus together, and those to other servers together.
struct LinkSeconds {
  double scale_up = 0, scale_out = 0;

  double longest() const { return std::max(scale_up, scale_out); }
  LinkSeconds& operator+=(const LinkSeconds& more) {
    scale_up += more.scale_up;
    scale_out += more.scale_out;
    return *this;
  }
  friend LinkSeconds operator*(double n, LinkSeconds each) { return {n * each.scale_up, n * each.scale_out}; }
};

// Of the groups and pairs through one column of chips: in every pipeline stage the first. A message of this
// column takes no less in any step, since plans scale with their bytes and sharing links only delays. Not for
// several threads at once.
class AloneTimes {
 public:
  // One algorithm by one group, as a function of bytes.
  struct Curve {
    double fixed_s = 0;
    double per_byte = 0;
    LinkSeconds full;  // of the group's first chip, per byte
    std::vector<Ramp> ramps;
    double at(Bytes bytes) const;
  };
  using Curves = std::vector<Curve>;
  // Curves of groups of any mesh on one fabric, where it begins to repeat itself, by their share of the
  // network.
  using Shared = std::map<std::tuple<CollectiveKind, Fanout, double, std::vector<ChipId>>, Curves>;

  // REQUIRES: fabric, its spec, mesh and, if given, what is shared outlive this object. `pipeline_axis` = its
  // number, or -1.
  AloneTimes(const Fabric& fabric, const FabricSpec& spec, const LaidMesh& laid, int pipeline_axis,
             Shared* shared = nullptr);

  double seconds(const CollectiveCall& call) const;
  // The same for many bytes: joined to other messages they take at least this much each.
  double seconds_per_byte(const CollectiveCall& call) const;
  // What any algorithm sends out of a chip of the column. Transfers between stages count as nothing.
  LinkSeconds link_seconds(const CollectiveCall& call) const;

 private:
  const Curves& curves(const CollectiveCall& call) const;
  bool leaves_stage(const Scope& scope) const;
  std::vector<std::vector<ChipId>> groups(const Scope& scope) const;
  double network_share(const CollectiveCall& call) const;
  Curves curves_of(const CollectiveCall& call, const std::vector<ChipId>& group) const;

  const Fabric& fabric_;
  const LaidMesh& laid_;
  int pipeline_axis_;
  Shared* shared_;  // or nothing
  int unit_ = 0;    // chips after which the fabric repeats itself; 0 = never
  mutable std::map<std::tuple<Scope, CollectiveKind, Fanout>, Curves> curves_;
};

}  // namespace podsim
