// explain_invalid: what keeps a described network from being built, and what would be right.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "topology/builders.h"
#include "topology/fabric_kind.h"
#include "topology/fat_tree.h"
#include "topology/regular_tree.h"
#include "topology/shape.h"

namespace podsim {
namespace {

template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  (text << ... << parts);
  return text.str();
}

std::string shape_name(const std::array<int, 3>& shape, int dimensions) {
  std::string name = std::to_string(shape[0]);
  for (int d = 1; d < dimensions; ++d) name += 'x' + std::to_string(shape[d]);
  return name;
}

std::string explain_link(std::string_view name, const LinkSpec& link) {
  if (!(link.bandwidth.value > 0) || !std::isfinite(link.bandwidth.value))
    return say("the ", name, " bandwidth must be positive, not ", link.bandwidth.value, " B/s");
  if (!(link.efficiency > 0 && link.efficiency <= 1))
    return say("the ", name, " efficiency must be in (0, 1], not ", link.efficiency);
  if (link.latency < Time{}) return say("the ", name, " latency must not be negative");
  return {};
}

std::string explain_oversubscription(std::string_view where, double ratio) {
  if (ratio > 0 && std::isfinite(ratio)) return {};
  return say("the oversubscription of ", where, " must be positive (2 for 2:1), not ", ratio);
}

std::string explain_counts(const FabricSpec& spec) {
  if (kinds_of(spec) != 1) return "a fabric is either a torus or a GPU cluster";
  if (spec.chips < 1) return say("a fabric needs at least 1 chip, not ", spec.chips);
  if (const int most = RegularTree::tells(spec) ? kMaxChipsByRule : kMaxChips; spec.chips > most)
    return say("podsim simulates at most ", most, " chips, not ", spec.chips);
  if (spec.slices < 1) return say("a fabric needs at least 1 slice, not ", spec.slices);
  if (spec.chips % spec.slices != 0)
    return say(spec.chips, " chips cannot be divided into ", spec.slices, " equal slices");
  return {};
}

// OCS pods: whole cubes, or a part of one cube that its hosts can give away.
std::string explain_cubes(const TorusSpec& torus) {
  if (torus.cube == 0) return {};
  const int cube = torus.cube;
  const auto used = std::span(torus.shape).first(torus.dimensions);
  if (std::ranges::all_of(used, [cube](int length) { return length % cube == 0; })) return {};
  const auto fits_in_cube = [cube](int length) { return length <= cube && cube % length == 0; };
  if (std::ranges::all_of(used, fits_in_cube)) return {};
  std::array<int, 3> nearest = {1, 1, 1};
  for (int d = 0; d < torus.dimensions; ++d)
    nearest[d] = std::max(1, (torus.shape[d] + cube / 2) / cube) * cube;
  std::string parts = "1";
  for (int length = 2; length <= cube; ++length)
    if (cube % length == 0) parts += (length == cube ? " or " : ", ") + std::to_string(length);
  return say("the pod cannot make a ", shape_name(torus.shape, torus.dimensions),
             " slice: lengths must be multiples of ", cube,
             " (nearest: ", shape_name(nearest, torus.dimensions), "), or all of them ", parts,
             " inside one cube");
}

std::string explain_twist(const TorusSpec& torus) {
  if (!torus.twisted) return {};
  if (torus.cube == 0) return "a twist needs optical circuit switches, and this fabric has none";
  const auto [x, y, z] = torus.shape;
  const bool twistable = x > 1 && x % torus.cube == 0 && (y == x || y == 2 * x) && z == 2 * x;
  if (twistable) return {};
  return say("a ", shape_name(torus.shape, torus.dimensions),
             " slice cannot be twisted: only n x n x 2n and n x 2n x 2n,",
             " in this order, with n a multiple of ", std::max(2, torus.cube));
}

std::string explain_lengths(const TorusSpec& torus) {
  if (torus.dimensions < 1 || torus.dimensions > 3)
    return say("a torus has 1 to 3 dimensions, not ", torus.dimensions);
  if (torus.cube < 0 || torus.cube > kMaxChips) return say("the side of a cube cannot be ", torus.cube);
  for (int d = 0; d < 3; ++d) {
    if (torus.shape[d] < 1 || torus.shape[d] > kMaxChips)
      return say("a slice cannot have length ", torus.shape[d], " in dimension ", "xyz"[d]);
    if (d >= torus.dimensions && torus.shape[d] != 1)
      return say("this torus has ", torus.dimensions, " dimensions: a ", shape_name(torus.shape, 3),
                 " slice has more");
  }
  if (torus.cube > 0 || torus.wrap_lengths.empty()) return {};
  const int side = std::ranges::max(torus.wrap_lengths);
  const int longest = std::ranges::max(torus.shape);
  if (longest <= side) return {};
  return say("a ", shape_name(torus.shape, torus.dimensions), " slice is longer than the pod, whose side is ",
             side);
}

std::string explain_chip_count(const FabricSpec& spec) {
  const TorusSpec& torus = *spec.torus;
  const std::int64_t product = std::int64_t{torus.shape[0]} * torus.shape[1] * torus.shape[2];
  const int per_slice = spec.chips / spec.slices;
  if (product != per_slice)
    return say("a ", shape_name(torus.shape, torus.dimensions), " slice has ", product, " chips, but ",
               spec.chips, " chips in ", spec.slices, spec.slices == 1 ? " slice" : " slices", " are ",
               per_slice, " per slice: ", product * spec.slices, " chips would fit this shape");
  if (torus.max_chips > 0 && per_slice > torus.max_chips)
    return say("a slice has at most ", torus.max_chips, " chips, not ", per_slice, ": use more slices");
  return {};
}

// Cubes of one slice, or 1 for a part of a cube.
std::int64_t cubes_of_slice(const TorusSpec& torus) {
  std::int64_t cubes = 1;
  for (int d = 0; d < torus.dimensions; ++d) cubes *= std::max(1, torus.shape[d] / torus.cube);
  return cubes;
}

std::string largest_slices(const TorusSpec& torus, int cubes) {
  std::string text;
  for (const bool powers_of_two : {false, true}) {
    const auto shape = largest_shape(torus, cubes, powers_of_two);
    if (!shape) return text;
    const std::string name = shape_name(*shape, torus.dimensions);
    if (text.find(name) != std::string::npos) continue;
    text += say(powers_of_two ? " and, in powers of two, " : "", name, " (",
                (*shape)[0] * (*shape)[1] * (*shape)[2], " chips)");
  }
  return text;
}

std::string explain_failed_cubes(const FabricSpec& spec) {
  const TorusSpec& torus = *spec.torus;
  if (torus.failed_cubes.empty()) return {};
  if (torus.cube == 0)
    return "this pod has no optical circuit switches: its links are fixed, so that no other part of it can "
           "take the place of a failed one";
  if (torus.pod_cubes == 0) return "how many cubes the pod has is not known";
  for (const int cube : torus.failed_cubes)
    if (cube < 0 || cube >= torus.pod_cubes)
      return say("there is no cube ", cube, ": the pod has cubes 0 to ", torus.pod_cubes - 1);
  return {};
}

// A slice needs that many healthy cubes, wherever they are.
std::string explain_pod(const FabricSpec& spec) {
  const TorusSpec& torus = *spec.torus;
  if (auto why = explain_failed_cubes(spec); !why.empty()) return why;
  if (torus.cube == 0 || torus.pod_cubes == 0) return {};
  const std::int64_t per_slice = cubes_of_slice(torus), together = per_slice * spec.slices;
  const std::int64_t needed = together <= torus.pod_cubes ? together : per_slice;
  std::vector<int> failed = torus.failed_cubes;
  std::ranges::sort(failed);
  const auto distinct = std::unique(failed.begin(), failed.end()) - failed.begin();
  const int healthy = torus.pod_cubes - static_cast<int>(distinct);
  if (needed <= healthy) return {};
  std::string text =
      say("the pod has ", healthy, " healthy cubes of ", torus.pod_cubes, ", and ",
          spec.slices == 1 ? "a " : say(spec.slices, " slices of "),
          shape_name(torus.shape, torus.dimensions), spec.slices == 1 ? " slice takes " : " take ", needed);
  const std::string largest = largest_slices(torus, healthy);
  if (!largest.empty()) text += ": the largest slices left are " + largest;
  return text;
}

std::string explain_dcn(const FabricSpec& spec) {
  if (spec.slices == 1) return {};
  if (spec.chips_per_host < 1) return say("a host needs at least 1 chip, not ", spec.chips_per_host);
  const std::string link = explain_link("DCN", spec.dcn);
  return link.empty() ? explain_oversubscription("the DCN", spec.dcn_oversubscription) : link;
}

}  // namespace

