// Carries transfers over links as a transport does: max-min fair when ideal, less so where real flows meet.
//
// Packets of real transports do not share a link as a fluid would: pauses reach back to flows that go
// elsewhere, pulls come late, and rates converge unequally. What is modelled of that:
//   - A link on which k flows collide carries max(floor, 1 - loss (k - 1)) of its bandwidth, where k is the
//     smaller of the numbers of different sources and of different destinations on it. Flows that meet only
//     because they leave one node (k = 1) or reach one (an incast, whose total is right) lose nothing.
//   - Flows share in proportion to weights of mean 1 and a given spread, drawn by (seed, flow).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/fluid.h"
#include "topology/fabric_spec.h"

namespace podsim {

// A transport, and the seed of the weights with which its flows share links.
struct TransportDraw {
  Transport transport;
  std::uint64_t seed = 1;  // of the weights
};

// The links of a network with all that drains over them, as engine/fluid.h has them, under one transport.
class TransportModel {
 public:
  // capacity[r] in bytes per second, >= 0. An ideal transport costs nothing over Fluid.
  TransportModel(std::vector<double> capacity, double ticks_per_second, const TransportDraw& draw);

  // As Fluid::begin; `from` and `to` name the ends of the flow. An owner has one transfer at a time, and its
  // number addresses the draw of its weight.
  void begin(Tick now, std::int32_t from, std::int32_t to, std::span<const Use> uses, double bytes,
             std::int32_t owner);
  void set_capacity(Tick now, std::int32_t resource, double capacity);
  Tick next() { return fluid_.next(); }
  void end(Tick now, std::vector<std::int32_t>& owners);
  bool idle() const { return fluid_.idle(); }
  void reserve(std::size_t transfers) { fluid_.reserve(transfers); }
  std::int64_t solves() const { return fluid_.solves(); }
  std::vector<std::int32_t> stalled() const { return fluid_.stalled(); }

 private:
  struct Flow {
    std::int32_t from = -1, to = -1;
    std::vector<Use> uses;  // scaled by the weight
  };
  struct Count {
    std::int32_t node;
    std::int32_t flows;
  };
  struct SharedLink {  // of flows on one link
    std::vector<Count> sources, destinations;
    double share = 1;  // of the link's capacity
  };

  void join(Tick now, const Flow& flow);
  void leave(Tick now, const Flow& flow);
  void update(Tick now, std::int32_t link);

  Transport transport_;
  std::uint64_t seed_;  // of the weights
  Fluid fluid_;
  std::vector<double> capacity_;          // [link] without collisions; empty when the transport is ideal
  std::vector<SharedLink> shared_links_;  // [link]
  std::vector<Flow> flows_;               // [owner]
};

}  // namespace podsim
