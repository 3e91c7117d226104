// One pass over the blocks of switches and adapters, and what follows for leaves, rails and cables.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ingest/clusters/clusters.h"
#include "ingest/clusters/fabric_text.h"
#include "proto/text/document.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// "4xNDR": Gbit/s of a lane, 0 for an unknown word.
double lane_gbit(std::string_view word) {
  static const std::map<std::string_view, double> kRates = {{"SDR", 2.5}, {"DDR", 5},    {"QDR", 10},
                                                            {"FDR", 14},  {"FDR10", 10}, {"EDR", 25},
                                                            {"HDR", 50},  {"NDR", 100},  {"XDR", 200}};
  const auto found = kRates.find(word);
  return found == kRates.end() ? 0 : found->second;
}

double gbit(const std::string& rate) {
  const std::size_t times = rate.find('x');
  if (times == std::string::npos) return 0;
  return std::strtod(rate.c_str(), nullptr) * lane_gbit(std::string_view(rate).substr(times + 1));
}

struct HostPort {
  std::string leaf, adapter, rate;
};

struct InfinibandNetwork {
  std::map<std::string, std::string> switches;  // [guid] name
  std::map<std::string, std::pair<std::int64_t, std::int64_t>>
      down_up;  // [guid of switch] host ports, uplinks
  std::int64_t adapters_listed = 0, end_ports = 0, aggregation = 0, unnamed = 0;
  std::map<std::string, std::vector<HostPort>> hosts;               // [name]
  std::vector<std::pair<std::string, std::string>> ends;            // end ports, leaf by leaf: name, rate
  std::map<std::string, std::int64_t> rates, end_rates;             // of all link ends, of end ports
  std::map<std::string, double> upwards;                            // [guid of switch] Gbit/s of its uplinks
  std::set<std::tuple<std::string, int, std::string, int>> cables;  // each end once, the lesser first
  std::vector<std::string> unread;
  Account account;
};

class InfinibandReader {
 public:
  InfinibandReader(Document& document, InfinibandNetwork& network) : document_(document), n_(network) {
    n_.account.of = "lines";
  }

  void read() {
    for (int line = 1; line <= document_.lines(); ++line) {
      const std::string_view text = document_.line(line);
      if (line == document_.lines() && text.empty()) break;
      ++n_.account.read;
      read_line(text);
    }
    for (const std::string& other : named_)
      if (n_.switches.count(other) == 0)
        document_.report_file("switch " + other + " has cables, but is not listed");
    if (n_.switches.empty()) document_.report_file("there is no switch: Switch 65 \"S-...\"");
    for (const std::string& line : n_.unread) n_.account.unknown[line.substr(0, 60)] += 1;
    n_.account.check();
  }

