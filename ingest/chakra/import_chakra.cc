// Sorts the files of a set: traces by rank, and the groups beside them.
#include "ingest/chakra/import_chakra.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/number_text.h"
#include "engine/parallel_for.h"
#include "ingest/chakra/figures.h"
#include "ingest/chakra/ranks.h"
#include "ingest/chakra/read_trace.h"
#include "ingest/chakra/step_of_ranks.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/convert.h"
#include "workload/job/chip.h"

namespace podsim {
namespace {

using nlohmann::json;

bool begins_object(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{';
}

// {"1": [0, 1]}; nothing of anything else.
std::optional<chakra::Groups> groups_in(std::string_view text) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  if (!begins_object(text) || text.size() > kMostBytes) return std::nullopt;
  const std::size_t key = text.find('"'), colon = text.find(':');
  const std::size_t value =
      colon == std::string_view::npos ? colon : text.find_first_not_of(" \t\r\n", colon + 1);
  if (key == std::string_view::npos || value == std::string_view::npos || text[value] != '[')
    return std::nullopt;
  const json whole = json::parse(text, nullptr, false);
  if (!whole.is_object() || whole.empty()) return std::nullopt;
  chakra::Groups groups;
  for (const auto& [name, ranks] : whole.items()) {
    if (!ranks.is_array()) return std::nullopt;
    for (const json& rank : ranks) {
      if (!rank.is_number_unsigned()) return std::nullopt;
      groups[name].push_back(rank.get<std::int64_t>());
    }
    groups[name];
  }
  return groups;
}

// Of "PREFIX.3.et" and "PREFIX.3.et.gz"; nothing of other names.
std::optional<std::int64_t> rank_in_name(std::string name) {
  for (const char* suffix : {".gz", ".et"})
    if (name.ends_with(suffix)) name.resize(name.size() - 3);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const auto rank = whole_text_as<std::int64_t>(name.substr(dot + 1));
  return rank && *rank >= 0 ? rank : std::nullopt;
}

bool ranks_differ(const std::vector<chakra::RankTrace>& ranks, std::vector<Problem>& problems) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].rank != ranks[i - 1].rank) continue;
    problems.push_back({ranks[i].file, 0, 0,
                        "rank " + std::to_string(ranks[i].rank) + " is that of " + ranks[i - 1].file + " too",
                        "", "the ranks of one step, named PREFIX.RANK.et"});
    return false;
  }
  return true;
}

std::vector<Account> accounts_of_all(const std::vector<chakra::RankTrace>& ranks) {
  std::vector<Account> sum;
  for (const chakra::RankTrace& each : ranks) {
    const std::vector<Account> own = accounts_of(*each.trace);
    if (sum.empty()) {
      sum = own;
      continue;
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      sum[i].read += own[i].read;
      sum[i].used += own[i].used;
      for (const auto& [reason, count] : own[i].passed_over) sum[i].passed_over[reason] += count;
      for (const auto& [name, count] : own[i].unknown) sum[i].unknown[name] += count;
    }
  }
  return sum;
}

// Counts the nodes of PyTorch's JSON and finds its schema without keeping them.
class ExecutionTraceCounter : public nlohmann::json_sax<json> {
 public:
  std::string schema;
  std::int64_t nodes = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& text) override {
    if (depth_ == 1 && key_ == "schema") schema = text;
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) key_ = key;
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 2 && key_ == "nodes") ++nodes;
    ++depth_;
    return true;
  }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return ++depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::string key_;
  int depth_ = 0;
};

// What PyTorch itself records: operators without durations.
bool is_pytorch_execution_trace(std::string_view text) {
  constexpr std::size_t kHead = 4096;  // the schema stands first
  if (!begins_object(text)) return false;
  const std::string_view head = text.substr(0, kHead);
  return head.find("\"schema\"") != std::string_view::npos &&
         head.find("\"nodes\"") != std::string_view::npos;
}

Problem refusal_of_execution_trace(const InputText& file) {
  ExecutionTraceCounter counter;
  json::sax_parse(file.text, &counter);
  return {file.name,
          0,
          0,
          "this is JSON, a PyTorch execution trace (schema " + counter.schema + ", " +
              std::to_string(counter.nodes) + " nodes), which has no durations; not a Chakra trace",
          "",
          "a Chakra trace: link this with the profiler trace of the same steps, then convert it"};
}

// What one file of a set holds: groups, or the trace of a rank.
struct Content {
  chakra::Groups groups;
  std::optional<chakra::RankTrace> trace;
  std::vector<Problem> problems;
};

