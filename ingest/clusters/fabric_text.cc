// Lines of cluster and adversity blocks, each with where its value is from.
#include "ingest/clusters/fabric_text.h"

#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "report/text.h"

namespace podsim {
namespace {

std::string line(const std::string& text, const std::string& from) { return text + "  # " + from + "\n"; }

std::string odd_ports(const FabricOfCluster& cluster, std::int64_t per_host) {
  std::string text;
  for (const FabricOfCluster::OddPort& port : cluster.odd_ports) {
    const std::string chip =
        "{ chip: " + std::to_string(port.host * per_host + port.adapter) + " kind: \"nic\"";
    text += port.speed_fraction > 0
                ? line("  slow_link " + chip + " speed_fraction: " + shortest(port.speed_fraction) + " }",
                       port.from)
                : line("  failed_port " + chip + " }", port.from);
  }
  return text.empty() ? "" : "adversity {\n" + text + "}\n";
}

}  // namespace

void write_fabric(const FabricOfCluster& cluster, const Stated& stated, Imported& imported) {
  imported.is_fabric = true;
  if (stated.fabric.empty()) {
    imported.needs_to_run.push_back(
        {"a fabric of the catalogue with the links that the file does not tell", "--fabric"});
    return;
  }
  static const Catalog catalog;
  const auto [spec, problems] = chosen_fabric(catalog, {stated.fabric, 1, {}, 1, false});
  if (!spec || !spec->gpu) {
    imported.needs_to_run.push_back({"a fabric of GPUs instead of " + stated.fabric, "--fabric"});
    return;
  }
  const std::int64_t per_host = spec->gpu->gpus_per_domain;
  const std::int64_t of_leaf = cluster.says_rails ? 1 : per_host;
  std::string text = "# From " + cluster.file +
                     ", by podsim import: blocks of a scenario, to which a job is added.\ncluster {\n";
  if (!stated.chip.empty()) text += line("  chip: \"" + stated.chip + "\"", stated.chip_from);
  text += line("  fabric: \"" + stated.fabric + "\"", stated.fabric_from);
  text += line("  chips: " + std::to_string(cluster.nodes * per_host),
               std::to_string(cluster.nodes) + " hosts of " + std::to_string(per_host) + " GPUs, as in " +
                   stated.fabric);
  text += "  fabric_override {\n    gpu_cluster {\n";
  if (cluster.nic_gb_per_s > 0)
    text += line("      nic { bandwidth_gb_per_s: " + shortest(cluster.nic_gb_per_s) + " }",
                 "rate of most host ports");
  if (cluster.says_rails)
    text += line(std::string("      rail_optimised: ") + (cluster.rail_optimised ? "true" : "false"),
                 "leaves of the adapters of a host");
  for (std::size_t i = 0; i < cluster.tiers.size(); ++i) {
    const auto& [down, oversubscription] = cluster.tiers[i];
    text += line("      tier { down: " + std::to_string(down * (i == 0 ? of_leaf : 1)) +
                     " oversubscription: " + shortest(oversubscription) + " }",
                 cluster.tiers_from);
  }
  text += "    }\n  }\n}\n";
  const bool ports_are_nics = cluster.adapters == per_host;
  imported.scenario = text + (ports_are_nics ? odd_ports(cluster, per_host) : "");
}

}  // namespace podsim