 private:
  void read_line(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.remove_suffix(1);
    if (line.empty() || line.front() == '#') {
      ++n_.account.passed_over["comments and blank lines"];
    } else if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt")) {
      begin_block(line);
    } else if (line.front() == '[') {
      read_port(line);
    } else if (line.find('=') != std::string_view::npos && line.find(' ') == std::string_view::npos) {
      ++n_.account.passed_over["numbers of the maker"];
    } else if (line.starts_with("DR path") || line.starts_with("Chassis") || line.starts_with("Loaded")) {
      ++n_.account.passed_over["chassis and paths"];
    } else {
      cannot_read(line);
    }
  }

  void cannot_read(std::string_view line) { n_.unread.emplace_back(line); }

  // The text of the next quotes from `at` on, which moves behind them; nothing where there are none.
  static std::optional<std::string> in_quotes_from(std::string_view line, std::size_t& at) {
    const std::size_t open = line.find('"', at);
    const std::size_t close = open == std::string_view::npos ? open : line.find('"', open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    at = close + 1;
    return std::string(line.substr(open + 1, close - open - 1));
  }

  void begin_block(std::string_view line) {
    std::size_t at = 0;
    const auto guid = in_quotes_from(line, at);
    const auto name = in_quotes_from(line, at);
    if (!guid || guid->size() < 3) return cannot_read(line);
    ++n_.account.used;
    block_ = *guid;
    in_switch_ = line.starts_with("Switch");
    if (in_switch_) {
      n_.switches.emplace(block_, name.value_or(""));
      n_.down_up[block_];
    } else {
      ++n_.adapters_listed;
    }
  }

  static std::optional<int> port_number(std::string_view line, std::size_t at) {
    if (at >= line.size() || line[at] != '[') return std::nullopt;
    int number = 0;
    std::size_t i = at + 1;
    for (; i < line.size() && std::isdigit(static_cast<unsigned char>(line[i])) != 0 && number < 100'000; ++i)
      number = 10 * number + (line[i] - '0');
    if (i == at + 1 || i >= line.size() || line[i] != ']') return std::nullopt;
    return number;
  }

  // [1] "H-guid"[1](port guid)  # "host mlx5_0" lid 647 4xNDR
  void read_port(std::string_view line) {
    std::size_t at = 0;
    const auto port = port_number(line, 0);
    const auto other = in_quotes_from(line, at);
    if (!other && line.find(']') != std::string_view::npos && line.find('"') == std::string_view::npos) {
      ++n_.account.passed_over["ports without a cable"];
      return;
    }
    const bool extended = in_switch_ || !block_.empty();
    const auto far_port = other ? port_number(line, at) : std::nullopt;
    const auto name = in_quotes_from(line, at);
    if (!port || !other || !far_port || block_.empty() || !extended || other->size() < 3)
      return cannot_read(line);
    const std::size_t blank = line.find_last_of(" \t");
    const std::string rate(line.substr(blank == std::string_view::npos ? 0 : blank + 1));
    if (!in_switch_) {
      ++n_.account.passed_over["cables seen from adapters"];
      return;
    }
    if (!name || gbit(rate) <= 0) return cannot_read(line);
    ++n_.account.used;
    ++n_.rates[rate];
    if (other->starts_with("S-"))
      cable(*port, *other, *far_port, rate);
    else if (!other->starts_with("R-"))  // a router is no host
      host_port(*name, rate);
  }

  void cable(int port, const std::string& other, int far_port, const std::string& rate) {
    ++n_.down_up[block_].second;
    n_.upwards[block_] += gbit(rate);
    named_.insert(other);
    auto here = std::pair(block_, port), there = std::pair(other, far_port);
    if (there < here) std::swap(here, there);
    n_.cables.emplace(here.first, here.second, there.first, there.second);
  }

  void host_port(const std::string& name, const std::string& rate) {
    if (name.find("Aggregation Node") != std::string::npos) {
      ++n_.aggregation;
      return;
    }
    ++n_.end_ports;
    n_.ends.emplace_back(name, rate);
    ++n_.end_rates[rate];
    ++n_.down_up[block_].first;
    const auto [host, adapter] = host_and_adapter(name);
    if (host.empty())
      ++n_.unnamed;
    else
      n_.hosts[host].push_back({block_, adapter, rate});
  }

  // "node7 mlx5_3", "node7 HCA-2"; empty where the name is the maker's.
  static std::pair<std::string, std::string> host_and_adapter(const std::string& name) {
    const std::size_t blank = name.find(' ');
    if (blank == std::string::npos || name.find(' ', blank + 1) != std::string::npos) return {};
    const std::string adapter = name.substr(blank + 1);
    for (const char* begin : {"mlx", "HCA", "hca", "hfi", "ib", "bnxt", "qib", "cxgb", "irdma"})
      if (adapter.starts_with(begin)) return {name.substr(0, blank), adapter};
    return {};
  }

  Document& document_;
  InfinibandNetwork& n_;
  std::string block_;
  bool in_switch_ = false;
  std::set<std::string> named_;  // switches that cables lead to
};

// [how many] of how many.
using Frequencies = std::map<std::string, std::int64_t>;

Frequencies adapters_per_host(const InfinibandNetwork& network) {
  Frequencies counts;
  for (const auto& [host, ports] : network.hosts) ++counts[std::to_string(ports.size())];
  return counts;
}

Frequencies leaves_per_host(const InfinibandNetwork& network) {
  Frequencies counts;
  for (const auto& [host, ports] : network.hosts) {
    std::set<std::string> leaves;
    for (const HostPort& port : ports) leaves.insert(port.leaf);
    ++counts[std::to_string(leaves.size())];
  }
  return counts;
}

Frequencies leaf_down_up(const InfinibandNetwork& network) {
  Frequencies counts;
  for (const auto& [guid, ports] : network.down_up)
    if (ports.first > 0) ++counts[std::to_string(ports.first) + ":" + std::to_string(ports.second)];
  return counts;
}

// [switch, switch] cables between them.
std::map<std::pair<std::string, std::string>, std::int64_t> pairs_of(const InfinibandNetwork& network) {
  std::map<std::pair<std::string, std::string>, std::int64_t> pairs;
  for (const auto& [from, from_port, to, to_port] : network.cables) ++pairs[{from, to}];
  return pairs;
}

Frequencies parallel_cables(const InfinibandNetwork& network) {
  Frequencies counts;
  for (const auto& [pair, cables] : pairs_of(network)) ++counts[std::to_string(cables)];
  return counts;
}

std::string most_frequent(const Frequencies& counts) {
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

std::int64_t leaves_of(const InfinibandNetwork& network) {
  return std::count_if(network.down_up.begin(), network.down_up.end(),
                       [](const auto& ports) { return ports.second.first > 0; });
}

std::vector<Figure> network_figures(const InfinibandNetwork& network) {
  const auto switches = static_cast<std::int64_t>(network.switches.size());
  std::vector<std::string> examples(
      network.unread.begin(),
      network.unread.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(network.unread.size(), 5)));
  return {{"switches", switches},
          {"leaf_switches", leaves_of(network)},
          {"upper_switches", switches - leaves_of(network)},
          {"channel_adapters_listed", network.adapters_listed},
          {"end_ports_on_switches", network.end_ports},
          {"aggregation_nodes", network.aggregation},
          {"unnamed_end_ports", network.unnamed},
          {"hosts_named", static_cast<std::int64_t>(network.hosts.size())},
          counts_figure("adapters_per_host", adapters_per_host(network)),
          counts_figure("leaves_per_host", leaves_per_host(network)),
          counts_figure("link_ends_by_rate", network.rates),
          counts_figure("leaf_down_up", leaf_down_up(network)),
          {"switch_pairs", static_cast<std::int64_t>(pairs_of(network).size())},
          {"cables_between_switches", static_cast<std::int64_t>(network.cables.size())},
          counts_figure("parallel_cables", parallel_cables(network)),
          {"unread_lines", static_cast<std::int64_t>(network.unread.size())},
          Figure::list("unread_examples", values_of(examples)),
          account_figure(network.account)};
}

std::string list_text(const Frequencies& counts, const std::string& of) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + name + " (" + count_text(count) + " " + of + ")";
  return text;
}

