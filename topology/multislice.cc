// Multislice: hosts and the data-centre network that joins torus slices.
#include "topology/builders.h"

namespace podsim {

void add_dcn(Fabric& fabric, const FabricSpec& spec) {
  const int chips = spec.chips / spec.slices;
  const int hosts = 1 + (chips - 1) / spec.chips_per_host;  // the last one may be partly used
  const NodeId first_host = spec.chips;
  for (int h = 0; h < hosts * spec.slices; ++h) add_node(fabric, NodeKind::kHost, 1);
  for (int s = 0; s < spec.slices; ++s) add_node(fabric, NodeKind::kDcn, 2);
  const NodeId first_slice_switch = first_host + hosts * spec.slices;
  const NodeId core = add_node(fabric, NodeKind::kDcn, 3);

  LinkSpec pcie = spec.dcn;
  pcie.latency = Time{};
  for (ChipId chip = 0; chip < spec.chips; ++chip) {
    const int slice = chip / chips;
    const NodeId host = first_host + slice * hosts + chip % chips / spec.chips_per_host;
    add_cable(fabric, chip, host, LinkKind::kPcie, pcie);
  }
  for (int h = 0; h < hosts * spec.slices; ++h)
    add_cable(fabric, first_host + h, first_slice_switch + h / hosts, LinkKind::kDcn, spec.dcn);
  for (int s = 0; s < spec.slices; ++s)
    add_cable(fabric, first_slice_switch + s, core, LinkKind::kTrunk, spec.dcn,
              hosts / spec.dcn_oversubscription);
}

}  // namespace podsim
