// What a user says of a network, before it is built: tori, NVLink domains, fat-trees, slices over a DCN.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/units.h"

namespace podsim {

// More are refused, as typing errors or out of reach of memory: where nodes and links are listed, and where a
// rule tells them (topology/regular_tree.h).
inline constexpr int kMaxChips = 1'000'000;
inline constexpr int kMaxChipsByRule = 1 << 24;
inline constexpr int kMaxFatTreeTiers = 8;
inline constexpr int kMaxMeshGpus = 8;  // a GPU has few links

// How a transfer between two chips finds its way where there are several shortest ones.
enum class Routing : std::uint8_t {
  kAdaptive,        // equal split over all: packet spraying, minimal adaptive
  kDimensionOrder,  // tori: x, then y, then z; a half-way tie goes + from even coordinates and - from odd
  kEcmp,            // one of them, by a seeded hash of (source, destination) at every switch
  kStatic,  // one of them: destination, counted leaf by leaf, modulo the choices (d-mod-k; tier by tier)
};

// How unfairly real flows share links, compared with the max-min fair ideal
// (scheduler/network/transport_model.h).
struct Transport {
  std::string name = "ideal";
  double collision_loss = 0;   // share of a link's bandwidth lost for each further flow that collides, [0, 1)
  double collision_floor = 1;  // share that is left at least, (0, 1]
  double weight_spread = 0;    // coefficient of variation of the weights with which flows share, [0, 1]

  bool is_ideal() const { return (collision_loss == 0 || collision_floor == 1) && weight_spread == 0; }
  // Of a link's bandwidth, when flows of so many sources to so many destinations meet on it. Flows that leave
  // one node, or reach one, do not collide.
  double collided_share(std::size_t sources, std::size_t destinations) const {
    const std::size_t flows = std::max<std::size_t>(1, std::min(sources, destinations));
    return std::max(collision_floor, 1 - collision_loss * static_cast<double>(flows - 1));
  }
  friend bool operator==(const Transport&, const Transport&) = default;
};

// One cable class. A link carries bandwidth * efficiency bytes of payload per second and direction.
struct LinkSpec {
  Bandwidth bandwidth;    // nominal, per direction and link
  double efficiency = 1;  // achievable share of nominal, (0, 1]
  Time latency;           // one way, one link

  Bandwidth payload() const { return bandwidth * efficiency; }
  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

// A 1-3 dimensional torus slice of chips; unused dimensions have length 1.
// - cube > 0: an OCS pod. A dimension wraps when every length is a multiple of `cube`; links between cubes
//   and wraps are optical.
// - cube = 0: a dimension wraps only when its length is in `wrap_lengths` (v5e, v6e: 16), the longest of
//   which is the side of the pod.
// - Lengths 1 and 2 never wrap: two chips have one cable.
// - A slice is made of any healthy cubes of a pod, so that failed ones change nothing while enough are left.
//   Slices that fit into one pod together are made of one.
// - Twist by n: the wraps of x and of y shift z in n x n x 2n, that of x shifts y and z in n x 2n x 2n.
struct TorusSpec {
  std::array<int, 3> shape = {1, 1, 1};
  int dimensions = 3;             // links per chip = 2 * dimensions
  int cube = 0;                   // chips along the side of an OCS cube (4), or 0 without OCS
  std::vector<int> wrap_lengths;  // lengths that close to a ring when cube = 0; empty = all do
  bool twisted = false;           // n x n x 2n or n x 2n x 2n only
  int max_chips = 0;              // largest single slice of the generation; 0 = unlimited
  int pod_cubes = 0;              // cubes of a pod; 0 = not said
  std::vector<int> failed_cubes;  // of the pod that the slices are made of, from 0
  LinkSpec ici;

