// Reads tables of measured collectives and the output of nccl-tests.
#include "validation/measured_collectives.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/spelling.h"
#include "engine/words.h"
#include "ingest/nccl_tests.h"
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

// Also by the names of nccl-tests, whose sendrecv has every rank send to the next one.
std::optional<CollectiveKind> kind_of_test(const std::string& name) {
  if (plain(name) == "sendrecv") return CollectiveKind::kPermute;
  return named(name, CollectiveKind::kBarrier);
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
    const auto kind = kind_of_test(text("collective"));
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
    if (complete_ && made_.gpus > 2 && made_.collective.kind == CollectiveKind::kSendReceive)
      refuse("gpus", "a send-receive is from one GPU to another",
             "where each GPU sends to the next, as sendrecv of nccl-tests, the collective is permute");
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

// The rows of one test, held against what is stated of it.
class TestReader {
 public:
  TestReader(const std::string& file, const NcclTests& tests, const StatedTest& stated,
             MeasuredCollectives& read)
      : file_(file), tests_(tests), stated_(stated), read_(read) {}

  // `lines` = of the text that was read, `before` = those of the file in front of it.
  void add_rows(const std::vector<std::string>& lines, int before) {
    const auto kind = read_kind();
    const auto gpus = agreed(tests_.ranks, stated_.gpus, "ranks", "--gpus");
    const auto nodes = agreed(tests_.hosts, stated_.nodes, "hosts", "--nodes");
    if (!kind || !gpus || !nodes) return;
    if (*gpus < 2) {
      if (*gpus == 0) return refuse("does not list its ranks", "say how many ran with --gpus N");
      return refuse("a collective needs at least 2 GPUs", "");
    }
    if (!has_bus_bandwidth(*kind, *gpus)) return;
    for (const NcclRow& line : tests_.rows) {
      if (!line.usable()) {
        ++(line.wrong() ? read_.wrong_rows : read_.empty_rows);
        continue;
      }
      MeasuredCollective row;
      row.gpus = *gpus;
      row.nodes = *nodes;
      row.collective = {*kind, {static_cast<double>(line.bytes)}};
      row.time_s = line.out_of_place.time_us * 1e-6;
      row.place = {file_, before + static_cast<int>(line.line), 1, {}, lines[line.line - 1], {}, 1};
      row.id = id_of(row);
      read_.rows.push_back(std::move(row));
    }
  }

 private:
  void refuse(const std::string& message, const std::string& hint) {
    Problem problem;
    problem.file = file_;
    problem.message = message;
    problem.hint = hint;
    read_.problems.push_back(std::move(problem));
  }

  // What the output lists, or what is stated where it lists nothing; nothing where the two differ.
  std::optional<int> agreed(std::int64_t listed, int stated, const std::string& what,
                            const std::string& option) {
    if (listed == 0 || stated == 0 || listed == stated) return listed > 0 ? static_cast<int>(listed) : stated;
    refuse("lists " + std::to_string(listed) + " " + what + ", and " + option + " says " +
               std::to_string(stated),
           "leave " + option + " out, or give the output of that run");
    return std::nullopt;
  }

  // As the output names it, else as stated, else what alone has such a bus bandwidth.
  std::optional<CollectiveKind> read_kind() {
    const std::string said = tests_.kind.empty() ? tests_.inferred_kind : tests_.kind;
    const std::vector<std::string> names = said.empty() ? std::vector<std::string>{} : split(said, " or ");
    std::vector<CollectiveKind> kinds;
    for (const std::string& name : names)
      if (const auto kind = kind_of_test(name)) kinds.push_back(*kind);
    if (!said.empty() && kinds.empty()) {
      refuse("is of \"" + said + "\", which podsim does not predict",
             "expected all_reduce, all_gather, reduce_scatter, alltoall, broadcast or sendrecv");
      return std::nullopt;
    }
    const std::string by = tests_.kind.empty() ? " by its bus bandwidth" : "";
    if (stated_.kind == CollectiveKind::kSendReceive && kinds == std::vector{CollectiveKind::kPermute})
      return kinds.front();  // what nccl-tests calls sendrecv
    if (stated_.kind) {
      if (kinds.empty() || std::ranges::count(kinds, *stated_.kind) > 0) return stated_.kind;
      refuse("is of " + said + by + ", and --kind says " + std::string(to_string(*stated_.kind)),
             "leave --kind out, or give the output of that collective");
      return std::nullopt;
    }
    if (kinds.size() == 1 && names.size() == 1) return kinds.front();
    refuse("does not say which collective it measured" + (said.empty() ? "" : ": " + said + by),
           "say which with --kind");
    return std::nullopt;
  }

  // Whether its bus bandwidth is what so many ranks make of the bandwidth; both are printed with two
  // decimals.
  bool has_bus_bandwidth(CollectiveKind kind, int gpus) {
    constexpr double kNear = 0.03;
    const double factor = bus_bandwidth({kind, {1e9}}, gpus, Time::seconds(1)).value / 1e9;
    if (tests_.bus_factor == 0 || std::abs(tests_.bus_factor - factor) <= kNear * factor) return true;
    const std::string ranks =
        tests_.inferred_ranks > 0
            ? "; it is that of " + std::to_string(tests_.inferred_ranks) + " ranks of " + tests_.inferred_kind
            : "";
    std::ostringstream message;
    message.imbue(std::locale::classic());
    message.precision(3);
    message << "has a bus bandwidth of " << tests_.bus_factor << " times the bandwidth, and "
            << to_string(kind) << " of " << gpus << " ranks has " << factor << ranks;
    refuse(message.str(), "which collective, and how many GPUs?");
    return false;
  }

  const std::string& file_;
  const NcclTests& tests_;
  const StatedTest& stated_;
  MeasuredCollectives& read_;
};

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

MeasuredCollectives collectives_of_nccl_tests(const std::string& file, const std::string& text,
                                              const StatedTest& stated) {
  MeasuredCollectives read;
  int before = 0;
  for (const std::string_view piece : texts_of_tests(text)) {
    const auto tests = read_nccl_tests(file, piece, read.problems);
    const std::vector<std::string> lines = split(piece, '\n');
    if (tests) TestReader(file, *tests, stated, read).add_rows(lines, before);
    before += static_cast<int>(lines.size()) - 1;
  }
  return read;
}

}  // namespace podsim
