// Lines of NCCL_DEBUG=INFO: those of all ranks interleaved, each with host and process before it.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "engine/number_text.h"
#include "engine/words.h"
#include "ingest/clusters/clusters.h"
#include "proto/text/document.h"
#include "report/text/align.h"

namespace podsim {
namespace {

using RingOfRanks = std::vector<std::int64_t>;

struct LogOfNccl {
  std::map<std::string, std::int64_t> communicators;                             // [id] ranks
  std::map<std::string, std::map<std::string, std::set<std::int64_t>>> devices;  // [host] processes by name
  std::map<std::string, std::set<std::int64_t>> channels;  // ["32 channels of 16 ranks"] numbers
  std::map<std::string, RingOfRanks> first_ring;           // ["32x16"]
  std::map<std::string, std::int64_t> connections, adapters, channel_counts;
  std::set<std::string> versions;
  std::map<std::int64_t, std::set<std::int64_t>>
      ranks_here;  // [ranks of a communicator] those that have lines
  Account account;
};

// "NET/IB/0/GDRDMA" without the number of the adapter.
std::string path_kind(std::string_view path) {
  std::string kind;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.find_first_not_of("0123456789()") != std::string_view::npos)
      kind += (kind.empty() ? "" : "/") + std::string(part);
    begin = end + 1;
  }
  return kind;
}

class LogReader {
 public:
  explicit LogReader(LogOfNccl& log) : log_(log) { log_.account.of = "lines"; }

  void read(const Document& document) {
    for (int line = 1; line <= document.lines(); ++line) {
      const std::string_view text = document.line(line);
      if (line == document.lines() && text.empty()) break;
      ++log_.account.read;
      constexpr std::string_view kMark = "NCCL INFO ";
      const std::size_t mark = text.find(kMark);
      if (mark == std::string_view::npos) {
        if (const std::size_t alone = text.find("NCCL version "); alone != std::string_view::npos) {
          version(blank_separated(text.substr(alone)));
          ++log_.account.used;
          continue;
        }
        ++log_.account.passed_over["of other programs"];
        continue;
      }
      prefix(text.substr(0, mark));
      if (message(text.substr(mark + kMark.size())))
        ++log_.account.used;
      else
        ++log_.account.passed_over["messages that say nothing about the network"];
    }
    if (log_.communicators.empty()) log_.communicators = std::move(of_first_ranks_);
    log_.account.check();
  }

 private:
  // "host:pid:tid [device]", perhaps behind what a launcher wrote.
  void prefix(std::string_view text) {
    const std::vector<std::string_view> words = blank_separated(text);
    for (std::size_t i = words.size(); i-- > 0;) {
      const std::size_t last = words[i].rfind(':');
      const std::size_t middle =
          last == std::string_view::npos || last == 0 ? last : words[i].rfind(':', last - 1);
      if (middle == std::string_view::npos || middle == 0 || last == std::string_view::npos) continue;
      const auto process = whole_text_as<std::int64_t>(words[i].substr(middle + 1, last - middle - 1));
      if (!process || !whole_text_as<std::int64_t>(words[i].substr(last + 1))) continue;
      std::string_view host = words[i].substr(0, middle);
      if (const std::size_t launcher = host.rfind('>'); launcher != std::string_view::npos)
        host.remove_prefix(launcher + 1);
      while (host.starts_with(":")) host.remove_prefix(1);
      if (!host.empty()) log_.devices[std::string(host)]["processes"].insert(*process);
      process_ = std::string(host) + ":" + std::to_string(*process);
      return;
    }
  }

  bool message(std::string_view text) {
    const std::vector<std::string_view> words = blank_separated(text);
    if (words.empty()) return false;
    return communicator(words) || channel(words) || connection(text, words) || adapter(text, words) ||
           version(words) || channel_count(words) || words[0] == "Trees";
  }

