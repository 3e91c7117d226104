// Verdicts on claims as a table and as a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/claims.h"

namespace podsim {

// Of claims.csv beside the suite, those of which a row is wanted; none where there is no such file. Nothing
// where it has problems, which are printed. `all` are the rows of the suite.
std::optional<std::vector<Claim>> claims_beside(const std::string& suite, const std::vector<SuiteRow>& all,
                                                const std::vector<SuiteRow>& wanted);

// A line each, and how many verdicts of each kind there are.
std::string claims_table(const std::vector<Claim>& claims, const std::vector<SuiteResult>& results);

// Each claim with its verdict, what turns it, what is published, and the commands with their figures.
std::string claims_markdown(const std::vector<Claim>& claims, const std::vector<SuiteResult>& results);

// The same of one claim, as the page of its folder.
std::string claim_page(const Claim& claim, const std::vector<SuiteResult>& results);

// Of A7 that of `folder` whose name begins with "a07_"; empty where there is none.
std::string folder_of_claim(const std::string& id, const std::string& folder);

// All on one page, or, where `out` is a folder, README.md in the folder of each claim within it. Throws
// std::runtime_error where a claim has none.
void emit_claims(const std::vector<Claim>& claims, const std::vector<SuiteResult>& results,
                 const std::string& out);

}  // namespace podsim
