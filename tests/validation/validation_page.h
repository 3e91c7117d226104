// docs/validation.md: what podsim predicts for every published run of its tables, joined with the reasons
// that are known for what is bad.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/validate_runs.h"

namespace podsim::testing {

struct PageRow {
  PredictedRun predicted;
  std::optional<double> group_left_out;  // error with the run's group left out of the fit
  std::optional<double> chip_left_out;   // with all runs on its chip left out
};

// What makes predictions bad, as far as it is known: of a family where `id` is empty, else of a row.
struct KnownCause {
  std::string family, id, why;
};

struct PageInput {
  std::string head;                  // hand-written: what this is, how to read it
  std::vector<PageRow> rows;         // simulated
  std::vector<RunScenario> skipped;  // with the reason
  std::vector<KnownCause> causes;
  std::string own_tables;  // section of tables that are not part of the repository
};

std::string validation_page(const PageInput& input);

// The section on tables that the repository has not: (name, rows) of each, only summarised.
struct NamedRuns {
  std::string name;
  std::vector<PredictedRun> rows;
};
std::string own_tables_section(const std::vector<NamedRuns>& tables);

// The same section of an older page, for a machine that does not have those tables.
std::string own_tables_section(const std::string& page);

}  // namespace podsim::testing
