// Lines of topology.conf, joined to a tree that hangs together.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "ingest/clusters/clusters.h"
#include "ingest/clusters/fabric_text.h"
#include "ingest/clusters/hostlist.h"
#include "proto/text/document.h"
#include "report/text.h"
#include "report/write.h"

namespace podsim {
namespace {

struct SlurmSwitch {
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
  SlurmReader(Document& document) : document_(document) { account_.of = "lines"; }

  void read() {
    for (int line = 1; line <= document_.lines() && !document_.full(); ++line) read_line(line);
    if (!words_.empty()) statement(document_.lines(), std::exchange(words_, {}));
    if (switches_.empty() && blocks_.empty() && document_.clean())
      document_.report_file("there is no switch and no block: SwitchName=leaf1 Nodes=gpu[001-008]");
    if (document_.clean()) join();
    account_.check();
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
    std::string text = document_.file() + ": Slurm " +
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

  // Nodes below a switch of each tier, by the most frequent number of children.
  FabricTiers fabric_tiers() const {
    FabricTiers tiers;
    for (const auto& [level, tier] : tiers_) {
      const auto most = std::max_element(tier.children.begin(), tier.children.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      tiers.push_back({std::strtoll(most->first.c_str(), nullptr, 10), 1});
      if (tier.children.size() > 1) uneven_.push_back(level);
    }
    return tiers;
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

  // A statement ends with its line, unless a backslash there makes it go on in the next.
  void read_line(int number) {
    std::string_view line = document_.line(number);
    if (number == document_.lines() && line.empty()) return;
    ++account_.read;
    line = line.substr(0, line.find('#'));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
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
        document_.report_at({number, static_cast<int>(i) + 1}, "expected NAME=VALUE",
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

  std::vector<std::string> names(const Word& word) {
    const auto found = hosts_of(word.text);
    if (found && !found->empty()) return *found;
    document_.report_at(word.at, "\"" + word.text + "\" is no list of names",
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
      return document_.report_at(word.at, "no key " + name,
                                 "expected SwitchName, BlockName, Nodes, Switches, LinkSpeed or BlockSizes");
    }
    if (switch_name != words.end()) {
      if (nodes == words.end() && switches == words.end())
        return document_.report_at(switch_name->second.at,
                                   "switch " + switch_name->second.text + " has neither Nodes nor Switches");
      std::vector<std::string> below, of_switches;
      if (nodes != words.end()) below = names(nodes->second);
      if (switches != words.end()) of_switches = names(switches->second);
      for (const std::string& name : names(switch_name->second)) {
        SlurmSwitch& made = switches_[name];
        if (made.line > 0)
          return document_.report_at(
              switch_name->second.at,
              "switch " + name + " is already defined in line " + std::to_string(made.line));
        made.line = switch_name->second.at.line;
        made.nodes = below;
        made.switches = of_switches;
        for (const std::string& node : below) place_node(nodes->second.at, node, name);
      }
    } else if (block_name != words.end() && nodes != words.end()) {
      const std::vector<std::string> below = names(nodes->second);
      const std::string& name = block_name->second.text;
      if (!blocks_.emplace(name, below.size()).second)
        return document_.report_at(block_name->second.at, "block " + name + " is already defined");
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
      document_.report_at({line, 1}, "expected SwitchName, BlockName with Nodes, or BlockSizes");
    }
  }

  void place_node(const TextPosition& at, const std::string& node, const std::string& above) {
    const auto [found, added] = parent_of_.emplace(node, above);
    if (!added && !document_.full())
      document_.report_at(at, "node " + node + " is already under " + found->second);
  }

  void join() {
    for (auto& [name, made] : switches_)
      for (const std::string& below : made.switches) {
        const auto found = switches_.find(below);
        if (found == switches_.end())
          document_.report_at({made.line, column_of(made.line, "switches=")},
                              "switch " + below + " is not defined");
        else if (found->second.has_parent)
          document_.report_at({made.line, column_of(made.line, "switches=")},
                              "switch " + below + " is already under another switch");
        else
          found->second.has_parent = true;
      }
    if (!document_.clean()) return;
    for (const auto& [name, made] : switches_) {
      roots_ += made.has_parent ? 0 : 1;
      const int level = level_of(name);
      if (!document_.clean()) return;
      Tier& tier = tiers_[level];
      ++tier.switches;
      ++tier.children[std::to_string(made.switches.empty() ? made.nodes.size() : made.switches.size())];
    }
  }

  int column_of(int line, const std::string& key) const {
    const std::size_t at = in_lower_case(document_.line(line)).find(key);
    return at == std::string::npos ? 1 : static_cast<int>(at) + 1;
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
          document_.report_at({top.line, column_of(top.line, "switches=")},
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

  Document& document_;
  Account account_;
  std::map<std::string, Word> words_;  // of the statement that is not ended yet
  std::map<std::string, SlurmSwitch> switches_;
  std::map<std::string, std::size_t> blocks_;  // nodes
  std::vector<std::int64_t> sizes_;
  std::map<std::string, std::string> parent_of_;  // [node]
  std::map<int, Tier> tiers_;
  std::int64_t roots_ = 0;
  mutable std::vector<int> uneven_;
};

}  // namespace

bool is_slurm(std::string_view text) {
  const std::string lower = in_lower_case(text.substr(0, 100'000));
  for (const char* word : {"switchname=", "blockname="})
    for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1))
      if (at == 0 || lower[at - 1] == '\n') return true;
  return false;
}

std::optional<Imported> import_slurm(const std::vector<InputText>& files, const Stated& stated,
                                     std::vector<Problem>& problems) {
  Document document(files.front().name, files.front().text);
  SlurmReader reader(document);
  reader.read();
  const std::vector<Problem> found = document.problems();
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
  fabric.tiers = reader.fabric_tiers();
  fabric.tiers_from = "switches below a switch; cables are not counted, 1:1 assumed";
  fabric.nodes = reader.nodes();
  write_fabric(fabric, stated, imported);
  return imported;
}

}  // namespace podsim
