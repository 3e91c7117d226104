// Reads rows straight from the stream that decompresses them.
#include "proto/traces/trace_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "proto/traces/text_lines.h"

namespace podsim {
namespace {

constexpr int kMostRanks = 1 << 20;    // of any kind; more is a typing error
constexpr int kMostLines = 2'000'000;  // below the header; an operation takes some 100 bytes in a replay

enum Column {
  kDataRank,
  kStage,
  kRank,
  kStep,
  kType,
  kStart,
  kDuration,
  kSequence,
  kChunk,
  kGlobalChunk,
  kMicrobatch,
  kColumns
};
constexpr std::array<const char*, kColumns> kColumnNames = {
    "dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc", "gmc", "mb_id"};
constexpr int kPassedOver = -1;

class TraceReader {
 public:
  TraceReader(const std::string& path, bool single_precision, std::vector<Problem>& problems)
      : path_(path), problems_(problems), most_problems_(problems.size() + kMostProblems) {
    trace_.single_precision = single_precision;
  }

  RecordedTrace read() {
    const std::string failure = for_each_line(path_, [&](std::string_view line) { return take(line); });
    if (!failure.empty()) problems_.push_back({path_, 0, 0, failure, "", ""});
    if (failure.empty() && columns_.empty() && problems_.size() + kMostProblems == most_problems_)
      problems_.push_back(
          {path_, 0, 0, "the trace is empty", "", "expected a header and one row per operation"});
    return std::move(trace_);
  }

 private:
  // Whether to read on.
  bool take(std::string_view line) {
    if (++line_ > kMostLines + 1) {
      report(line, 1, "the trace has more than 2,000,000 lines", "leave out some of its steps");
      return false;
    }
    if (!line.empty()) {
      if (columns_.empty()) return take_header(line);
      take_row(line);
    }
    return problems_.size() < most_problems_;
  }

  bool take_header(std::string_view line) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      names.emplace_back(line.substr(at, comma - at));
      at = comma + 1;
    }
    for (const std::string& name : names) {
      const auto known = std::find(kColumnNames.begin(), kColumnNames.end(), name);
      columns_.push_back(known == kColumnNames.end() ? kPassedOver
                                                     : static_cast<int>(known - kColumnNames.begin()));
    }
    std::vector<std::string> missing;
    for (int column = 0; column < kMicrobatch; ++column)
      if (std::ranges::find(columns_, column) == columns_.end()) missing.push_back(kColumnNames[column]);
    if (missing.empty()) return true;
    std::string list;
    for (const std::string& name : missing) list += (list.empty() ? "\"" : ", \"") + name + "\"";
    const std::string close = closest_name(missing.front(), names);
    report(line, 1, (missing.size() == 1 ? "the trace has no column " : "the trace has no columns ") + list,
           missing.size() == 1 && !close.empty() ? "is it \"" + close + "\"?" : "");
    return false;
  }

  void take_row(std::string_view line) {
    RecordedOp op;
    int rank = 0;
    bool good = true;
    std::size_t at = 0, cells = 0;
    for (; at <= line.size() && cells < columns_.size(); ++cells) {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      good = take_cell(line, at, line.substr(at, comma - at), columns_[cells], op, rank) && good;
      at = comma + 1;
    }
    if (cells < columns_.size() || at <= line.size()) {
      report(line, 1,
             "the row has " + std::to_string(std::count(line.begin(), line.end(), ',') + 1) +
                 " cells, the header " + std::to_string(columns_.size()),
             "");
      return;
    }
    if (!good) return;
    if (trace_.ops.empty() || trace_.ops.back().data_rank != op.data_rank ||
        trace_.ops.back().stage != op.stage)
      trace_.global_rank.emplace(std::pair<int, int>(op.data_rank, op.stage), rank);
    trace_.ops.push_back(op);
  }

  bool take_cell(std::string_view line, std::size_t at, std::string_view cell, int column, RecordedOp& op,
                 int& rank) {
    constexpr int kAny = std::numeric_limits<int>::max(),
                  kMostStages = std::numeric_limits<std::int16_t>::max();
    switch (column) {
      case kDataRank:
        return whole(line, at, cell, column, 0, kMostRanks, op.data_rank);
      case kStage:
        return whole(line, at, cell, column, 0, kMostStages, op.stage);
      case kRank:
        return whole(line, at, cell, column, 0, kAny, rank);
      case kStep:
        return whole(line, at, cell, column, 0, kAny, op.step);
      case kSequence:
        return whole(line, at, cell, column, 0, kMostRanks, op.sequence);
      case kChunk:
        return whole(line, at, cell, column, -1, kMostStages, op.chunk);
      case kGlobalChunk:
        return whole(line, at, cell, column, -1, kMostStages, op.global_chunk);
      case kMicrobatch:
        return whole(line, at, cell, column, -1, kAny, op.microbatch);
      case kStart:
        return seconds(line, at, cell, column, op.start_s);
      case kDuration:
        return seconds(line, at, cell, column, op.duration_s);
      case kType:
        return type(line, at, cell, op.type);
      default:
        return true;
    }
  }

