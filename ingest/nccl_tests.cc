// Reads the output line by line: a row is what has as many columns of numbers as one.
#include "ingest/nccl_tests.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/number_text.h"
#include "engine/words.h"

namespace podsim {
namespace {

using Words = std::vector<std::string_view>;

// mpirun and others put "[1,0]<stdout>:" in front of every line, srun "0: ".
std::string_view without_launcher(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return line;
  const std::size_t digits = line.find_first_not_of("0123456789", begin);
  if (digits != std::string_view::npos && digits > begin && line.substr(digits, 2) == ": ")
    return line.substr(digits + 2);
  if (line[begin] != '[') return line;
  const std::size_t end = line.find(">:", begin);
  return end == std::string_view::npos ? line : line.substr(end + 2);
}

std::optional<NcclTiming> timing(const Words& words, std::size_t at) {
  if (at + 4 > words.size()) return std::nullopt;
  const auto time = whole_text_as<double>(words[at]), algbw = whole_text_as<double>(words[at + 1]),
             busbw = whole_text_as<double>(words[at + 2]);
  const std::string_view wrong = words[at + 3];
  for (const auto& value : {time, algbw, busbw})
    if (!value || *value < 0) return std::nullopt;
  if (wrong != "N/A" && !number_as_written<double>(wrong)) return std::nullopt;
  return NcclTiming{*time, *algbw, *busbw, std::string(wrong)};
}

// Versions differ in the columns between type and time: redop and root, one of them, or none.
std::optional<NcclRow> row_of(const Words& words) {
  if (words.size() < 7) return std::nullopt;
  const auto bytes = whole_text_as<std::int64_t>(words[0]), count = whole_text_as<std::int64_t>(words[1]);
  if (!bytes || !count || *bytes < 0 || whole_text_as<double>(words[2])) return std::nullopt;
  NcclRow row;
  row.bytes = *bytes;
  row.count = *count;
  row.dtype = words[2];
  std::size_t at = 3;
  if (!whole_text_as<double>(words[at])) row.redop = words[at++];
  const std::size_t timings = words.size() - at;
  if (timings == 5 || timings == 9 || words[at].starts_with('-')) {
    const auto root = whole_text_as<std::int64_t>(words[at++]);
    if (!root) return std::nullopt;
    row.root = *root;
  }
  const auto out = timing(words, at);
  if (!out) return std::nullopt;
  row.out_of_place = *out;
  row.in_place = timing(words, at + 4);
  return row;
}

// Of "# build/all_gather_perf -b 8": all_gather; empty where a comment names no program.
std::string_view program_of(const Words& words) {
  constexpr std::string_view kEnd = "_perf";
  if (words.size() < 2 || words[0] != "#" || !words[1].ends_with(kEnd)) return {};
  const std::string_view name = words[1].substr(words[1].rfind('/') + 1);
  return name.substr(0, name.size() - std::min(name.size(), kEnd.size()));
}

class Reader {
 public:
  explicit Reader(NcclTests& tests) : tests_(tests) {}

  void read(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      line(without_launcher(text.substr(at, end - at)));
      at = end + 1;
    }
    tests_.hosts = static_cast<std::int64_t>(hosts_.size());
  }

 private:
  void line(std::string_view text) {
    ++tests_.lines;
    const Words words = blank_separated(text);
    if (words.empty()) {
      ++tests_.passed_over["empty"];
    } else if (words[0].starts_with('#')) {
      comment(text, words);
    } else if (auto row = row_of(words)) {
      row->line = tests_.lines;
      tests_.rows.push_back(*std::move(row));
      ++tests_.used_lines;
    } else {
      ++tests_.passed_over["of other programs"];
    }
  }

  void comment(std::string_view text, const Words& words) {
    const auto behind = [&](std::string_view name) {
      const std::size_t at = text.find(name);
      return at == std::string_view::npos ? Words{} : blank_separated(text.substr(at + name.size()));
    };
    if (words.size() > 2 && words[1] == "Rank") {
      device(text);
    } else if (const Words test = behind("Collective test starting:"); !test.empty()) {
      tests_.kind = test[0].substr(0, test[0].find("_perf"));
    } else if (const std::string_view program = program_of(words); !program.empty()) {
      tests_.kind = program;
    } else if (const Words average = behind("Avg bus bandwidth"); average.size() > 1) {
      tests_.average_busbw = whole_text_as<double>(average[1]);
    } else {
      ++tests_.passed_over["heads and settings"];
      return;
    }
    ++tests_.used_lines;
  }

