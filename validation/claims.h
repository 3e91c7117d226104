// Claims that people argue about, each with a verdict that rows of a suite hold.
#pragma once

#include <string>
#include <vector>

#include "validation/suite.h"

namespace podsim {

struct Claim {
  std::string id;        // of its rows in the suite
  std::string sentence;  // as it is made
  std::string verdict;   // "confirmed", "refuted", "depends" or "open"
  std::string flip;      // which assumption turns the verdict, and at what value
  std::string why;       // in the words of the figures
  std::string evidence;  // published
};

struct ClaimTable {
  std::vector<Claim> claims;
  std::vector<Problem> problems;
};

// Columns as the members of Claim. Every claim must have rows in the suite; one without a command says in its
// note what else decides.
ClaimTable read_claims(const std::string& file, const std::string& text, const std::vector<SuiteRow>& rows);

// Whether every row of the claim passed, or was skipped or none. REQUIRES: results of the suite's rows.
bool is_held(const Claim& claim, const std::vector<SuiteResult>& results);

}  // namespace podsim
