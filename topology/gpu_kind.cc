// What a GPU cluster answers for itself: NVLink domains, joined by a fat-tree.
#include <algorithm>
#include <climits>
#include <cstdint>

#include "topology/builders.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

std::string explain_cut_domains(const FabricSpec& spec, int first, int chips) {
  const int unit = spec.gpu->gpus_per_domain;
  if (first % unit == 0 && chips % unit == 0) return "";
  if (first / unit == (first + chips - 1) / unit) return "";
  return "a job begins and ends at borders of NVLink domains of " + std::to_string(unit) +
         " GPUs, or lies inside one; chips " + std::to_string(first) + " to " +
         std::to_string(first + chips - 1) + " do not";
}

FabricSpec cut_domains(const FabricSpec& spec, int chips) {
  FabricSpec part = spec;
  part.chips = chips;
  return part;
}

std::string resize_cluster(FabricSpec& spec, int chips) {
  spec.chips = chips;
  return "";
}

std::vector<CableClass> cables_of_gpus(const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  std::vector<CableClass> cables;
  if (gpu.gpus_per_domain > 1) cables.push_back({LinkKind::kNvlink, &gpu.nvlink});
  cables.push_back({LinkKind::kNic, &gpu.nic, spec.chips > gpu.gpus_per_domain});
  return cables;
}

ReplaceableUnit domain_block(const FabricSpec& spec) {
  const int hosts = spec.gpu->gpus_per_domain / spec.chips_per_host;
  ReplaceableUnit block;
  block.name = hosts > 0 ? "NVLink domain" : "host";
  block.hosts = std::max(1, hosts);
  block.any_hosts = true;
  return block;
}

std::vector<FailureDomain> domains_of_gpus(const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  const std::int64_t below_nic = gpu.rail_optimised ? gpu.gpus_per_domain : 1;
  const std::int64_t below_leaf = gpu.tiers.empty() ? 0 : gpu.tiers[0].down * below_nic;
  return {{"nvlink_domain", gpu.gpus_per_domain},
          {"leaf", static_cast<int>(std::min<std::int64_t>(below_leaf, INT_MAX))}};
}

}  // namespace

const FabricKind kGpuCluster = {
    .is = [](const FabricSpec& spec) { return spec.gpu.has_value(); },
    .explain_invalid = explain_gpu_cluster,
    .add = add_gpu_cluster,
    .dimensions = [](const FabricSpec&) { return std::span<const int>(); },
    .explain_cut = explain_cut_domains,
    .cut = cut_domains,
    .resize = resize_cluster,
    .cables = cables_of_gpus,
    .joined_chips = [](const FabricSpec& spec) { return spec.gpu->gpus_per_domain; },
    .chips_in_step = [](const FabricSpec& spec) { return spec.chips_per_host; },
    .block = domain_block,
    .failure_domains = domains_of_gpus,
    .failed_blocks = [](FabricSpec&) -> std::vector<int>* { return nullptr; },
};

}  // namespace podsim
