// A suite: commands whose figures are known from elsewhere, with how near podsim has to come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"
#include "validation/expression.h"

namespace podsim {

struct SuiteRow {
  std::string id;         // "R33"; several rows may share one
  std::string what;       // is compared, in words
  std::string kind;       // what agreement shows: one of suite_kinds(), or empty where the suite does not say
  std::string command;    // without "podsim" and the format; several are separated by " ; "; empty = none can
  std::string figure;     // an expression over what the command answers
  std::string expected;   // an expression, or a band "0.90..0.97", open at one end where nothing stands there
  std::string tolerance;  // "relative 1e-9", "absolute 0.003", "standard_errors 3"; empty of a band
  std::string standard_error;  // an expression, of standard_errors
  std::string source;
  std::string note;  // of a row without a command or outside its band: why
};

struct Suite {
  std::vector<SuiteRow> rows;
  std::vector<Problem> problems;
};

// "measurement": something measured that the command was not told; "artifact": what another program says of
// the same input; "formulas": a closed form, or what the row itself puts in.
const std::vector<std::string>& suite_kinds();

// Columns as the members of SuiteRow; kind, standard_error and note may be left out.
Suite read_suite(const std::string& file, const std::string& text);

enum class Verdict {
  kPass,
  kFail,
  kOutside,  // of a band, and the row says why
  kSkipped,  // what the command needs is not at hand
  kNone,     // no command can answer it, and the row says why
};
std::string_view to_string(Verdict verdict);  // "pass", "FAIL", "outside", "skipped", "none"

struct SuiteResult {
  SuiteRow row;
  Verdict verdict = Verdict::kFail;
  std::optional<double> expected;  // nothing of a band
  std::optional<double> measured;
  std::optional<double> deviation;  // in what the tolerance counts; of a band, from its nearer end, 0 inside
  std::string reason;               // of every verdict but kPass
};

// `figure` gives the figures of the row's command.
SuiteResult judge(const SuiteRow& row, const std::function<Evaluated(const std::string&)>& figure);

}  // namespace podsim