  template <class Integer>
  bool whole(std::string_view line, std::size_t at, std::string_view cell, int column, int least, int most,
             Integer& value) {
    if (const auto read = whole_text_as<std::int64_t>(cell); read && *read >= least && *read <= most) {
      value = static_cast<Integer>(*read);
      return true;
    }
    return bad_cell(line, at, cell, column,
                    "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }

  // A duration below 0 is as wrong as no number.
  bool seconds(std::string_view line, std::size_t at, std::string_view cell, int column, double& value) {
    const auto read = trace_.single_precision ? std::optional<double>(whole_text_as<float>(cell))
                                              : whole_text_as<double>(cell);
    if (read && (column != kDuration || *read >= 0)) {
      value = *read;
      return true;
    }
    return bad_cell(line, at, cell, column,
                    column == kDuration ? "expected seconds, at least 0" : "expected seconds");
  }

  bool type(std::string_view line, std::size_t at, std::string_view cell, OpType& value) {
    if (const auto named = op_type_named(cell)) {
      value = *named;
      return true;
    }
    const std::string close = closest_name(std::string(cell), op_type_names());
    return bad_cell(
        line, at, cell, kType,
        close.empty() ? "expected a type such as forward-compute" : "did you mean \"" + close + "\"?");
  }

  bool bad_cell(std::string_view line, std::size_t at, std::string_view cell, int column,
                const std::string& hint) {
    report(line, static_cast<int>(at) + 1,
           std::string(kColumnNames[column]) + " is \"" + std::string(cell) + "\"", hint);
    return false;
  }

  void report(std::string_view line, int column, const std::string& message, const std::string& hint) {
    problems_.push_back({path_, line_, column, message, std::string(line), hint, column});
  }

  const std::string& path_;
  std::vector<Problem>& problems_;
  const std::size_t most_problems_;
  RecordedTrace trace_;
  std::vector<int> columns_;  // [cell] Column, or kPassedOver
  int line_ = 0;
};

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

struct Meta {
  int sequence_ranks = 1;
  bool single_precision = true;
};

// Lines "key: value" and comments; of nested YAML nothing is needed.
Meta read_meta(const std::string& path, std::vector<Problem>& problems) {
  Meta meta;
  int number = 0;
  const std::size_t most_problems = problems.size() + kMostProblems;
  const auto take = [&](std::string_view line) {
    if (++number > kMostLines || problems.size() >= most_problems) return false;
    const std::string_view content = without_blanks(line.substr(0, line.find('#')));
    if (content.empty() || content == "---") return true;
    const auto report = [&](const std::string& message, const std::string& hint) {
      problems.push_back({path, number, 1, message, std::string(line), hint, 1});
    };
    const std::size_t colon = content.find(':');
    if (colon == std::string_view::npos) {
      report("the line is not \"key: value\"", "");
      return true;
    }
    const std::string_view key = without_blanks(content.substr(0, colon)),
                           value = without_blanks(content.substr(colon + 1));
    if (key == "dsp_size") {
      meta.sequence_ranks = whole_text_as<int>(value).value_or(0);
      if (meta.sequence_ranks < 1)
        report("dsp_size is \"" + std::string(value) + "\"", "expected a whole number of at least 1");
    } else if (key == "precision") {
      meta.single_precision = value == "single";
      if (value != "single" && value != "double")
        report("precision is \"" + std::string(value) + "\"", "expected single or double");
    }
    return true;
  };
  const std::string failure = for_each_line(path, take);
  if (!failure.empty()) problems.push_back({path, 0, 0, failure, "", ""});
  return meta;
}

}  // namespace

std::optional<RecordedTrace> read_trace(const std::string& path, const std::string& meta,
                                        std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  const Meta described = meta.empty() ? Meta{} : read_meta(meta, problems);
  RecordedTrace trace = TraceReader(path, described.single_precision, problems).read();
  trace.sequence_ranks = described.sequence_ranks;
  if (problems.size() > before) return std::nullopt;
  return trace;
}

}  // namespace podsim
