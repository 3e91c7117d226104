// docs/evidence/validation.md: what podsim predicts for every published run of its tables, joined with the
// reasons that are known for what is bad.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prediction/error_band.h"
#include "validation/validate_runs.h"

namespace podsim::testing {

// A prediction by a fit that has not seen the run.
struct Unseen {
  double error = 0;            // signed share
  std::optional<bool> inside;  // the band of that prediction
};

struct PageRow {
  PredictedRun predicted;
  std::optional<Unseen> group_left_out;  // the run and those of its group
  std::optional<Unseen> chip_left_out;   // all runs on its chip
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
  std::string new_software;  // section, as below
  std::string own_tables;    // section of tables that are not part of the repository
};

std::string validation_page(const PageInput& input);

// The section on runs whose software is taken as unknown: `generic` are errors with generic stacks, `own`
// those of the same runs with their own stack, unseen by the fit.
std::string new_software_section(const std::vector<Residual>& generic, const std::vector<Residual>& own);

// The section on tables that the repository has not: (name, rows) of each, only summarised.
struct NamedRuns {
  std::string name;
  std::vector<PredictedRun> rows;
};
std::string own_tables_section(const std::vector<NamedRuns>& tables);

// The same section of an older page, for a machine that does not have those tables.
std::string own_tables_section(const std::string& page);

}  // namespace podsim::testing