// What differs from a network whose parts are all alike, first.
std::string findings(const InfinibandNetwork& network) {
  std::string text;
  const std::string usual = most_frequent(network.rates);
  for (const auto& [rate, count] : network.rates)
    if (rate != usual)
      text += count_text(count) + " link ends run at " + rate + ", others at " + usual + "\n";
  if (leaf_down_up(network).size() > 1)
    text += "leaves differ in host ports : uplinks: " + list_text(leaf_down_up(network), "leaves") + "\n";
  if (parallel_cables(network).size() > 1)
    text += "switches differ in parallel cables: " + list_text(parallel_cables(network), "pairs") + "\n";
  if (adapters_per_host(network).size() > 1)
    text += "hosts differ in adapters: " + list_text(adapters_per_host(network), "hosts") + "\n";
  if (network.unnamed > 0) text += count_text(network.unnamed) + " end ports have no name of a host\n";
  return text;
}

std::string network_text(const std::string& file, const InfinibandNetwork& network) {
  std::vector<std::vector<std::string>> rows = {
      {"switches", count_text(static_cast<std::int64_t>(network.switches.size())) + ", " +
                       count_text(leaves_of(network)) + " of them leaves"},
      {"hosts", count_text(static_cast<std::int64_t>(network.hosts.size())) + ", most with " +
                    most_frequent(adapters_per_host(network)) + " adapters on " +
                    most_frequent(leaves_per_host(network)) + " leaves"},
      {"end ports",
       count_text(network.end_ports) + ", and " + count_text(network.aggregation) + " of aggregation nodes"},
      {"cables between switches", count_text(static_cast<std::int64_t>(network.cables.size())) + " of " +
                                      count_text(static_cast<std::int64_t>(pairs_of(network).size())) +
                                      " pairs"},
      {"most links",
       most_frequent(network.rates) + ", " + shortest(gbit(most_frequent(network.rates))) + " Gbit/s"}};
  return file + ": ibnetdiscover\n\n" + findings(network) + "\n" + align(rows) + "\n" +
         account_text(network.account);
}

