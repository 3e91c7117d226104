// Reads tables of measured collectives and the output of nccl-tests.
#include "validation/measured_collectives.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "engine/spelling.h"
#include "proto/text/csv_table.h"

namespace podsim {
namespace {

// Letters and digits only, in lower case: "NVLSTree" and "nvls-tree" are one name.
std::string plain(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') text += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text += c;
  }
  return text;
}

template <class Enum>
std::optional<Enum> named(const std::string& name, Enum last) {
  for (int value = 0; value <= static_cast<int>(last); ++value)
    if (plain(name) == plain(std::string(to_string(static_cast<Enum>(value)))))
      return static_cast<Enum>(value);
  return std::nullopt;
}

template <class Enum>
std::string nearest_name(const std::string& name, Enum last) {
  std::vector<std::string> names;
  for (int value = 0; value <= static_cast<int>(last); ++value)
    names.emplace_back(to_string(static_cast<Enum>(value)));
  const std::string close = closest_name(name, names);
  return close.empty() ? "expected a name such as " + names.front() : "did you mean \"" + close + "\"?";
}

std::string id_of(const MeasuredCollective& row) {
  std::ostringstream id;
  id.imbue(std::locale::classic());
  const std::string& what = row.chip.empty() ? row.system : row.chip;
  id << what << (what.empty() ? "" : " ") << row.gpus << ' ' << row.network
     << (row.network.empty() ? "" : " ") << to_string(row.collective.kind) << ' ' << row.algo
     << (row.algo.empty() ? "" : " ") << static_cast<std::int64_t>(row.collective.bytes.value);
  return id.str();
}

// What nccl-tests calls busbw is a multiple of bytes / time.
double seconds_at_bus_bandwidth(const MeasuredCollective& row, double busbw_gb_per_s) {
  const Bandwidth in_a_second = bus_bandwidth(row.collective, row.gpus, Time::seconds(1));
  return in_a_second.value / (busbw_gb_per_s * 1e9);
}

// One row of a table on its way to a MeasuredCollective.
class RowReader {
 public:
  RowReader(CsvTable& table, const CsvRow& row) : table_(table), row_(row) {}

  std::optional<MeasuredCollective> read() {
    read_names();
    read_sizes();
    if (complete_) read_time();
    if (!complete_) return std::nullopt;
    made_.id = id_of(made_);
    return made_;
  }

 private:
  const std::string& text(const char* column) const { return table_.cell(row_, column).text; }

  double number(const char* column) {
    const auto value = table_.number(row_, column, CsvNumber::kPositive);
    complete_ = complete_ && value;
    return value.value_or(1);
  }

  int count(const char* column) {
    const double value = number(column);
    if (complete_ && (value != std::floor(value) || value > kMaxChips))
      refuse(column, std::string(column) + " is \"" + text(column) + '"',
             "expected a whole number, at most " + std::to_string(kMaxChips));
    return static_cast<int>(std::min(value, double{kMaxChips}));
  }

  void refuse(const char* column, const std::string& message, const std::string& hint) {
    table_.report(row_, column, message, hint);
    complete_ = false;
  }

  static std::string words_before(const std::string& word) { return word.empty() ? "" : " " + word; }

  void read_names() {
    made_.system = text("system");
    made_.network = text("network");
    made_.chip = text("chip");
    made_.source = text("source").empty() ? text("software") + words_before(text("dtype")) : text("source");
    made_.algo = text("algo");
    const auto kind = named(text("collective"), CollectiveKind::kBarrier);
    if (!kind)
      refuse("collective", "no collective \"" + text("collective") + '"',
             nearest_name(text("collective"), CollectiveKind::kBarrier));
    made_.collective.kind = kind.value_or(CollectiveKind::kAllReduce);
    made_.representative = made_.algo.find("mis-tuned") == std::string::npos;
    if (made_.algo.empty() || made_.algo.rfind("default", 0) == 0) return;
    made_.pinned = named(made_.algo, kLastAlgorithm);
    if (!made_.pinned)
      refuse("algo", "no algorithm \"" + made_.algo + '"', nearest_name(made_.algo, kLastAlgorithm));
  }

