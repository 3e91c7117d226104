// What a torus pod answers for itself: slices, joined by the data-centre network.
#include <algorithm>

#include "topology/builders.h"
#include "topology/fabric_kind.h"
#include "topology/shape.h"

namespace podsim {
namespace {

int slice_chips(const FabricSpec& spec) { return spec.chips / spec.slices; }

void add_slices(Fabric& fabric, const FabricSpec& spec) {
  add_tori(fabric, spec);
  if (spec.slices > 1) add_dcn(fabric, spec);
}

std::string explain_cut_slices(const FabricSpec& spec, int first, int chips) {
  const int unit = slice_chips(spec);
  if (first % unit == 0 && chips % unit == 0) return "";
  return "a job has whole slices of " + std::to_string(unit) + " chips, not chips " + std::to_string(first) +
         " to " + std::to_string(first + chips - 1);
}

FabricSpec cut_slices(const FabricSpec& spec, int chips) {
  FabricSpec part = spec;
  part.slices = chips / slice_chips(spec);
  part.chips = chips;
  return part;
}

// As many slices as before, of another shape.
std::string resize_slices(FabricSpec& spec, int chips) {
  spec.chips = chips;
  if (chips % spec.slices != 0)
    return std::to_string(chips) + " chips do not make " + std::to_string(spec.slices) + " equal slices";
  const auto shape = most_cubic_shape(*spec.torus, slice_chips(spec));
  if (!shape) return "no slice of " + spec.name + " has " + std::to_string(slice_chips(spec)) + " chips";
  if (*shape != spec.torus->shape) spec.torus->twisted = false;
  spec.torus->shape = *shape;
  return "";
}

// Without optical switches nothing smaller than a slice is replaced, host by host.
ReplaceableUnit cube_block(const FabricSpec& spec) {
  ReplaceableUnit block;
  block.name = "host";
  const TorusSpec& torus = *spec.torus;
  if (torus.cube == 0) return block;
  block.name = "cube";
  block.side = torus.cube;
  block.dimensions = torus.dimensions;
  block.face_chips = torus.chips_per_face();
  block.hosts = std::max(1, torus.chips_per_cube() / spec.chips_per_host);
  block.in_pod = torus.pod_cubes;
  block.any_blocks = true;
  return block;
}

std::vector<FailureDomain> domains_of_tori(const FabricSpec& spec) {
  const TorusSpec& torus = *spec.torus;
  return {{"cube", torus.cube > 0 ? torus.chips_per_cube() : 0}, {"slice", slice_chips(spec)}};
}

}  // namespace

const FabricKind kTorusPod = {
    .is = [](const FabricSpec& spec) { return spec.torus.has_value(); },
    .explain_invalid = explain_torus,
    .add = add_slices,
    .dimensions = [](const FabricSpec& spec) { return std::span<const int>(spec.torus->shape); },
    .explain_cut = explain_cut_slices,
    .cut = cut_slices,
    .resize = resize_slices,
    .cables =
        [](const FabricSpec& spec) {
          return std::vector<CableClass>{{LinkKind::kIci, &spec.torus->ici}};
        },
    .joined_chips = slice_chips,
    .chips_in_step = slice_chips,
    .block = cube_block,
    .failure_domains = domains_of_tori,
    .failed_blocks = [](FabricSpec& spec) { return &spec.torus->failed_cubes; },
};

}  // namespace podsim
