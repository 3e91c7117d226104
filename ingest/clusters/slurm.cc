// Lines of topology.conf, joined to a tree that hangs together.
#include <algorithm>
#include <cctype>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "ingest/clusters/clusters.h"
#include "ingest/clusters/fabric_text.h"
#include "ingest/clusters/hostlist.h"
#include "proto/text/document.h"
#include "proto/text/read_file.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct SlurmSwitch {
  Document* document = nullptr;  // that defines it
  int line = 0;
  std::vector<std::string> nodes, switches;
  int level = -1;  // 0 = has nodes only
  bool has_parent = false, open = false;
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

class SlurmReader {
 public:
  SlurmReader(const InputText& file) {
    account_.of = "lines";
    documents_.emplace_back(file.name, file.text);
    open_.push_back(canonical(file.name));
  }

  void read() {
    read_document(documents_.front());
    if (switches_.empty() && blocks_.empty() && clean())
      document_->report_file("there is no switch and no block: SwitchName=leaf1 Nodes=gpu[001-008]");
    if (clean()) join();
    account_.check();
  }

  std::vector<Problem> problems() const {
    std::vector<Problem> all;
    for (const Document& document : documents_)
      for (const Problem& problem : document.problems()) all.push_back(problem);
    return all;
  }

  std::vector<Figure> figures() const {
    std::vector<Figure> all = {{"plugin", std::string(blocks_.empty() ? "topology/tree" : "topology/block")}};
    if (!blocks_.empty()) {
      append(all, {{"blocks", static_cast<std::int64_t>(blocks_.size())},
                   Figure::list("block_sizes", values_of(sizes_)),
                   counts_figure("nodes_per_block", nodes_per_block())});
    } else {
      std::vector<Figure> tiers;
      for (const auto& [level, tier] : tiers_)
        tiers.push_back(Figure::group(
            "", {{"level", level}, {"switches", tier.switches}, counts_figure("children", tier.children)}));
      append(all, {{"switches", static_cast<std::int64_t>(switches_.size())},
                   {"roots", roots_},
                   Figure::list("tiers", std::move(tiers))});
    }
    append(all, {{"nodes", static_cast<std::int64_t>(parent_of_.size())}, Figure::list("problems", {})});
    all.push_back(account_figure(account_));
    return all;
  }

  std::string text() const {
    const auto said = [](std::size_t number) { return count_text(static_cast<std::int64_t>(number)); };
    std::string text = documents_.front().file() + ": Slurm " +
                       (blocks_.empty() ? "topology/tree, " : "topology/block, ") + said(parent_of_.size()) +
                       " nodes";
    if (!blocks_.empty()) {
      text += " in " + said(blocks_.size()) + " blocks\n\n";
      for (const auto& [size, count] : nodes_per_block())
        text += count_text(count) + " blocks of " + size + " nodes\n";
    } else {
      std::vector<std::vector<std::string>> rows = {{"tier", "switches", "below each"}};
      for (const auto& [level, tier] : tiers_) {
        std::string below;
        for (const auto& [children, count] : tier.children)
          below += (below.empty() ? "" : ", ") + children +
                   (tier.children.size() > 1 ? " (" + count_text(count) + " switches)" : "");
        rows.push_back({std::to_string(level), count_text(tier.switches),
                        below + (level == 0 ? " nodes" : " switches")});
      }
      text += " below " + said(switches_.size()) + " switches\n\n" + align(rows) +
              "\nCables are not counted here: no tier is taken to be oversubscribed.\n";
    }
    return text + account_text(account_);
  }

  const Account& account() const { return account_; }

  // Nodes or switches below a switch of each tier; where these differ the mean, rounded up: all have a place.
  FabricTiers fabric_tiers() const {
    FabricTiers tiers;
    std::int64_t below = nodes();
    for (const auto& [level, tier] : tiers_) {
      tiers.emplace_back((below + tier.switches - 1) / tier.switches, 1);
      below = tier.switches;
    }
    return tiers;
  }
  bool some_nodes_above_leaves() const {
    return std::ranges::any_of(switches_, [](const auto& each) {
      return !each.second.switches.empty() && !each.second.nodes.empty();
    });
  }
  bool is_tree() const { return blocks_.empty(); }
  std::int64_t roots() const { return roots_; }
  std::int64_t nodes() const { return static_cast<std::int64_t>(parent_of_.size()); }

 private:
  struct Tier {
    std::int64_t switches = 0;
    std::map<std::string, std::int64_t> children;  // [how many] switches that have so many
  };

  std::map<std::string, std::int64_t> nodes_per_block() const {
    std::map<std::string, std::int64_t> counts;
    for (const auto& [name, nodes] : blocks_) ++counts[std::to_string(nodes)];
    return counts;
  }

  // What stands behind NAME=, and where the name begins.
  struct Word {
    std::string text;
    TextPosition at;
  };

  static std::filesystem::path canonical(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(path, ignored);
  }

  bool clean() const { return std::ranges::all_of(documents_, &Document::clean); }