  void read_sizes() {
    made_.gpus = count("gpus");
    if (complete_ && made_.gpus < 2) refuse("gpus", "a collective needs at least 2 GPUs", "");
    if (table_.has("nodes") && !text("nodes").empty()) made_.nodes = count("nodes");
    made_.collective.bytes = {number("bytes")};
    made_.place = {{}, row_.line, table_.cell(row_, "system").column, {}, row_.source, {}, 1};
  }

  void read_time() {
    if (table_.has("time_us") && !text("time_us").empty())
      made_.time_s = number("time_us") * 1e-6;
    else if (table_.has("latency_ms") && !text("latency_ms").empty())
      made_.time_s = number("latency_ms") * 1e-3;
    else
      made_.time_s = seconds_at_bus_bandwidth(made_, number("busbw_GBps"));
  }

  CsvTable& table_;
  const CsvRow& row_;
  MeasuredCollective made_;
  bool complete_ = true;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::optional<double> positive(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value > 0 ? std::optional(value) : std::nullopt;
}

// "all_gather_perf" in a comment: the program that ran.
std::optional<CollectiveKind> program_of(const std::string& line) {
  for (std::string word : words_of(line)) {
    word = word.substr(word.rfind('/') + 1);
    const auto end = word.find("_perf");
    if (end == std::string::npos) continue;
    const std::string name = word.substr(0, end);
    if (plain(name) == "sendrecv") return CollectiveKind::kSendReceive;
    return named(name, CollectiveKind::kBarrier);
  }
  return std::nullopt;
}

}  // namespace

bool is_collective_table(const std::string& text) {
  const CsvTable table("", text);
  return table.has("collective") || (table.has("bytes") && (table.has("time_us") || table.has("busbw_GBps")));
}

MeasuredCollectives read_collective_table(const std::string& file, const std::string& text,
                                          bool fabric_given) {
  CsvTable table(file, text);
  bool complete = true;
  for (const char* column : {"gpus", "collective", "bytes"}) complete = table.require(column) && complete;
  if (!fabric_given && !table.has("chip"))
    for (const char* column : {"system", "network"}) complete = table.require(column) && complete;
  if (!table.has("busbw_GBps") && !table.has("latency_ms")) complete = table.require("time_us") && complete;
  MeasuredCollectives read;
  for (const CsvRow& row : table.rows()) {
    if (!complete) break;
    auto made = RowReader(table, row).read();
    if (!made) continue;
    made->place.file = file;
    read.rows.push_back(*std::move(made));
  }
  read.problems = table.problems();
  return read;
}

bool is_nccl_tests_output(const std::string& text) {
  return text.find("out-of-place") != std::string::npos && text.find("algbw") != std::string::npos;
}

// size count type redop root | time algbw busbw #wrong | time algbw busbw #wrong
MeasuredCollectives read_nccl_tests(const std::string& file, const std::string& text, int gpus, int nodes,
                                    CollectiveKind kind) {
  constexpr std::size_t kSize = 0, kTime = 5, kFewest = 8;
  MeasuredCollectives read;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words[0][0] == '#') {
      kind = program_of(line).value_or(kind);
      continue;
    }
    const auto bytes = positive(words[kSize]);
    if (!bytes || words.size() < kFewest) continue;  // what other programs print around the table
    const Problem place = {file, number, 1, {}, line, {}, 1};
    const auto time_us = positive(words[kTime]);
    if (!time_us) {
      Problem problem = place;
      problem.message = "no time: \"" + words[kTime] + '"';
      problem.hint = "expected size, count, type, redop, root, time, algbw, busbw";
      read.problems.push_back(problem);
      continue;
    }
    MeasuredCollective row;
    row.gpus = gpus;
    row.nodes = nodes;
    row.collective = {kind, {*bytes}};
    row.time_s = *time_us * 1e-6;
    row.place = place;
    row.id = id_of(row);
    read.rows.push_back(std::move(row));
  }
  return read;
}

}  // namespace podsim