  // A cube has the dimensions of the torus. Its chips, and those of a face, each of which has one optical
  // link there. REQUIRES: cube > 0.
  int chips_per_cube() const { return chips_per_face() * cube; }
  int chips_per_face() const {
    int chips = 1;
    for (int d = 1; d < dimensions; ++d) chips *= cube;
    return chips;
  }
  friend bool operator==(const TorusSpec&, const TorusSpec&) = default;
};

// One switch tier above the NICs. Tier 0 is the leaf: `down` NICs below one switch; tier i > 0: `down`
// switches below one. The uplinks of a switch together have down * bandwidth / oversubscription. The last
// tier has no uplinks.
struct FatTreeTier {
  int down = 0;
  double oversubscription = 1;  // 2 = a 2:1 tier: uplinks carry half of what the downlinks can
  friend bool operator==(const FatTreeTier&, const FatTreeTier&) = default;
};

// Servers of GPUs: an NVLink domain per `gpus_per_domain` GPUs and a NIC per GPU into a fat-tree.
// - Rail-optimised: tiers[0].down consecutive domains form a scalable unit with one leaf per rail. A spine
//   serves tiers[1].down leaves, counted over all rails and unit by unit; GPUs of different rails meet there.
// - By node: a leaf serves the tiers[0].down / gpus_per_domain (rounded down) domains that fit on it whole.
// - One node stands for all parallel switches that serve the same lower switches, and one link for all cables
//   to them: exact under packet spraying, where parallel cables fill evenly. Where each transfer takes one of
//   them (kEcmp, kStatic), every switch is a node: uplink i of the switches below leads to parallel switch i,
//   so down / oversubscription must be whole.
// - A switch has all its uplinks even when not all its ports below are used.
// - Cables between switches are of the NIC's class: same efficiency, same latency.
// - Tiers above the one that joins all GPUs are left out; NICs and leaves too when one domain holds all GPUs.
struct GpuClusterSpec {
  int gpus_per_domain = 8;         // GPUs that reach each other by NVLink; 1 = none
  LinkSpec nvlink;                 // of a GPU, all its links together; latency of one link
  bool nvlink_mesh = false;        // no switch: a GPU's links are shared out evenly among its peers
  bool nvls = false;               // in-switch reduction
  LinkSpec nic;                    // GPU to its leaf
  bool rail_optimised = true;      // GPU r of each domain on the leaf of rail r; otherwise by node
  std::vector<FatTreeTier> tiers;  // leaf first; empty only when one domain holds all GPUs
  bool sharp = false;              // switches of the fat-tree reduce
  friend bool operator==(const GpuClusterSpec&, const GpuClusterSpec&) = default;
};

// How the library's implementation of some collectives behaves by message size, as measured
// (docs/theory/model.md, section 2). Of the channels that fit a collective the most particular counts:
// twisted before algorithm before kind.
struct ChannelSpec {
  std::string algorithm = {};    // as `podsim collective` spells it; empty = each
  std::string kind = {};         // likewise
  bool twisted = false;          // on twisted slices only
  Time setup = {};               // before the first byte, beyond collective_launch
  Bytes chunk = {};              // the largest that is passed on in one piece; 0 = no pipeline to fill
  Time chunk_overhead = {};      // per chunk and stage
  double nvlink_efficiency = 0;  // share of nominal sustained on each kind of link; 0 = that of the link
  double nic_efficiency = 0;     // NICs and the switches above them
  double ici_efficiency = 0;
  friend bool operator==(const ChannelSpec&, const ChannelSpec&) = default;
};

// How a library carries a message over links: with flags in every word (LL) or every 128 bytes (LL128), in
// chunks with a notice each (Simple), by one kernel that sends to every rank at once (exchanges, in short
// words or in chunks), or through switches that reduce.
enum class Protocol : std::uint8_t { kLl, kLl128, kSimple, kExchangeLl, kExchange, kReduction };
inline constexpr std::size_t kProtocols = 6;

// What a protocol makes of the links of one class.
struct ProtocolSpec {
  double efficiency = 0;  // share of the nominal bandwidth that is sustained; 0 = it does not run there
  Time setup = {};        // of a collective
  Time step = {};         // of a step, beyond the latency of its links
  Bytes chunk = {};  // the largest that is passed on in one piece; of reductions, for each member of a domain
  Time chunk_overhead = {};  // likewise
  friend bool operator==(const ProtocolSpec&, const ProtocolSpec&) = default;
};

// A library of collectives on the links at hand (docs/theory/model.md, section 2).
struct LibrarySpec {
  struct Offer {
    std::string kind, algorithm;  // as `podsim collective` spells them
    friend bool operator==(const Offer&, const Offer&) = default;
  };
  using Part = std::array<ProtocolSpec, kProtocols>;

  Part domain = {}, network = {};
  Bandwidth landing = {};  // at which a rank takes in the last part, when no link is waited for; 0 = at once
  std::vector<Offer> offers;  // the algorithms of a kind; of kinds that are not named, all
  friend bool operator==(const LibrarySpec&, const LibrarySpec&) = default;
};

// Nodes and links of more than kMaxChips chips would have to be listed.
class TooManyChips : public std::runtime_error {
 public:
  explicit TooManyChips(int chips);
};

struct FabricSpec {
  std::string name;
  int chips = 0;   // in all slices together
  int slices = 1;  // torus slices joined by the DCN; 1 for a GPU cluster
  std::optional<TorusSpec> torus;
  std::optional<GpuClusterSpec> gpu;
  int chips_per_host = 4;  // consecutive chips of a slice that share a DCN NIC
  // Per host; used when slices > 1. Chip - host - switch of the slice - DCN core: the last two links have
  // this latency each. A chip reaches its host (PCIe) at the rate of the host's NICs without latency: it is
  // never what limits.
  LinkSpec dcn;
  double dcn_oversubscription = 1;  // of the DCN above the hosts of a slice
  Routing routing = Routing::kAdaptive;
  std::uint64_t routing_seed = 1;  // of kEcmp
  Transport transport;
  Time collective_launch;  // fixed cost of starting one collective, all software layers together
  std::vector<ChannelSpec> channels;
  std::optional<LibrarySpec> library;  // carries what no channel is of; nothing = as the links are
  friend bool operator==(const FabricSpec&, const FabricSpec&) = default;
};

}  // namespace podsim