  // "comm 0x1 rank 3 nranks 16 ... commId 0x2 - Init START"; older versions have no commId, so that each
  // communicator is told by its first rank alone.
  bool communicator(const std::vector<std::string_view>& words) {
    std::optional<std::int64_t> ranks, rank;
    std::string_view id, pointer;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "nranks") ranks = whole_text_as<std::int64_t>(words[i + 1]);
      if (words[i] == "rank") rank = whole_text_as<std::int64_t>(words[i + 1]);
      if (words[i] == "commId") id = words[i + 1];
      if (words[i] == "comm") pointer = words[i + 1];
    }
    if (!ranks || (id.empty() && (pointer.empty() || !rank))) return false;
    if (rank) log_.ranks_here[*ranks].insert(*rank);
    if (!id.empty())
      log_.communicators.emplace(id, *ranks);
    else if (*rank == 0)
      of_first_ranks_.emplace(process_ + " " + std::string(pointer), *ranks);
    return true;
  }

  // "Channel 00/32 :  0  7  6"
  bool channel(const std::vector<std::string_view>& words) {
    if (words.size() < 4 || words[0] != "Channel" || words[2] != ":") return false;
    const std::size_t slash = words[1].find('/');
    if (slash == std::string_view::npos) return false;
    const auto number = whole_text_as<std::int64_t>(words[1].substr(0, slash)),
               all = whole_text_as<std::int64_t>(words[1].substr(slash + 1));
    RingOfRanks ring;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const auto rank = whole_text_as<std::int64_t>(words[i]);
      if (!rank) return false;
      ring.push_back(*rank);
    }
    if (!number || !all) return false;
    const std::string ranks = std::to_string(ring.size()), channels = std::to_string(*all);
    log_.channels[channels + " channels of " + ranks + " ranks"].insert(*number);
    if (*number == 0) log_.first_ring.emplace(channels + "x" + ranks, ring);
    return true;
  }

  // "Channel 00/0 : 0[0] -> 1[1] [send] via NET/AWS Libfabric/0/GDRDMA", and of old versions " comm 0x1
  // nRanks 02" behind it.
  bool connection(std::string_view text, const std::vector<std::string_view>& words) {
    constexpr std::string_view kVia = " via ";
    const std::size_t via = text.find(kVia);
    if ((words[0] != "Channel" && words[0] != "Ring") || via == std::string_view::npos) return false;
    std::string_view path = text.substr(via + kVia.size());
    path = path.substr(0, path.find(" comm "));
    while (!path.empty() && std::isspace(static_cast<unsigned char>(path.back())) != 0) path.remove_suffix(1);
    ++log_.connections[path_kind(path)];
    return true;
  }

  // "NET/IB : Using [0]mlx5_1:1/RoCE [1]mlx5_2:1/IB/SHARP [RO]; OOB eth0"
  bool adapter(std::string_view text, const std::vector<std::string_view>& words) {
    if (!text.starts_with("NET/") || text.find(" Using ") == std::string_view::npos) return false;
    bool any = false;
    for (const std::string_view word : words) {
      const std::size_t close = word.find(']');
      if (!word.starts_with("[") || close == std::string_view::npos || close + 1 >= word.size()) continue;
      std::string_view name = word.substr(close + 1);
      while (!name.empty() && (name.back() == ';' || name.back() == ',')) name.remove_suffix(1);
      const std::size_t colon = name.find(':'), slash = name.find('/');
      if (colon == std::string_view::npos) continue;
      ++log_.adapters[std::string(name.substr(0, colon)) +
                      (slash == std::string_view::npos ? "" : " " + std::string(name.substr(slash + 1)))];
      any = true;
    }
    return any;
  }

  bool version(const std::vector<std::string_view>& words) {
    if (words.size() < 3 || (words[0] != "NCCL" && words[0] != "RCCL") || words[1] != "version") return false;
    log_.versions.emplace(words[2]);
    return true;
  }

  // "32 coll channels, 32 collnet channels, 0 nvls channels, ..."; versions before NVLS name fewer.
  bool channel_count(const std::vector<std::string_view>& words) {
    if (words.size() < 3 || words[1] != "coll" || !words[2].starts_with("channels")) return false;
    std::string counts;
    for (std::size_t i = 0; i + 2 < words.size(); ++i)
      if (words[i + 1] == "coll" || words[i + 1] == "collnet" || words[i + 1] == "nvls")
        counts += (counts.empty() ? "" : "/") + std::string(words[i]);
    ++log_.channel_counts[counts];
    return true;
  }

  LogOfNccl& log_;
  std::string process_;                                 // of the line at hand
  std::map<std::string, std::int64_t> of_first_ranks_;  // [process and pointer] ranks
};

