// A network chosen on the command line, by its name in the catalogue.
#include "proto/scenario/chosen_fabric.h"

#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/document.h"
#include "proto/text/ranges.h"

namespace podsim {

// The choice is read as the cluster block of a scenario whose fields stand on the command line.
std::pair<std::optional<FabricSpec>, std::vector<Problem>> chosen_fabric(const Catalog& catalog,
                                                                         const FabricChoice& choice) {
  schema::ClusterChoice cluster;
  Document document("--fabric", "");
  cluster.set_fabric(choice.name);
  document.place_argument("fabric", "--fabric", choice.name);
  document.place_argument("chips", "--chips", choice.chips > 0 ? std::to_string(choice.chips) : "");
  if (choice.chips != 0) cluster.set_chips(choice.chips);
  std::string shape;
  for (const int length : choice.shape) {
    cluster.add_slice_shape(length);
    shape += (shape.empty() ? "" : "x") + std::to_string(length);
  }
  document.place_argument("slice_shape", "--shape", shape);
  if (choice.slices != 1) cluster.set_slices(choice.slices);
  document.place_argument("slices", "--slices", std::to_string(choice.slices));
  if (choice.twisted) cluster.set_twisted(true);
  document.place_argument("twisted", "--twisted", "");
  if (schema::RoutingName routing; schema::RoutingName_Parse(choice.routing, &routing))
    cluster.set_routing(routing);
  document.place_argument("routing", "--routing", choice.routing);
  if (choice.routing_seed) cluster.set_routing_seed(*choice.routing_seed);
  if (!choice.transport.empty()) cluster.set_transport(choice.transport);
  document.place_argument("transport", "--transport", choice.transport);
  check_ranges(cluster, "", document);
  std::optional<FabricSpec> spec;
  if (document.clean()) spec = resolve_fabric(cluster, catalog.entries(), "", document);
  if (!document.clean()) spec.reset();
  return {spec, document.problems()};
}

int fewest_slices(const Catalog& catalog, const std::string& fabric, int chips) {
  for (int slices = 1; slices <= chips && chips % slices == 0; slices *= 2)
    if (chosen_fabric(catalog, {fabric, chips, {}, slices}).first) return slices;
  return 0;
}

}  // namespace podsim
