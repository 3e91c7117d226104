// The verdicts of a suite as a table, JSON, CSV or a page.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "cli/validation/validate_suite.h"
#include "proto/writing/figure_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// Eight digits: what compilers and their libraries may round differently does not show.
std::string eight_digits(const std::optional<double>& value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.8g", *value);
  return text;
}

std::string expected_told(const SuiteResult& result) {
  return result.expected ? eight_digits(result.expected) : result.row.expected;
}

// "+1.2e-11 relative", "-0.4 standard errors"; of a band nothing where the value is inside.
std::string deviation_told(const SuiteResult& result) {
  if (!result.deviation) return "-";
  const std::string kind = result.row.tolerance.substr(0, result.row.tolerance.find(' '));
  if (kind.empty()) return *result.deviation == 0 ? "inside" : eight_digits(result.deviation);
  constexpr double kRounding = 1e-12;  // what is left of it differs between compilers
  if (std::fabs(*result.deviation) < kRounding) return "0";
  char text[32];
  std::snprintf(text, sizeof text, "%+.1e", *result.deviation);
  if (kind == "standard_errors") std::snprintf(text, sizeof text, "%+.1f se", *result.deviation);
  return text;
}

std::string tolerance_told(const SuiteRow& row) { return row.tolerance.empty() ? "band" : row.tolerance; }

std::string kind_told(const SuiteRow& row) { return row.kind.empty() ? "-" : row.kind; }

// "12 rows, 11 pass, 1 none" of the rows of one kind.
std::string verdicts_of(const std::vector<SuiteResult>& results, const std::string& kind) {
  std::map<Verdict, int> count;
  int rows = 0;
  for (const SuiteResult& result : results) {
    if (result.row.kind != kind) continue;
    ++count[result.verdict];
    ++rows;
  }
  if (rows == 0) return "";
  std::string text = std::to_string(rows) + " rows";
  for (const auto& [verdict, number] : count)
    text += ", " + std::to_string(number) + " " + std::string(to_string(verdict));
  return text;
}

// By kind: a formula that agrees with itself must not count as something that was measured.
std::string verdict_counts(const std::vector<SuiteResult>& results) {
  const std::map<std::string, std::string> titles = {{"measurement", "Against measurements"},
                                                     {"artifact", "Against other programs on the same input"},
                                                     {"formulas", "Agreement of formulas"},
                                                     {"", "Of no stated kind"}};
  const auto stated = [](const SuiteResult& result) { return !result.row.kind.empty(); };
  if (std::ranges::none_of(results, stated)) return results.empty() ? "0 rows" : verdicts_of(results, "");
  std::string text;
  std::vector<std::string> kinds = suite_kinds();
  kinds.emplace_back();
  for (const std::string& kind : kinds)
    if (const std::string verdicts = verdicts_of(results, kind); !verdicts.empty())
      text += (text.empty() ? "" : ". ") + titles.at(kind) + ": " + verdicts;
  return text;
}

std::string suite_table(const std::vector<SuiteResult>& results) {
  std::vector<std::vector<std::string>> rows = {
      {"row", "what", "kind", "expected", "measured", "deviation", "tolerance", "verdict"}};
  std::string reasons;
  for (const SuiteResult& result : results) {
    rows.push_back({result.row.id, result.row.what, kind_told(result.row), expected_told(result),
                    eight_digits(result.measured), deviation_told(result), tolerance_told(result.row),
                    std::string(to_string(result.verdict))});
    if (!result.reason.empty())
      reasons += result.row.id + ", " + result.row.what + ": " + std::string(to_string(result.verdict)) +
                 ": " + result.reason + "\n";
  }
  return align(rows) + (reasons.empty() ? "" : "\n" + reasons) + "\n" + verdict_counts(results) + "\n";
}

