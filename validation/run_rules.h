// What is assumed of a published run where its table is silent: software stack, network, policies by the
// words of the source. All of it is data: scenarios/measurements/run_rules.csv.
#pragma once

#include <string>
#include <vector>

#include "validation/run_table.h"

namespace podsim {

// Fills the column `sets` of rows that leave it empty: of this family (or one that begins like it), of this
// chip, and with `words` in the text of `column`, or "-" where that is empty too. Several columns joined by &
// have words joined by &, and all must hold. What is empty here holds for every row.
struct RunRule {
  std::string family, chip, column, words;
  std::string sets, value;
  std::string assumption;  // told with every row that is filled; empty where nothing is assumed
};

struct RunRules {
  std::vector<RunRule> rules;
  std::vector<Problem> problems;
};

RunRules read_run_rules(const std::string& file, const std::string& text);

// Those that are part of the binary.
const std::vector<RunRule>& builtin_run_rules();

// Applies the rules in order, so that a rule sees what earlier ones have filled; the assumptions of those
// that filled something.
std::vector<std::string> apply(const std::vector<RunRule>& rules, RunRow& row);

}  // namespace podsim
