// Slices under a policy, and the distribution of their number.
#include "scheduler/reliability/availability/slice_pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "engine/check.h"

namespace podsim {
namespace {

// Sides of the most cubic box of so many chips that tiles a cube; those of dimensions that it lacks are 1.
std::optional<std::array<int, 3>> box_in_cube(const PodParts& parts, int chips) {
  const int cube = parts.cube, dimensions = parts.cube_dimensions;
  std::optional<std::array<int, 3>> best;
  for (int a = 1; a <= cube; ++a) {
    for (int b = a; b <= cube; ++b) {
      if ((dimensions < 3 && a > 1) || (dimensions < 2 && b > 1) || chips % (a * b) != 0) continue;
      const int c = chips / (a * b);
      if (c < b || c > cube || cube % a != 0 || cube % b != 0 || cube % c != 0) continue;
      if (!best || c < best->back()) best = {a, b, c};
    }
  }
  return best;
}

int cables_in(const std::array<int, 3>& box) {
  const auto [a, b, c] = box;
  return (a - 1) * b * c + a * (b - 1) * c + a * b * (c - 1);
}

PartCounts whole_blocks(const PodParts& parts, int blocks, bool optical_stops) {
  PartCounts counts{blocks * parts.hosts_per_block, blocks};
  if (parts.cube > 0) counts.cables = blocks * parts.copper_cables();
  if (optical_stops) counts.optical_links = blocks * parts.optical_links();
  return counts;
}

// Pieces of a block: they share what the block has as a whole.
SlicePool cut_blocks(const PodParts& parts, int slice_chips) {
  PODSIM_CHECK(parts.chips_per_block() % slice_chips == 0, "pieces tile a block");
  SlicePool pool{slice_chips, parts.blocks, parts.chips_per_block() / slice_chips};
  pool.grain.hosts = slice_chips / parts.chips_per_host;
  if (parts.cube > 0) {
    const auto box = box_in_cube(parts, slice_chips);
    PODSIM_CHECK(box.has_value(), "pieces of a cube are boxes");
    pool.grain.cables = cables_in(*box);
  }
  pool.group.blocks = 1;
  return pool;
}

}  // namespace

std::string_view to_string(SlicePolicy policy) {
  switch (policy) {
    case SlicePolicy::kAnyCubes:
      return "any_cubes";
    case SlicePolicy::kStaticPartitions:
      return "static_partitions";
    case SlicePolicy::kAnyNodes:
      return "any_nodes";
  }
  return "";
}

double availability(const PartCounts& counts, const PartAvailability& of) {
  return std::pow(of.host, counts.hosts) * std::pow(of.block, counts.blocks) *
         std::pow(of.cable, counts.cables) * std::pow(of.optical_link, counts.optical_links) *
         std::pow(of.ocs, counts.switches);
}

double failures_per_h(const PartCounts& counts, const PartAvailability& of, double repair_h) {
  PODSIM_CHECK(repair_h > 0, "what is mended in no time never counts as failed");
  const auto rate = [&](int count, double a) { return count * (1 - a) / (a * repair_h); };
  return rate(counts.hosts, of.host) + rate(counts.blocks, of.block) + rate(counts.cables, of.cable) +
         rate(counts.optical_links, of.optical_link) + rate(counts.switches, of.ocs);
}

std::string explain_impossible(const PodParts& parts, int slice_chips, SlicePolicy policy) {
  if (policy == SlicePolicy::kAnyCubes && !parts.any_blocks)
    return parts.name + " has no optical circuit switches that could join any cubes";
  if (policy == SlicePolicy::kAnyNodes && !parts.any_hosts)
    return parts.name + " is a torus: a slice is not made of any nodes";
  if (slice_chips > parts.chips()) return "there are only " + std::to_string(parts.chips()) + " chips";
  if (slice_chips % parts.chips_per_host != 0)
    return "a slice is made of whole hosts of " + std::to_string(parts.chips_per_host) + " chips";
  const int block = parts.chips_per_block();
  if (policy == SlicePolicy::kAnyNodes || slice_chips % block == 0) return {};
  const bool tiles = parts.cube > 0 ? box_in_cube(parts, slice_chips).has_value()
                                    : slice_chips < block && block % slice_chips == 0;
  if (tiles) return {};
  return "a slice is made of whole " + parts.block + "s of " + std::to_string(block) +
         " chips, or is a piece that tiles one";
}

SlicePool cut_slices(const PodParts& parts, int slice_chips, SlicePolicy policy, bool optical_stops) {
  PODSIM_CHECK(slice_chips > 0 && slice_chips <= parts.chips(), "a slice is a part of the pod");
  PODSIM_CHECK(slice_chips % parts.chips_per_host == 0, "a slice is made of whole hosts");
  const int block = parts.chips_per_block();
  if (policy == SlicePolicy::kAnyNodes) {
    SlicePool pool{slice_chips, parts.blocks, parts.hosts_per_block, slice_chips / parts.chips_per_host};
    pool.grain.hosts = 1;
    pool.group.blocks = 1;
    return pool;
  }
  if (slice_chips < block) return cut_blocks(parts, slice_chips);
  const int blocks = slice_chips / block;
  const bool joined = policy == SlicePolicy::kAnyCubes;
  SlicePool pool{slice_chips, joined ? parts.blocks : parts.blocks / blocks, 1, joined ? blocks : 1};
  pool.grain = whole_blocks(parts, joined ? 1 : blocks, optical_stops);
  if (joined && optical_stops) pool.pod.switches = parts.optical_switches();
  return pool;
}

std::vector<double> binomial(int n, double p) {
  PODSIM_CHECK(n >= 0, "a number of trials");
  std::vector<double> terms(static_cast<std::size_t>(n) + 1, 0.0);
  if (p <= 0 || p >= 1) {
    terms[p <= 0 ? 0 : static_cast<std::size_t>(n)] = 1;
    return terms;
  }
  const int mode = std::min(n, static_cast<int>((n + 1) * p));
  const double odds = p / (1 - p);
  terms[static_cast<std::size_t>(mode)] = 1;
  for (int k = mode; k < n; ++k) terms[k + 1] = terms[k] * (n - k) / (k + 1) * odds;
  for (int k = mode; k > 0; --k) terms[k - 1] = terms[k] * k / (n - k + 1) / odds;
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0);
  for (double& term : terms) term /= sum;
  return terms;
}