  void read_document(Document& document) {
    Document* const before = std::exchange(document_, &document);
    for (int line = 1; line <= document.lines() && !document.full(); ++line) read_line(line);
    if (!words_.empty()) statement(document.lines(), std::exchange(words_, {}));
    document_ = before != nullptr ? before : document_;
  }

  // Of a path as the file has it, or of a file of that name, in the folder of the file given. Each file is
  // read once: a second time would define its switches again.
  void include(const TextPosition& at, const std::string& path) {
    if (path.empty()) return document_->report_at(at, "Include names no file", "such as Include racks.conf");
    const std::filesystem::path folder = open_.front().parent_path();
    std::filesystem::path file = canonical(folder / path);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
      file = canonical(folder / std::filesystem::path(path).filename());
    if (std::ranges::count(open_, file) > 0)
      return document_->report_at(at, "\"" + path + "\" includes itself, or is included already");
    std::vector<Problem> unread;
    const auto text = read_file(file.string(), unread);
    if (!text)
      return document_->report_at(at, "cannot read \"" + path + "\"",
                                  "it is to lie beside " + documents_.front().file());
    open_.push_back(file);
    read_document(documents_.emplace_back(file.string(), *text));
  }

  // A statement ends with its line, unless a backslash there makes it go on in the next.
  void read_line(int number) {
    std::string_view line = document_->line(number);
    if (number == document_->lines() && line.empty()) return;
    ++account_.read;
    line = line.substr(0, line.find('#'));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (const std::size_t path = path_of_include(line); words_.empty() && path > 0) {
      ++account_.used;
      return include({number, static_cast<int>(path) + 1}, std::string(line.substr(path)));
    }
    for (std::size_t i = 0; i < line.size();) {
      if (std::isspace(static_cast<unsigned char>(line[i])) != 0) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < line.size() && std::isspace(static_cast<unsigned char>(line[end])) == 0) ++end;
      const std::string_view word = line.substr(i, end - i);
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) {
        document_->report_at({number, static_cast<int>(i) + 1}, "expected NAME=VALUE",
                             "such as SwitchName=leaf1 Nodes=gpu[001-008]");
        ++account_.passed_over["not understood"];
        return;
      } else {
        words_[in_lower_case(word.substr(0, equals))] = {std::string(word.substr(equals + 1)),
                                                         {number, static_cast<int>(i) + 1}};
      }
      i = end;
    }
    if (words_.empty()) {
      ++account_.passed_over["comments and blank lines"];
      return;
    }
    ++account_.used;
    if (goes_on) return;
    statement(number, std::exchange(words_, {}));
  }

  // Where the path begins in "Include path"; 0 in other lines.
  static std::size_t path_of_include(std::string_view line) {
    constexpr std::string_view kInclude = "include";
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t end = begin + kInclude.size();
    if (in_lower_case(line.substr(begin, kInclude.size())) != kInclude) return 0;
    if (end < line.size() && std::isspace(static_cast<unsigned char>(line[end])) == 0) return 0;
    return std::min(line.find_first_not_of(" \t", end), line.size());
  }

  std::vector<std::string> names(const Word& word) {
    const auto found = hosts_of(word.text);
    if (found && !found->empty()) return *found;
    document_->report_at(word.at, "\"" + word.text + "\" is no list of names",
                         "expected names such as gpu[001-008,012]");
    return {};
  }

  void statement(int line, const std::map<std::string, Word>& words) {
    const auto switch_name = words.find("switchname"), block_name = words.find("blockname");
    const auto nodes = words.find("nodes"), switches = words.find("switches"),
               sizes = words.find("blocksizes");
    for (const auto& [name, word] : words) {
      static const std::set<std::string> kKnown = {"switchname", "blockname", "nodes",
                                                   "switches",   "linkspeed", "blocksizes"};
      if (kKnown.count(name) != 0) continue;
      return document_->report_at(word.at, "no key " + name,
                                  "expected SwitchName, BlockName, Nodes, Switches, LinkSpeed or BlockSizes");
    }
    if (switch_name != words.end()) {
      if (nodes == words.end() && switches == words.end())
        return document_->report_at(switch_name->second.at,
                                    "switch " + switch_name->second.text + " has neither Nodes nor Switches");
      std::vector<std::string> below, of_switches;
      if (nodes != words.end()) below = names(nodes->second);
      if (switches != words.end()) of_switches = names(switches->second);
      for (const std::string& name : names(switch_name->second)) {
        SlurmSwitch& made = switches_[name];
        if (made.line > 0)
          return document_->report_at(switch_name->second.at,
                                      "switch " + name + " is already defined in line " +
                                          std::to_string(made.line) +
                                          (made.document != document_ ? " of " + made.document->file() : ""));
        made.document = document_;
        made.line = switch_name->second.at.line;
        made.nodes = below;
        made.switches = of_switches;
        for (const std::string& node : below) place_node(nodes->second.at, node, name);
      }
    } else if (block_name != words.end() && nodes != words.end()) {
      const std::vector<std::string> below = names(nodes->second);
      const std::string& name = block_name->second.text;
      if (!blocks_.emplace(name, below.size()).second)
        return document_->report_at(block_name->second.at, "block " + name + " is already defined");
      for (const std::string& node : below) place_node(nodes->second.at, node, name);
    } else if (sizes != words.end()) {
      std::string digits;
      for (const char c : sizes->second.text + ",")
        if (c != ',') {
          digits += c;
        } else if (!digits.empty()) {
          sizes_.push_back(std::strtoll(digits.c_str(), nullptr, 10));
          digits.clear();
        }
    } else {
      document_->report_at({line, 1}, "expected SwitchName, BlockName with Nodes, or BlockSizes");
    }
  }

  void place_node(const TextPosition& at, const std::string& node, const std::string& above) {
    const auto [found, added] = parent_of_.emplace(node, above);
    if (!added && !document_->full())
      document_->report_at(at, "node " + node + " is already under " + found->second);
  }

  void join() {
    for (auto& [name, made] : switches_)
      for (const std::string& below : made.switches) {
        const auto found = switches_.find(below);
        if (found == switches_.end())
          made.document->report_at(place_of_switches(made), "switch " + below + " is not defined");
        else if (found->second.has_parent)
          made.document->report_at(place_of_switches(made),
                                   "switch " + below + " is already under another switch");
        else
          found->second.has_parent = true;
      }
    if (!clean()) return;
    for (const auto& [name, made] : switches_) {
      roots_ += made.has_parent ? 0 : 1;
      const int level = level_of(name);
      if (!clean()) return;
      Tier& tier = tiers_[level];
      ++tier.switches;
      ++tier.children[std::to_string(made.switches.empty() ? made.nodes.size() : made.switches.size())];
    }
  }

  static TextPosition place_of_switches(const SlurmSwitch& of) {
    const std::size_t at = in_lower_case(of.document->line(of.line)).find("switches=");
    return {of.line, at == std::string::npos ? 1 : static_cast<int>(at) + 1};
  }

  // Of the highest below it, and one. Goes down without recursion, since a file may be one long chain.
  int level_of(const std::string& name) {
    std::vector<std::string> path = {name};
    while (!path.empty()) {
      SlurmSwitch& top = switches_.at(path.back());
      top.open = true;
      int level = 0;
      const std::string* next = nullptr;
      for (const std::string& below : top.switches) {
        const SlurmSwitch& child = switches_.at(below);
        if (child.level >= 0) {
          level = std::max(level, child.level + 1);
        } else if (child.open) {
          top.document->report_at(place_of_switches(top),
                                  "switch " + below + " is above and below " + path.back());
          return 0;
        } else {
          next = &below;
        }
      }
      if (next != nullptr) {
        path.push_back(*next);
      } else {
        top.level = level;
        path.pop_back();
      }
    }
    return switches_.at(name).level;
  }

  std::deque<Document> documents_;           // the file given, and those that are included
  std::vector<std::filesystem::path> open_;  // the same
  Document* document_ = nullptr;             // that is being read
  Account account_;
  std::map<std::string, Word> words_;  // of the statement that is not ended yet
  std::map<std::string, SlurmSwitch> switches_;
  std::map<std::string, std::size_t> blocks_;  // nodes
  std::vector<std::int64_t> sizes_;
  std::map<std::string, std::string> parent_of_;  // [node]
  std::map<int, Tier> tiers_;
  std::int64_t roots_ = 0;
};

}  // namespace

