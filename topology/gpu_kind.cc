// What a GPU cluster answers for itself: NVLink domains, joined by a fat-tree.
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

}  // namespace

const FabricKind kGpuCluster = {
    .is = [](const FabricSpec& spec) { return spec.gpu.has_value(); },
    .explain_invalid = explain_gpu_cluster,
    .add = add_gpu_cluster,
    .dimensions = [](const FabricSpec&) { return std::span<const int>(); },
    .explain_cut = explain_cut_domains,
    .cut = cut_domains,
    .resize = resize_cluster,
};

}  // namespace podsim