// Leaves with the most frequent host ports and uplinks, below enough switches of the same size.
FabricOfCluster fabric_of(const std::string& file, const InfinibandNetwork& network) {
  FabricOfCluster fabric;
  fabric.file = file;
  fabric.nodes = static_cast<std::int64_t>(network.hosts.size());
  fabric.adapters = std::strtoll(most_frequent(adapters_per_host(network)).c_str(), nullptr, 10);
  fabric.says_rails = true;
  fabric.rail_optimised = fabric.adapters > 1 && most_frequent(leaves_per_host(network)) ==
                                                     most_frequent(adapters_per_host(network));
  const std::string usual = most_frequent(network.end_rates);
  fabric.nic_gb_per_s = gbit(usual) / 8;
  std::int64_t down = 0;
  double upwards = 0;  // Gbit/s
  for (const auto& [guid, ports] : network.down_up) {
    if (ports.first == 0) continue;
    down += ports.first;
    if (const auto found = network.upwards.find(guid); found != network.upwards.end())
      upwards += found->second;
  }
  const std::int64_t leaves = leaves_of(network);
  if (leaves > 0) {
    const double ports = static_cast<double>(down) / static_cast<double>(leaves);
    const double from_hosts = static_cast<double>(down) * gbit(usual);  // slower ones are told by themselves
    fabric.tiers.emplace_back(std::max<std::int64_t>(1, std::llround(ports)),
                              upwards > 0 ? std::max(1.0, from_hosts / upwards) : 1.0);
    fabric.tiers.emplace_back(std::max<std::int64_t>(1, leaves), 1.0);
  }
  fabric.end_ports = network.end_ports;
  for (std::size_t i = 0; i < network.ends.size(); ++i)
    if (const auto& [name, rate] = network.ends[i]; gbit(rate) < gbit(usual))
      fabric.odd_ends.push_back(
          {static_cast<std::int64_t>(i), 0, gbit(rate) / gbit(usual), name + " runs at " + rate});
  fabric.tiers_from =
      "mean of " + std::to_string(leaves) + " leaves: host ports, and what they carry : what uplinks carry";
  std::int64_t index = 0;
  for (const auto& [host, ports] : network.hosts) {
    for (std::size_t i = 0; i < ports.size() && static_cast<std::int64_t>(i) < fabric.adapters; ++i)
      if (gbit(ports[i].rate) < gbit(usual))
        fabric.odd_ports.push_back({index, static_cast<std::int64_t>(i), gbit(ports[i].rate) / gbit(usual),
                                    host + " " + ports[i].adapter + " runs at " + ports[i].rate});
    for (auto i = static_cast<std::int64_t>(ports.size()); i < fabric.adapters; ++i)
      fabric.odd_ports.push_back(
          {index, i, 0, host + " has " + std::to_string(ports.size()) + " adapters only"});
    ++index;
  }
  return fabric;
}

}  // namespace

bool is_ibnetdiscover(std::string_view text) {
  return text.find("\"S-") != std::string_view::npos &&
         (text.starts_with("Switch") || text.find("\nSwitch") != std::string_view::npos);
}

std::optional<Imported> import_ibnetdiscover(const std::vector<InputText>& files, const Stated& stated,
                                             std::vector<Problem>& problems) {
  Document document(files.front().name, files.front().text);
  InfinibandNetwork network;
  InfinibandReader(document, network).read();
  const std::vector<Problem> found = document.problems();
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  Imported imported = {
      network_figures(network), network_text(files.front().name, network), {network.account}};
  write_fabric(fabric_of(files.front().name, network), stated, imported);
  return imported;
}

}  // namespace podsim
