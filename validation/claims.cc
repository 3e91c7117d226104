// Reads claims and holds them against the rows of their suite.
#include "validation/claims.h"

#include <algorithm>

#include "proto/text/assign.h"
#include "proto/text/csv_table.h"

namespace podsim {
namespace {

const std::vector<std::string>& verdicts_on_claims() {
  static const std::vector<std::string> kVerdicts = {"confirmed", "refuted", "depends", "open"};
  return kVerdicts;
}

}  // namespace

ClaimTable read_claims(const std::string& file, const std::string& text, const std::vector<SuiteRow>& rows) {
  CsvTable table(file, text);
  ClaimTable result;
  bool whole = true;
  for (const char* column : {"id", "sentence", "verdict", "flip", "why", "evidence"})
    whole = table.require(column) && whole;
  for (const CsvRow& line : whole ? table.rows() : std::vector<CsvRow>{}) {
    const auto cell = [&](const char* column) { return table.cell(line, column).text; };
    const Claim claim = {cell("id"),   cell("sentence"), cell("verdict"),
                         cell("flip"), cell("why"),      cell("evidence")};
    if (std::ranges::count(verdicts_on_claims(), claim.verdict) == 0)
      table.report(line, "verdict", "\"" + claim.verdict + "\" is no verdict on a claim",
                   suggest(claim.verdict, verdicts_on_claims(), "expected"));
    const bool has_row = std::ranges::count(rows, claim.id, &SuiteRow::id) > 0;
    if (!has_row)
      table.report(line, "id", "no row of the suite holds the verdict on " + claim.id,
                   "give the suite a row of this id, with a command or a note why there is none");
    result.claims.push_back(claim);
  }
  result.problems = table.problems();
  return result;
}

bool is_held(const Claim& claim, const std::vector<SuiteResult>& results) {
  return std::ranges::all_of(results, [&](const SuiteResult& result) {
    return result.row.id != claim.id ||
           (result.verdict != Verdict::kFail && result.verdict != Verdict::kOutside);
  });
}

}  // namespace podsim