std::map<std::string, std::int64_t> communicators_by_size(const LogOfNccl& log) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [id, ranks] : log.communicators) ++counts[std::to_string(ranks)];
  return counts;
}

// Where all hosts have as many.
FigureValue ranks_per_host(const LogOfNccl& log) {
  std::set<std::int64_t> counts;
  for (const auto& [host, what] : log.devices)
    counts.insert(static_cast<std::int64_t>(what.at("processes").size()));
  return counts.size() == 1 ? FigureValue(*counts.begin()) : FigureValue();
}

std::vector<Figure> log_figures(const LogOfNccl& log) {
  std::vector<Figure> rings;
  std::map<std::string, std::int64_t> channels;
  for (const auto& [name, ring] : log.first_ring) rings.push_back(Figure::list(name, values_of(ring)));
  for (const auto& [name, numbers] : log.channels) channels[name] = static_cast<std::int64_t>(numbers.size());
  return {{"communicators", static_cast<std::int64_t>(log.communicators.size())},
          counts_figure("by_size", communicators_by_size(log)),
          {"hosts", static_cast<std::int64_t>(log.devices.size())},
          {"ranks_per_host", ranks_per_host(log)},
          counts_figure("channels", channels),
          Figure::group("first_ring", std::move(rings)),
          counts_figure("connections_by_path", log.connections),
          counts_figure("adapters", log.adapters),
          Figure::list("versions", values_of(log.versions)),
          counts_figure("channel_counts", log.channel_counts),
          account_figure(log.account)};
}

std::string log_text(const std::string& file, const LogOfNccl& log) {
  std::string text = file + ": NCCL log, " + count_text(static_cast<std::int64_t>(log.communicators.size())) +
                     " communicators on " + count_text(static_cast<std::int64_t>(log.devices.size())) +
                     " hosts";
  for (const std::string& version : log.versions) text += ", version " + version;
  text += "\n\n";
  for (const auto& [size, count] : communicators_by_size(log))
    text += count_text(count) + " communicators of " + size + " ranks\n";
  for (const auto& [name, ring] : log.first_ring) {
    text += "first ring of " + name + ":";
    for (std::size_t i = 0; i < ring.size() && i < 64; ++i) text += " " + std::to_string(ring[i]);
    text += ring.size() > 64 ? " ...\n" : "\n";
  }
  std::vector<std::vector<std::string>> rows = {{"connections by", "times"}};
  for (const auto& [path, count] : log.connections) rows.push_back({path, count_text(count)});
  for (const auto& [adapter, count] : log.adapters) rows.push_back({"adapter " + adapter, count_text(count)});
  return text + "\n" + align(rows) + "\n" + account_text(log.account);
}

}  // namespace

bool is_nccl_log(std::string_view text) { return text.find("NCCL INFO ") != std::string_view::npos; }

std::optional<Imported> import_nccl_log(const std::vector<InputText>& files, const Stated&,
                                        std::vector<Problem>& problems) {
  const Document document(files.front().name, files.front().text);
  LogOfNccl log;
  LogReader(log).read(document);
  if (log.account.used == 0) {
    Problem problem;
    problem.file = files.front().name;
    problem.message = "no line of NCCL_DEBUG=INFO tells communicators, channels or adapters";
    problems.push_back(problem);
    return std::nullopt;
  }
  Imported imported = {log_figures(log), log_text(files.front().name, log), {log.account}};
  if (!log.ranks_here.empty()) {
    const auto& [ranks, here] = *log.ranks_here.rbegin();
    const auto lines = static_cast<std::int64_t>(here.size());
    if (lines < ranks)
      imported.notes.push_back(files.front().name + ": of " + count_text(ranks) + " ranks " +
                               count_text(lines) + (lines == 1 ? " has" : " have") +
                               " lines here: hosts and their ranks are of these alone");
  }
  return imported;
}

}  // namespace podsim
