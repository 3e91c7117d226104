// Reads and applies the rules for what tables of runs leave out.
#include "validation/run_rules.h"

#include "engine/check.h"
#include "engine/words.h"
#include "proto/catalog/read_built_in.h"
#include "proto/text/csv_table.h"
#include "validation/builtin_run_rules.h"

namespace podsim {
namespace {

bool says(const RunRow& row, const std::string& column, const std::string& words) {
  return words == "-" ? !row.has(column) : row.text(column).find(words) != std::string::npos;
}

bool says_all(const RunRow& row, const RunRule& rule) {
  const std::vector<std::string> columns = split(rule.column, '&'), words = split(rule.words, '&');
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!says(row, columns[i], words[i])) return false;
  return true;
}

bool applies(const RunRule& rule, const RunRow& row) {
  return !row.has(rule.sets) && row.text("family").starts_with(rule.family) &&
         (rule.chip.empty() || row.text("chip") == rule.chip) && says_all(row, rule);
}

}  // namespace

RunRules read_run_rules(const std::string& file, const std::string& text) {
  CsvTable table(file, text);
  RunRules result;
  for (const char* column : {"family", "chip", "column", "words", "sets", "value", "assumption"})
    table.require(column);
  if (table.problems().empty()) {
    for (const CsvRow& row : table.rows()) {
      const auto cell = [&](const char* column) { return table.cell(row, column).text; };
      if (cell("sets").empty()) table.report(row, "sets", "the rule sets no column");
      if (split(cell("column"), '&').size() != split(cell("words"), '&').size())
        table.report(row, "words", "each of the columns joined by & needs its words", "join them by & too");
      result.rules.push_back({cell("family"), cell("chip"), cell("column"), cell("words"), cell("sets"),
                              cell("value"), cell("assumption")});
    }
  }
  result.problems = table.problems();
  return result;
}

const std::vector<RunRule>& builtin_run_rules() {
  static const std::vector<RunRule> kRules =
      read_built_in(builtin_run_rule_files().front(), read_run_rules).rules;
  return kRules;
}

std::vector<std::string> apply(const std::vector<RunRule>& rules, RunRow& row) {
  std::vector<std::string> assumptions;
  for (const RunRule& rule : rules) {
    if (!applies(rule, row)) continue;
    row.set(rule.sets, rule.value);
    if (!rule.assumption.empty()) assumptions.push_back(rule.assumption);
  }
  return assumptions;
}

}  // namespace podsim
