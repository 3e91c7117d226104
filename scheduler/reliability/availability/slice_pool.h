// What slices of one size are cut from under one policy, and how often that is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/reliability/availability/pod_parts.h"

namespace podsim {

// How slices are made of the parts of a pod that are up.
enum class SlicePolicy : std::uint8_t {
  kAnyCubes,          // any healthy cubes: optical circuit switches join them
  kStaticPartitions,  // fixed groups of neighbours
  kAnyNodes,          // any healthy hosts of a fat-tree
};
std::string_view to_string(SlicePolicy policy);  // "any_cubes", "static_partitions", "any_nodes"

// Shares of the time that one part of a kind is up; parts fail independently of each other.
struct PartAvailability {
  double host = 1;
  double block = 1;         // what is left of a cube or NVLink domain without its hosts and cables
  double cable = 1;         // copper, in a cube
  double optical_link = 1;  // of a cube, to a switch
  double ocs = 1;
  bool optical_stops = false;  // else traffic is routed around what is optical and down
};

// How many parts of each kind something needs, all of which must be up.
struct PartCounts {
  int hosts = 0, blocks = 0, cables = 0, optical_links = 0, switches = 0;
};
double availability(const PartCounts& counts, const PartAvailability& of);
// A part that is up a share a of the time and takes r hours to mend fails (1 - a) / (a r) times an hour.
double failures_per_h(const PartCounts& counts, const PartAvailability& of, double repair_h);

// A slice takes any `grains_per_slice` grains that are up. A grain is up when its own parts, those of its
// group and those of the pod are.
struct SlicePool {
  int slice_chips = 0;
  int groups = 0;
  int grains_per_group = 1;
  int grains_per_slice = 1;
  PartCounts grain = {}, group = {}, pod = {};

  int grains() const { return groups * grains_per_group; }
  int most_slices() const { return grains() / grains_per_slice; }
};

// Why the policy cannot make slices of that many chips of these parts, with what it can make; or empty.
std::string explain_impossible(const PodParts& parts, int slice_chips, SlicePolicy policy);

// - Any cubes: grains are cubes; of slices that are smaller, the pieces that tile a cube.
// - Static partitions: grains are slices.
// - Any nodes: grains are hosts; an NVLink domain is a group.
// REQUIRES: explain_impossible is empty.
SlicePool cut_slices(const PodParts& parts, int slice_chips, SlicePolicy policy, bool optical_stops);

// Probability of k successes in n independent trials, k = 0 .. n. By ratios of neighbours from the most
// likely k on, so that nothing overflows and terms keep their relative precision until they vanish.
std::vector<double> binomial(int n, double p);

// [n]: probability that exactly n slices can be made.
std::vector<double> slices_there(const SlicePool& pool, const PartAvailability& of);

// The largest n that is reached with at least this probability.
int reached_with(const std::vector<double>& probability_of, double probability);

}  // namespace podsim
