// The tree of one host: processors, PCIe switches, GPUs, NICs and the links between GPUs.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "ingest/clusters/clusters.h"
#include "proto/text/document.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct HostTopology {
  std::int64_t cpus = 0, gpus = 0, nics = 0, net_ports = 0, beside_nic = 0;
  std::map<std::string, std::int64_t> gpus_by_numa, links;
  std::set<std::int64_t> net_speeds, processors, links_per_gpu;
  std::set<double> lanes;
  bool has_gpu_elements = false;
  Account account;
};

bool is_gpu(const pugi::xml_node& pci) {
  const std::string_view type = pci.attribute("class").value();
  return type.starts_with("0x03") || type.starts_with("0x12");
}

bool is_nic(const pugi::xml_node& pci) {
  const std::string_view type = pci.attribute("class").value();
  return type.starts_with("0x0200") || type.starts_with("0x0207");
}

class TopologyReader {
 public:
  TopologyReader(Document& document, HostTopology& host) : document_(document), host_(host) {
    host_.account.of = "elements";
  }

  // Without recursion: a hostile file may be as deep as it is long.
  void read(const pugi::xml_node& system) {
    ++host_.account.read;
    ++host_.account.used;
    std::vector<pugi::xml_node> open = {system};
    while (!open.empty()) {
      const pugi::xml_node node = open.back();
      open.pop_back();
      for (const pugi::xml_node& child : node.children()) {
        if (child.type() != pugi::node_element) continue;
        ++host_.account.read;
        element(child);
        check(child);
        open.push_back(child);
      }
    }
    for (const pugi::xml_node& gpu : gpus_)
      for (pugi::xml_node above = gpu.parent(); std::strcmp(above.name(), "pci") == 0; above = above.parent())
        if (with_nic_.count(above.internal_object()) != 0) {
          ++host_.beside_nic;
          break;
        }
    host_.account.check();
  }

 private:
  // Numbers are numbers, and links know how many they are.
  void check(const pugi::xml_node& node) {
    const auto numeric = [&](const char* name) {
      const pugi::xml_attribute attribute = node.attribute(name);
      const std::string_view text = attribute.value();
      const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
      const char* const known = text.starts_with("0x") ? "0123456789abcdefABCDEF" : "0123456789";
      if (text.empty() || (!digits.empty() && digits.find_first_not_of(known) == std::string_view::npos))
        return;
      problem(node, name + std::string(" is \"") + std::string(text) + "\"", "expected a number");
    };
    for (const char* name : {"class", "sm", "count", "tclass"}) numeric(name);
    if (is_link(node.name()) && !node.attribute("count"))
      problem(node, std::string(node.name()) + " has no count", "expected count=\"2\"");
  }

  void problem(const pugi::xml_node& node, const std::string& message, const std::string& hint) {
    const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
    document_.report_at(document_.position(std::min(at, document_.text().size())), message, hint);
  }

  void element(const pugi::xml_node& node) {
    const std::string_view name = node.name();
    ++host_.account.used;
    if (name == "cpu") {
      ++host_.cpus;
    } else if (name == "pci") {
      pci(node);
    } else if (name == "gpu") {
      host_.has_gpu_elements = true;
      if (node.attribute("sm")) host_.processors.insert(node.attribute("sm").as_llong());
      std::int64_t links = 0;
      for (const pugi::xml_node& link : node.children())
        if (is_link(link.name())) links += link.attribute("count").as_llong();
      host_.links_per_gpu.insert(links);
    } else if (is_link(name)) {
      const std::string type = node.attribute("tclass").value();
      host_.links[std::string(name) + (type.empty() ? "" : " " + type)] +=
          node.attribute("count").as_llong(1);
    } else if (name == "net") {
      ++host_.net_ports;
      if (node.attribute("speed")) host_.net_speeds.insert(node.attribute("speed").as_llong());
    } else if (name != "nic") {
      --host_.account.used;
      ++host_.account.unknown["element " + std::string(name)];
    }
  }

  static bool is_link(std::string_view name) { return name == "nvlink" || name == "xgmi" || name == "c2c"; }