std::string explain_torus(const FabricSpec& spec) {
  if (auto why = explain_lengths(*spec.torus); !why.empty()) return why;
  if (auto why = explain_cubes(*spec.torus); !why.empty()) return why;
  if (auto why = explain_twist(*spec.torus); !why.empty()) return why;
  if (auto why = explain_chip_count(spec); !why.empty()) return why;
  if (auto why = explain_pod(spec); !why.empty()) return why;
  if (auto why = explain_link("ICI", spec.torus->ici); !why.empty()) return why;
  return explain_dcn(spec);
}

namespace {

std::string explain_fat_tree(const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  if (gpu.tiers.empty())
    return say(spec.chips, " GPUs in NVLink domains of ", gpu.gpus_per_domain,
               " need a fat-tree, and there are no tiers");
  if (gpu.tiers.size() > kMaxFatTreeTiers)
    return say("a fat-tree has at most ", kMaxFatTreeTiers, " tiers, not ", gpu.tiers.size());
  for (std::size_t tier = 0; tier < gpu.tiers.size(); ++tier) {
    if (gpu.tiers[tier].down < 1)
      return say("a switch of tier ", tier, " serves ", gpu.tiers[tier].down, " links below");
    const std::string ratio = explain_oversubscription(say("tier ", tier), gpu.tiers[tier].oversubscription);
    if (!ratio.empty()) return ratio;
  }
  if (!gpu.rail_optimised && gpu.tiers[0].down < gpu.gpus_per_domain)
    return say("a leaf with ", gpu.tiers[0].down, " links below cannot serve a whole domain of ",
               gpu.gpus_per_domain, " GPUs: cable it rail-optimised");
  const int capacity = fat_tree_capacity(gpu);
  if (spec.chips > capacity)
    return say("a fat-tree of ", gpu.tiers.size(), gpu.tiers.size() == 1 ? " tier" : " tiers",
               " like this joins at most ", capacity, " GPUs, not ", spec.chips,
               ": add a tier or larger switches");
  return {};
}

// Routing that picks one of several switches needs each of them as a node.
std::string explain_individual_switches(const FabricSpec& spec) {
  if (!picks_switches(spec)) return {};
  constexpr std::int64_t kMostCables = 4'000'000;
  const GpuClusterSpec& gpu = *spec.gpu;
  for (std::size_t tier = 0; tier + 1 < gpu.tiers.size(); ++tier) {
    const auto& [down, ratio] = gpu.tiers[tier];
    if (whole_uplinks(gpu.tiers[tier]) > 0) continue;
    const double whole = std::clamp(std::round(down / ratio), 1.0, static_cast<double>(down));
    return say("a switch of tier ", tier, " with ", down, " links below and an oversubscription of ", ratio,
               " has ", down / ratio,
               " uplinks; routing that picks one of them needs a whole number: ", whole,
               " at an oversubscription of ", down / whole);
  }
  const IndividualTree tree = size_individual_tree(spec);
  if (tree.cables <= kMostCables) return {};
  return say("routing that picks switches needs each of them and its cables, here more than ", kMostCables,
             ": use adaptive routing, which takes parallel switches together");
}

}  // namespace

