// Lines of cluster and adversity blocks, each with where its value is from.
#include "ingest/clusters/fabric_text.h"

#include <algorithm>
#include <cmath>

#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string line(const std::string& text, const std::string& from) { return text + "  # " + from + "\n"; }

std::string odd_ports(const std::vector<FabricOfCluster::OddPort>& odd, std::int64_t per_host) {
  std::string text;
  for (const FabricOfCluster::OddPort& port : odd) {
    const std::string chip =
        "{ chip: " + std::to_string(port.host * per_host + port.adapter) + " kind: \"nic\"";
    text += port.speed_fraction > 0
                ? line("  slow_link " + chip + " speed_fraction: " + shortest(port.speed_fraction) + " }",
                       port.from)
                : line("  failed_port " + chip + " }", port.from);
  }
  return text.empty() ? "" : "adversity {\n" + text + "}\n";
}

std::string heading(const FabricOfCluster& cluster) {
  return "# From " + cluster.file + ", by podsim import: blocks of a scenario, to which a job is added.\n";
}

// `sharing` chips have an adapter together.
std::string nic_line(const FabricOfCluster& cluster, double sharing = 1) {
  if (cluster.nic_gb_per_s <= 0) return "";
  return line("      nic { bandwidth_gb_per_s: " + shortest(cluster.nic_gb_per_s / sharing) + " }",
              sharing > 1 ? "rate of most host ports, " + shortest(cluster.nic_gb_per_s) + ", by " +
                                shortest(sharing) + " GPUs for each adapter"
                          : "rate of most host ports");
}

// `of_leaf` chips at each port down of a leaf, and so many leaves for each of the file.
std::string tier_lines(const FabricOfCluster& cluster, double of_leaf, double leaves = 1) {
  std::string text;
  for (std::size_t i = 0; i < cluster.tiers.size(); ++i) {
    const auto& [down, oversubscription] = cluster.tiers[i];
    const double places = static_cast<double>(down) * (i == 0 ? of_leaf : leaves);
    text += line("      tier { down: " + std::to_string(std::llround(std::ceil(places))) +
                     " oversubscription: " + shortest(oversubscription) + " }",
                 cluster.tiers_from);
  }
  return text;
}

std::string network_alone(const FabricOfCluster& cluster, const std::string& like) {
  FabricOfCluster full = cluster;  // every port has a place: leaves of as many ports as are needed
  auto& [down, oversubscription] = full.tiers.front();
  const std::int64_t leaves = full.tiers.back().first;
  down = std::max(down, (cluster.end_ports + leaves - 1) / leaves);
  return heading(cluster) +
         "# The file tells of no GPU and no NVLink: each port of a host is a chip here, leaf by leaf." +
         " With --fabric the\n# GPUs of a host are those of that fabric. A job needs a chip too: chip: "
         "\"h100\".\ncluster {\n" +
         line("  fabric: \"" + like + "\"",
              "assumed: its NICs, of the same rate, have the latency and efficiency of a link (--fabric)") +
         line("  chips: " + std::to_string(cluster.end_ports), "ports of hosts") +
         "  fabric_override {\n    gpu_cluster {\n" + line("      gpus_per_domain: 1", "no NVLink is known") +
         nic_line(cluster) + line("      rail_optimised: false", "chips are in the order of their leaves") +
         tier_lines(full, 1) + "    }\n  }\n}\n" + odd_ports(cluster.odd_ends, 1);
}

// The first of the catalogue whose NICs have this rate; empty where none has.
std::string fabric_with_nics(const Catalog& catalog, double gb_per_s) {
  for (const std::string& name : catalog.names(Catalog::Section::kFabrics)) {
    const auto rate = catalog.number(Catalog::Section::kFabrics, name, "gpu_cluster.nic.bandwidth_gb_per_s");
    if (rate && *rate == gb_per_s) return name;
  }
  return "";
}

}  // namespace

void write_fabric(const FabricOfCluster& cluster, const Stated& stated, Imported& imported) {
  imported.is_fabric = true;
  static const Catalog catalog;
  if (stated.fabric.empty()) {
    const std::string like = cluster.end_ports > 0 && !cluster.tiers.empty()
                                 ? fabric_with_nics(catalog, cluster.nic_gb_per_s)
                                 : "";
    if (like.empty())
      imported.needs_to_run.push_back(
          {"a fabric of the catalogue with the links that the file does not tell", "--fabric"});
    else
      imported.scenario = network_alone(cluster, like);
    return;
  }
  const auto [spec, problems] = chosen_fabric(catalog, {stated.fabric, 1, {}, 1, false});
  if (!spec || !spec->gpu) {
    imported.needs_to_run.push_back({"a fabric of GPUs instead of " + stated.fabric, "--fabric"});
    return;
  }
  const std::int64_t per_host = spec->gpu->gpus_per_domain;
  // GPUs that share an adapter have parts of it: of a rail each has a leaf of its own.
  const double gpus = static_cast<double>(per_host), adapters = static_cast<double>(cluster.adapters);
  const double sharing = cluster.adapters > 0 ? std::max(1.0, gpus / adapters) : 1;
  const double of_leaf = !cluster.says_rails ? gpus : cluster.rail_optimised ? 1 : sharing;
  std::string text = heading(cluster) + "cluster {\n";
  if (!stated.chip.empty()) text += line("  chip: \"" + stated.chip + "\"", stated.chip_from);
  text += line("  fabric: \"" + stated.fabric + "\"", stated.fabric_from);
  text += line("  chips: " + std::to_string(cluster.nodes * per_host),
               std::to_string(cluster.nodes) + " hosts of " + std::to_string(per_host) + " GPUs, as in " +
                   stated.fabric);
  text += "  fabric_override {\n    gpu_cluster {\n" + nic_line(cluster, sharing);
  if (cluster.says_rails)
    text += line(std::string("      rail_optimised: ") + (cluster.rail_optimised ? "true" : "false"),
                 "leaves of the adapters of a host");
  text += tier_lines(cluster, of_leaf, cluster.rail_optimised ? sharing : 1) + "    }\n  }\n}\n";
  const bool ports_are_nics = cluster.adapters == per_host;
  imported.scenario = text + (ports_are_nics ? odd_ports(cluster.odd_ports, per_host) : "");
}

}  // namespace podsim