  // "#  Rank  0 Group  0 Pid 1006102 on HOST device  0 [0000:19:00] NVIDIA H100 80GB HBM3"
  void device(std::string_view text) {
    ++tests_.ranks;
    const std::size_t on = text.find(" on ");
    const std::size_t device = on == std::string_view::npos ? on : text.find(" device ", on);
    if (device == std::string_view::npos) return;
    const Words host = blank_separated(text.substr(on + 4, device - on - 4));
    if (!host.empty()) hosts_.emplace(host[0]);
    const std::size_t bus = text.find("] ", device);
    if (bus == std::string_view::npos) return;
    std::string name(text.substr(bus + 2));
    while (!name.empty() && (name.back() == ' ' || name.back() == '\r')) name.pop_back();
    if (std::ranges::count(tests_.devices, name) == 0) tests_.devices.push_back(name);
  }

  NcclTests& tests_;
  std::set<std::string> hosts_;
};

// Ranks for which the factor, 2(n-1)/n or (n-1)/n, is nearest to what rows have.
std::int64_t ranks_of(double factor, double most) {
  return factor < most ? std::llround(most / (most - factor)) : 0;
}

// A reduction has a root, and sum over two ranks has a factor of 1 too. Tests of sending name a reduction as
// well, and print nothing of results in place.
std::string reduction_of_factor_one(const NcclTests& tests) {
  const NcclRow& row = tests.rows.front();
  if (row.root >= 0) return "reduce";
  const bool sends = tests.ranks > 2 || (row.in_place && row.in_place->wrong == "N/A");
  return sends ? "sendrecv" : tests.ranks == 2 ? "all_reduce" : "all_reduce or sendrecv";
}

// Bandwidths are printed with two decimals: all rows together tell more than one.
void infer(NcclTests& tests) {
  constexpr double kNear = 0.002;
  double algorithm = 0, bus = 0;
  for (const NcclRow& row : tests.rows)
    if (row.usable() && row.out_of_place.algbw >= 1) {
      algorithm += row.out_of_place.algbw;
      bus += row.out_of_place.busbw;
    }
  if (algorithm == 0) return;
  const double factor = bus / algorithm;
  const std::string& redop = tests.rows.front().redop;
  const bool reduces = redop != "none" && !redop.empty();
  double most = 0;
  if (reduces && factor > 1 + kNear) {
    tests.inferred_kind = "all_reduce";
    most = 2;
  } else if (factor < 1 - kNear) {
    tests.inferred_kind = reduces ? "reduce_scatter" : "all_gather or alltoall";
    most = 1;
  } else if (std::abs(factor - 1) <= kNear) {
    tests.inferred_kind = reduces ? reduction_of_factor_one(tests) : "broadcast or sendrecv";
  }
  tests.inferred_ranks = tests.ranks > 0 ? tests.ranks : most > 0 ? ranks_of(factor, most) : 0;
  const double n = static_cast<double>(tests.inferred_ranks);
  const double exact = most > 0 && n > 1 ? most * (n - 1) / n : factor;
  tests.bus_factor = std::abs(exact - factor) < kNear ? exact : factor;
}

}  // namespace

// Newer versions count wrong results, those until 2022 print the largest deviation: "1e-07", "nan".
bool NcclRow::wrong() const {
  constexpr double kLargestDeviation = 1e-2;  // that nccl-tests allowed, of half precision
  const auto bad = [](const NcclTiming& timing) {
    const auto deviation = whole_text_as<double>(timing.wrong);
    return timing.wrong != "N/A" && !(deviation && *deviation >= 0 && *deviation <= kLargestDeviation);
  };
  return bad(out_of_place) || (in_place && bad(*in_place));
}

double NcclTests::peak_busbw() const {
  double peak = 0;
  for (const NcclRow& row : rows)
    if (!row.wrong()) peak = std::max(peak, row.out_of_place.busbw);
  return peak;
}

bool is_nccl_tests(std::string_view text) {
  const auto has = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
  return (has("algbw") && has("busbw")) || has("# Collective test starting: ") || has("# nThread ");
}

std::vector<std::string_view> texts_of_tests(std::string_view text) {
  std::vector<std::string_view> tests;
  std::size_t begin = 0;
  bool rows = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_launcher(text.substr(at, end - at));
    const auto has = [&](const char* word) { return line.find(word) != std::string_view::npos; };
    const bool head =
        has("#") && (has("Collective test starting:") || has("# nThread") || (has("algbw") && has("busbw")) ||
                     !program_of(blank_separated(line)).empty());
    if (head && rows) {
      tests.push_back(text.substr(begin, at - begin));
      begin = at;
      rows = false;
    }
    rows = rows || row_of(blank_separated(line));
    at = end + 1;
  }
  tests.push_back(text.substr(begin));
  return tests;
}

std::optional<NcclTests> read_nccl_tests(const std::string& file, std::string_view text,
                                         std::vector<Problem>& problems) {
  NcclTests tests;
  Reader(tests).read(text);
  if (tests.rows.empty()) {
    Problem problem;
    problem.file = file;
    problem.message =
        "there is no row of nccl-tests: bytes, elements, type, reduction, root, time in us, ...";
    problems.push_back(problem);
    return std::nullopt;
  }
  infer(tests);
  return tests;
}

}  // namespace podsim
