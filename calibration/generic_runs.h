// Measured runs predicted as if nothing were known of their software: with the generic stack of their kind,
// and again when one step of their family has been measured.
#pragma once

#include <string>
#include <vector>

#include "calibration/anchor_priors.h"
#include "proto/catalog/catalog.h"
#include "proto/text/read_file.h"
#include "validation/run_scenario.h"

namespace podsim {

struct GenericRun {
  RunScenario run;  // with the generic stack
  int line = 0;     // of the table of residuals
  std::string text;
};

struct GenericRuns {
  std::vector<GenericRun> runs;
  std::vector<Problem> problems;
};

// The lines of a table of residuals (scenarios/calibration/new_stacks.csv) that are of these tables of runs,
// each run with the stack of its line. A run that its table lacks is a problem. `stated`: with what its
// source says of the software beyond its kind, which attention kernel it has and which collectives it
// overlaps.
GenericRuns read_generic_runs(const InputText& residuals, const std::vector<InputText>& tables,
                              const Catalog& catalog, bool stated = false);

// The table of residuals with the errors that the runs have now; other lines stay. A run that cannot be
// simulated keeps its line.
std::string residuals_of(const InputText& residuals, const GenericRuns& runs, const Catalog& catalog,
                         int threads);

// Errors of runs by kind of chip, model and what is told of their software: rows of a table in Markdown. Both
// hold the same runs in the same order.
std::string stated_text(const GenericRuns& untold, const GenericRuns& stated, const Catalog& catalog,
                        int threads);

// What spreads of priors are made from: a line of CSV for each measured run on at most so many chips, with
// the logarithm of predicted over measured time and, for each parameter, its change per spread.
std::string slopes_text(const GenericRuns& runs, const Catalog& catalog, const AnchorPriors& priors,
                        int most_chips, int threads);

// Runs of one family, but the one that was its anchor; with several anchors, one at a time, all those runs.
struct AnchoredFamily {
  std::string family, stack, anchors;
  int rows = 0, inside = 0;      // of the band after it
  double before = 0, after = 0;  // mean absolute errors
};

// Families of three runs or more on at most so many chips, each anchored on so many of its runs in turn,
// evenly spread over step times: one is that of the median.
std::vector<AnchoredFamily> anchored_families(const GenericRuns& runs, const Catalog& catalog,
                                              const AnchorPriors& priors, int most_chips, int anchors,
                                              int threads);

// Rows of a table in Markdown, and the means over families.
std::string anchored_text(const std::vector<AnchoredFamily>& families);

}  // namespace podsim
