// Reads the rows of a suite and holds figures against them.
#include "validation/suite.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "proto/text/csv_table.h"

namespace podsim {
namespace {

struct Tolerance {
  enum class Kind { kBand, kRelative, kAbsolute, kStandardErrors } kind = Kind::kBand;
  double limit = 0;
};

std::optional<Tolerance> tolerance_of(const std::string& text) {
  if (text.empty()) return Tolerance{};
  const std::size_t blank = text.find(' ');
  const std::string kind = text.substr(0, blank);
  Tolerance tolerance;
  if (kind == "relative") {
    tolerance.kind = Tolerance::Kind::kRelative;
  } else if (kind == "absolute") {
    tolerance.kind = Tolerance::Kind::kAbsolute;
  } else if (kind == "standard_errors") {
    tolerance.kind = Tolerance::Kind::kStandardErrors;
  } else {
    return std::nullopt;
  }
  const Evaluated limit = evaluate(blank == std::string::npos ? "" : text.substr(blank + 1));
  if (!limit.value || *limit.value < 0) return std::nullopt;
  tolerance.limit = *limit.value;
  return tolerance;
}

struct Band {
  std::optional<double> low, high;
};

// "0.9..0.97", "..0.97" or "0.9..".
std::optional<Band> band_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos || text.size() == 2) return std::nullopt;
  Band band;
  for (const auto& [part, end] :
       {std::pair{text.substr(0, dots), &band.low}, {text.substr(dots + 2), &band.high}}) {
    if (part.empty()) continue;
    *end = evaluate(part).value;
    if (!*end) return std::nullopt;
  }
  if (band.low && band.high && *band.low > *band.high) return std::nullopt;
  return band;
}

void check(CsvTable& table, const CsvRow& line, const SuiteRow& row) {
  if (row.id.empty()) table.report(line, "id", "the row has no id");
  if (!row.kind.empty() && std::ranges::count(suite_kinds(), row.kind) == 0)
    table.report(line, "kind", "\"" + row.kind + "\" is no kind of row",
                 "write measurement, artifact or formulas, or nothing");
  if (row.command.empty()) {
    if (row.note.empty()) table.report(line, "note", "a row without a command says why in note");
    return;
  }
  const auto tolerance = tolerance_of(row.tolerance);
  if (!tolerance) {
    table.report(line, "tolerance", "\"" + row.tolerance + "\" is no tolerance",
                 "write relative 1e-9, absolute 0.01, standard_errors 3, or nothing for a band");
  } else if (tolerance->kind == Tolerance::Kind::kBand) {
    if (!band_of(row.expected))
      table.report(line, "expected", "\"" + row.expected + "\" is no band", "write 0.9..1, 0.9.. or ..1");
  } else if (const Evaluated value = evaluate(row.expected); !value.value) {
    table.report(line, "expected", value.problem);
  }
}

// How far outside of the band, in the figure's own unit.
double distance(const Band& band, double value) {
  if (band.low && value < *band.low) return value - *band.low;
  if (band.high && value > *band.high) return value - *band.high;
  return 0;
}

// What deviations are counted in.
double counted_in(const Tolerance& tolerance, double expected, double standard_error) {
  switch (tolerance.kind) {
    case Tolerance::Kind::kRelative:
      return std::fabs(expected);
    case Tolerance::Kind::kStandardErrors:
      return standard_error;
    default:
      return 1;
  }
}

SuiteResult failed(SuiteResult result, const std::string& reason) {
  result.verdict = Verdict::kFail;
  result.reason = reason;
  return result;
}

SuiteResult judge_band(SuiteResult result) {
  const auto band = band_of(result.row.expected);
  if (!band) return failed(std::move(result), "\"" + result.row.expected + "\" is no band");
  result.deviation = distance(*band, *result.measured);
  if (*result.deviation == 0) {
    result.verdict = Verdict::kPass;
  } else if (!result.row.note.empty()) {
    result.verdict = Verdict::kOutside;
    result.reason = result.row.note;
  } else {
    return failed(std::move(result), "outside of the band, and the row does not say why");
  }
  return result;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kOutside:
      return "outside";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kNone:
      return "none";
  }
  return "";
}

const std::vector<std::string>& suite_kinds() {
  static const std::vector<std::string> kKinds = {"measurement", "artifact", "formulas"};
  return kKinds;
}

Suite read_suite(const std::string& file, const std::string& text) {
  CsvTable table(file, text);
  Suite suite;
  bool whole = true;
  for (const char* column : {"id", "what", "command", "figure", "expected", "tolerance", "source"})
    whole = table.require(column) && whole;
  if (whole) {
    for (const CsvRow& line : table.rows()) {
      const auto cell = [&](const char* column) { return table.cell(line, column).text; };
      suite.rows.push_back({cell("id"), cell("what"), cell("kind"), cell("command"), cell("figure"),
                            cell("expected"), cell("tolerance"), cell("standard_error"), cell("source"),
                            cell("note")});
      check(table, line, suite.rows.back());
    }
  }
  suite.problems = table.problems();
  return suite;
}

SuiteResult judge(const SuiteRow& row, const std::function<Evaluated(const std::string&)>& figure) {
  SuiteResult result;
  result.row = row;
  const Evaluated measured = evaluate(row.figure, figure);
  const auto tolerance = tolerance_of(row.tolerance);
  if (!tolerance) return failed(std::move(result), "\"" + row.tolerance + "\" is no tolerance");
  if (tolerance->kind != Tolerance::Kind::kBand) result.expected = evaluate(row.expected).value;
  if (!measured.value) return failed(std::move(result), measured.problem);
  result.measured = measured.value;
  if (tolerance->kind == Tolerance::Kind::kBand) return judge_band(std::move(result));
  if (!result.expected) return failed(std::move(result), "\"" + row.expected + "\" is no number");

  double standard_error = 0;
  if (tolerance->kind == Tolerance::Kind::kStandardErrors) {
    const Evaluated error = evaluate(row.standard_error, figure);
    if (!error.value) return failed(std::move(result), error.problem);
    standard_error = *error.value;
  }
  const double off = *result.measured - *result.expected;
  result.deviation = off == 0 ? 0 : off / counted_in(*tolerance, *result.expected, standard_error);
  if (std::fabs(*result.deviation) <= tolerance->limit) {
    result.verdict = Verdict::kPass;
    return result;
  }
  return failed(std::move(result), "further off than the tolerance");
}

}  // namespace podsim