  void pci(const pugi::xml_node& node) {
    if (is_gpu(node)) {
      ++host_.gpus;
      gpus_.push_back(node);
      const double speed = std::strtod(node.attribute("link_speed").value(), nullptr);
      const double width = std::strtod(node.attribute("link_width").value(), nullptr);
      if (speed > 0 && width > 0 && speed < 1e6 && width < 1e6) host_.lanes.insert(speed * width);
      for (pugi::xml_node above = node.parent(); above; above = above.parent())
        if (std::strcmp(above.name(), "cpu") == 0) ++host_.gpus_by_numa[above.attribute("numaid").value()];
    } else if (is_nic(node)) {
      ++host_.nics;
      for (pugi::xml_node above = node.parent(); above; above = above.parent())
        if (!with_nic_.insert(above.internal_object()).second) break;
    }
  }

  Document& document_;
  HostTopology& host_;
  std::vector<pugi::xml_node> gpus_;
  std::set<const void*> with_nic_;
};

std::vector<Figure> topology_figures(const HostTopology& host) {
  return {{"gpus", host.gpus},
          {"nics", host.nics},
          {"cpus", host.cpus},
          counts_figure("gpus_by_numa", host.gpus_by_numa),
          {"net_ports", host.net_ports},
          Figure::list("net_speed_mbit", values_of(host.net_speeds)),
          Figure::list("gpu_pci_gt_lanes", values_of(host.lanes)),
          Figure::list("sm", values_of(host.processors)),
          counts_figure("links", host.links),
          host.has_gpu_elements ? Figure::list("links_per_gpu", values_of(host.links_per_gpu))
                                : Figure("links_per_gpu", FigureValue()),
          {"gpus_with_nic_behind_same_switch", host.beside_nic},
          account_figure(host.account)};
}

std::string topology_text(const std::string& file, const HostTopology& host) {
  std::vector<std::vector<std::string>> rows = {
      {"GPUs", count_text(host.gpus) + ", " + count_text(host.beside_nic) +
                   " with a NIC behind the same PCIe switch"},
      {"NICs", count_text(host.nics) + ", " + count_text(host.net_ports) + " ports"}};
  for (const std::int64_t speed : host.net_speeds)
    rows.push_back({"port", shortest(static_cast<double>(speed) / 8000) + " GB/s"});
  constexpr double kEncoded = 128.0 / 130;  // PCIe from its third generation on
  for (const double lanes : host.lanes)
    rows.push_back({"PCIe of a GPU", fixed(lanes / 8 * kEncoded, 1) + " GB/s"});
  for (const auto& [kind, count] : host.links) rows.push_back({"links " + kind, count_text(count)});
  if (!host.has_gpu_elements)
    rows.push_back({"links between GPUs", "not in the file, which names devices by class only"});
  return file + ": NCCL topology of one host, " + count_text(host.cpus) + " processors\n\n" + align(rows) +
         "\n" + account_text(host.account);
}

}  // namespace

bool is_nccl_topology(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '<' &&
         text.substr(0, 1u << 16).find("<system") != std::string_view::npos;
}

std::optional<Imported> import_nccl_topology(const std::vector<InputText>& files, const Stated&,
                                             std::vector<Problem>& problems) {
  const InputText& file = files.front();
  Document document(file.name, file.text);
  pugi::xml_document xml;
  const pugi::xml_parse_result parsed = xml.load_buffer(file.text.data(), file.text.size());
  const pugi::xml_node system = xml.child("system");
  if (!parsed) {
    const std::size_t at =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, parsed.offset)), file.text.size());
    document.report_at(document.position(at), std::string("not XML: ") + parsed.description());
  } else if (!system) {
    document.report_at({1, 1}, "there is no element <system>");
  }
  HostTopology host;
  if (document.clean()) TopologyReader(document, host).read(system);
  if (document.clean() && host.gpus == 0 && host.nics == 0)
    document.report_file("there is no GPU and no NIC: no pci element has the class of one");
  const std::vector<Problem> found = document.problems();
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  return Imported{topology_figures(host), topology_text(file.name, host), {host.account}};
}

}  // namespace podsim