Content content_of(const InputText& file) {
  Content content;
  if (is_pytorch_execution_trace(file.text)) {
    content.problems.push_back(refusal_of_execution_trace(file));
  } else if (auto listed = groups_in(file.text)) {
    content.groups = *std::move(listed);
  } else {
    auto trace = chakra::read_trace(file.name, file.text, content.problems);
    auto summary = trace ? chakra::summarize(file.name, *trace, content.problems) : std::nullopt;
    if (summary)
      content.trace =
          chakra::RankTrace{file.name, 0, std::make_shared<const chakra::Trace>(*std::move(trace)),
                            std::make_shared<const chakra::Summary>(*std::move(summary))};
  }
  return content;
}

// [file] the first that has the same bytes: the ranks of a step are often alike to the byte.
std::vector<std::size_t> first_of_equal(const std::vector<InputText>& files) {
  std::unordered_map<std::string_view, std::size_t> known;
  std::vector<std::size_t> first;
  for (const InputText& file : files)
    first.push_back(known.try_emplace(file.text, first.size()).first->second);
  return first;
}

// Of the chip that is stated; nothing, and a problem, where none is or it has no rates.
std::optional<chakra::Roofline> stated_roofline(const std::string& file, const Stated& stated,
                                                std::vector<Problem>& problems) {
  const Catalog catalog;
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    problems.push_back({file, 0, 0, message, "", hint});
    return std::nullopt;
  };
  if (stated.chip.empty())
    return refuse("needs a chip to time computations by (--chip; podsim catalog chips lists them)", "");
  const auto chip = catalog_chip(catalog, stated.chip);
  if (!chip)
    return refuse("--chip \"" + stated.chip + "\" is not in the catalogue",
                  catalog.hint(Catalog::Section::kChips, stated.chip));
  const auto roofline = chakra::roofline_of(*chip);
  if (!roofline) return refuse("chip " + chip->name + " has no rate of matmuls in 16 bits", "");
  return roofline;
}

}  // namespace

bool is_chakra(std::string_view text) {
  return is_pytorch_execution_trace(text) || groups_in(text).has_value() || chakra::is_chakra_trace(text);
}

std::optional<Imported> import_chakra(std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems) {
  const std::size_t had = problems.size();
  std::vector<chakra::RankTrace> ranks;
  chakra::Groups groups;
  const std::vector<std::size_t> original = first_of_equal(files);
  std::vector<Content> contents(files.size());
  parallel_for(files.size(), 0, [&](std::size_t i) {
    if (original[i] == i) contents[i] = content_of(files[i]);
    files[i].text = std::string();
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    Content& content = contents[i];
    if (original[i] != i && contents[original[i]].trace) {
      content.trace = contents[original[i]].trace;
      content.trace->file = files[i].name;
    }
    problems.insert(problems.end(), content.problems.begin(), content.problems.end());
    groups.merge(content.groups);
    if (!content.trace) continue;
    const auto place = static_cast<std::int64_t>(ranks.size());
    content.trace->rank = rank_in_name(content.trace->file).value_or(place);
    ranks.push_back(*content.trace);
    for (const chakra::ProcessGroup& group : ranks.back().trace->groups)
      groups.try_emplace(group.name, group.ranks);
  }
  if (problems.size() > had) return std::nullopt;
  if (ranks.empty()) {
    problems.push_back({files.front().name, 0, 0,
                        "lists process groups, but there is no Chakra trace beside it", "",
                        "the traces of all ranks, PREFIX.0.et and so on"});
    return std::nullopt;
  }
  std::ranges::stable_sort(ranks, {}, &chakra::RankTrace::rank);
  if (!ranks_differ(ranks, problems)) return std::nullopt;
  if (ranks.size() > 1) chakra::meetings_of(ranks, groups, problems);
  const auto roofline =
      stated.roofline ? stated_roofline(ranks.front().file, stated, problems) : std::nullopt;
  if (problems.size() > had) return std::nullopt;
  Imported imported;
  imported.accounts = accounts_of_all(ranks);
  const chakra::RankTrace& first = ranks.front();
  imported.figures =
      ranks.size() == 1 ? trace_figures(*first.trace, *first.summary) : ranks_figures(ranks, groups);
  imported.text =
      ranks.size() == 1 ? trace_text(first.file, *first.trace, *first.summary) : ranks_text(ranks);
  for (const Account& account : imported.accounts) {
    account.check();
    Figure figure = account_figure(account);
    if (account.of != "nodes") figure.key = "account_of_" + account.of;
    imported.figures.push_back(std::move(figure));
    imported.text += "\n" + account_text(account);
  }
  imported.ranks = static_cast<std::int64_t>(ranks.size());
  const auto kept = std::make_shared<const std::vector<chakra::RankTrace>>(std::move(ranks));
  imported.step = [kept, groups, roofline](std::int64_t chips, const TransferTimer* timer) {
    return step_of_ranks(*kept, groups, chips, timer, roofline);
  };
  return imported;
}

}  // namespace podsim