std::string suite_json(const std::vector<SuiteResult>& results, const std::string& sha256) {
  std::vector<Figure> rows;
  for (const SuiteResult& result : results) {
    const SuiteRow& row = result.row;
    rows.push_back(Figure::group("", {{"id", row.id},
                                      {"what", row.what},
                                      {"kind", row.kind},
                                      {"command", row.command},
                                      {"figure", row.figure},
                                      {"expected", known(result.expected)},
                                      {"measured", known(result.measured)},
                                      {"deviation", known(result.deviation)},
                                      {"tolerance", tolerance_told(row)},
                                      {"verdict", std::string(to_string(result.verdict))},
                                      {"reason", result.reason},
                                      {"source", row.source}}));
    if (row.tolerance.empty()) rows.back().parts.emplace_back("band", row.expected);
  }
  return json_text(
      result_figure(sha256, {Figure::list("rows", std::move(rows)), {"summary", verdict_counts(results)}}),
      JsonNumbers::kWithPoint);
}

std::string suite_csv(const std::vector<SuiteResult>& results) {
  std::string text =
      "id,what,kind,command,figure,expected,measured,deviation,tolerance,verdict,reason,source\n";
  const auto exact = [](const std::optional<double>& value) { return value ? shortest(*value) : ""; };
  for (const SuiteResult& result : results) {
    const SuiteRow& row = result.row;
    text += quoted_csv_text(row.id) + "," + quoted_csv_text(row.what) + "," + csv_text_cell(row.kind) + "," +
            quoted_csv_text(row.command) + "," + quoted_csv_text(row.figure) + "," +
            (result.expected ? exact(result.expected) : quoted_csv_text(row.expected)) + "," +
            exact(result.measured) + "," + exact(result.deviation) + "," +
            csv_text_cell(tolerance_told(row)) + "," + std::string(to_string(result.verdict)) + "," +
            quoted_csv_text(result.reason) + "," + quoted_csv_text(row.source) + "\n";
  }
  return text;
}

std::string page_line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (std::string cell : cells) {
    for (std::size_t bar = 0; (bar = cell.find('|', bar)) != std::string::npos; bar += 2)
      cell.insert(bar, "\\");
    text += " " + cell + " |";
  }
  return text + "\n";
}

std::string suite_markdown(const std::vector<SuiteResult>& results) {
  std::string text =
      "# What is known, and what podsim answers\n\nWritten by `podsim validate --suite NAME --format "
      "markdown`; [validation-format.md](../reference/validation-format.md), Suites,\nhas the columns and "
      "the verdicts. Commands are typed with `podsim` in front; their files lie beside the suite.\n\nOnly "
      "rows of the kind *measurement* compare with something that was measured and that the command was not "
      "told. *artifact*: another program's\nanswer to the same input. *formulas*: a closed form, or a "
      "published figure that is the row's own input; that such rows agree shows\nthat the simulation does "
      "what its formulas say, and no more.\n\n";
  text += verdict_counts(results) + ".\n\n";
  text += page_line({"row", "what", "kind", "command", "expected", "measured", "deviation", "tolerance",
                     "verdict", "source"}) +
          "|---|---|---|---|---:|---:|---:|---|---|---|\n";
  std::string reasons;
  for (const SuiteResult& result : results) {
    const SuiteRow& row = result.row;
    text += page_line({row.id, row.what, kind_told(row), row.command.empty() ? "-" : "`" + row.command + "`",
                       expected_told(result), eight_digits(result.measured), deviation_told(result),
                       tolerance_told(row), std::string(to_string(result.verdict)), row.source});
    if (result.verdict != Verdict::kPass)
      reasons += "- " + row.id + ", " + row.what + ": " + std::string(to_string(result.verdict)) + ": " +
                 result.reason + "\n";
  }
  return text + (reasons.empty() ? "" : "\n" + reasons);
}

}  // namespace

std::string suite_text(const std::vector<SuiteResult>& results, const std::string& format,
                       const std::string& sha256) {
  if (format == "json") return suite_json(results, sha256);
  if (format == "csv") return suite_csv(results);
  if (format == "markdown") return suite_markdown(results);
  return suite_table(results);
}

}  // namespace podsim
