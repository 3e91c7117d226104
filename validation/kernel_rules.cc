// Reads and finds the rules for what tables of kernels leave out.
#include "validation/kernel_rules.h"

#include <algorithm>

#include "proto/catalog/read_built_in.h"
#include "proto/text/csv_table.h"
#include "validation/builtin_kernel_rules.h"

namespace podsim {
namespace {

const std::vector<GateRule>& builtin_gate_rules() {
  static const std::vector<GateRule> kRules =
      read_built_in(builtin_kernel_rule_files().front(), read_gate_rules).rules;
  return kRules;
}

}  // namespace

GateRules read_gate_rules(const std::string& file, const std::string& text) {
  CsvTable table(file, text);
  GateRules result;
  for (const char* column : {"topk", "experts", "gated", "assumption"}) table.require(column);
  if (table.problems().empty()) {
    for (const CsvRow& row : table.rows()) {
      const auto number = [&](const char* column, CsvNumber which) {
        return static_cast<int>(std::min(table.number(row, column, which).value_or(1), 1e6));
      };
      GateRule rule;
      rule.topk = number("topk", CsvNumber::kPositive);
      rule.experts = number("experts", CsvNumber::kPositive);
      rule.gated = number("gated", CsvNumber::kNotNegative) != 0;
      rule.assumption = table.cell(row, "assumption").text;
      if (rule.assumption.empty())
        table.report(row, "assumption", "the rule says nothing of what it assumes", "");
      result.rules.push_back(std::move(rule));
    }
  }
  result.problems = table.problems();
  return result;
}

const GateRule* gate_rule(int topk, int experts) {
  for (const GateRule& rule : builtin_gate_rules())
    if (rule.topk == topk && rule.experts == experts) return &rule;
  return nullptr;
}

}  // namespace podsim