namespace {

// [k]: probability that k grains are up while the pod is.
std::vector<double> grains_up(const SlicePool& pool, const PartAvailability& of) {
  const double p = availability(pool.grain, of), group = availability(pool.group, of);
  if (pool.grains_per_group == 1) return binomial(pool.groups, p * group);
  if (group == 1) return binomial(pool.grains(), p);
  constexpr double kVanishes = 1e-20;  // of all groups: their sum stays below the precision of a double
  std::vector<double> terms(static_cast<std::size_t>(pool.grains()) + 1, 0.0);
  const std::vector<double> of_groups = binomial(pool.groups, group);
  for (int g = 0; g <= pool.groups; ++g) {
    if (of_groups[g] < kVanishes) continue;
    const std::vector<double> in_groups = binomial(g * pool.grains_per_group, p);
    for (std::size_t k = 0; k < in_groups.size(); ++k) terms[k] += of_groups[g] * in_groups[k];
  }
  return terms;
}

}  // namespace

std::vector<double> slices_there(const SlicePool& pool, const PartAvailability& of) {
  std::vector<double> slices(static_cast<std::size_t>(pool.most_slices()) + 1, 0.0);
  PODSIM_CHECK(pool.grains_per_slice > 0, "a slice is made of grains");
  const std::vector<double> grains = grains_up(pool, of);
  const double pod = availability(pool.pod, of);
  for (std::size_t k = 0; k < grains.size(); ++k) slices[k / pool.grains_per_slice] += pod * grains[k];
  slices[0] += 1 - pod;
  return slices;
}

int reached_with(const std::vector<double>& probability_of, double probability) {
  PODSIM_CHECK(!probability_of.empty(), "some number of slices is there");
  double reached = 0;
  for (auto n = static_cast<int>(probability_of.size()) - 1; n > 0; --n) {
    reached += probability_of[n];
    if (reached >= probability) return n;
  }
  return 0;
}

}  // namespace podsim