std::string explain_gpu_cluster(const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  const int domain = gpu.gpus_per_domain;
  if (spec.slices > 1)
    return say("a GPU cluster has no slices: its fat-tree joins all GPUs, not ", spec.slices, " parts");
  if (domain < 1) return say("an NVLink domain has at least 1 GPU, not ", domain);
  if (spec.routing == Routing::kDimensionOrder)
    return "a GPU cluster has no dimensions to route in order of: its routing is adaptive, ecmp or static";
  if (domain > 1)
    if (auto why = explain_link("NVLink", gpu.nvlink); !why.empty()) return why;
  if (gpu.nvlink_mesh && gpu.nvls) return "an NVLink mesh has no switches that could reduce (nvls)";
  if (gpu.nvlink_mesh && domain > kMaxMeshGpus)
    return say("an NVLink mesh joins at most ", kMaxMeshGpus, " GPUs pair by pair, not ", domain);
  if (spec.chips <= domain) return {};
  if (spec.chips % domain != 0) {
    const int full = spec.chips / domain * domain;
    return say(spec.chips, " GPUs do not fill NVLink domains of ", domain, ": ", full, " or ", full + domain,
               " would");
  }
  if (auto why = explain_link("NIC", gpu.nic); !why.empty()) return why;
  if (auto why = explain_fat_tree(spec); !why.empty()) return why;
  return explain_individual_switches(spec);
}

std::string explain_invalid(const FabricSpec& spec) {
  if (auto why = explain_counts(spec); !why.empty()) return why;
  if (auto why = kind_of(spec).explain_invalid(spec); !why.empty()) return why;
  return explain_channels(spec);
}

}  // namespace podsim