bool is_slurm(std::string_view text) {
  const std::string lower = in_lower_case(text.substr(0, 100'000));
  if (lower.starts_with("include ") && lower.find(".conf") != std::string::npos) return true;
  for (const char* word : {"switchname=", "blockname="})
    for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1))
      if (at == 0 || lower[at - 1] == '\n') return true;
  return false;
}

std::optional<Imported> import_slurm(const std::vector<InputText>& files, const Stated& stated,
                                     std::vector<Problem>& problems) {
  SlurmReader reader(files.front());
  reader.read();
  const std::vector<Problem> found = reader.problems();
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  Imported imported = {reader.figures(), reader.text(), {reader.account()}};
  imported.is_fabric = true;
  if (!reader.is_tree()) return imported;
  if (reader.roots() > 1)
    imported.notes.push_back(files.front().name + ": " + count_text(reader.roots()) +
                             " switches have none above them, so that the cluster falls apart: the file may "
                             "have been cut");
  FabricOfCluster fabric;
  fabric.file = files.front().name;
  fabric.nodes = reader.nodes();
  fabric.tiers = reader.fabric_tiers();
  fabric.tiers_from =
      "switches below a switch, the mean where they differ; cables are not counted, 1:1 assumed";
  if (reader.some_nodes_above_leaves()) fabric.tiers_from += "; nodes at upper switches count as at leaves";
  write_fabric(fabric, stated, imported);
  return imported;
}

}  // namespace podsim
