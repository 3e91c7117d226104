// Measured steps of a user's own, by which stacks are moved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/read_file.h"
#include "scheduler/question/spec.h"

namespace podsim {

// A measured step is from a nanosecond to eleven days.
inline constexpr double kShortestAnchorStep_s = 1e-9, kLongestAnchorStep_s = 1e6;

struct AnchorRun {
  std::string id;
  Spec spec;  // one job
  double measured_s = 0;
  std::optional<double> noise;  // of the logarithm, where the table says it
  std::string text;             // what was run and measured
};

struct AnchorRuns {
  std::vector<AnchorRun> runs;
  std::vector<Problem> problems;
};

// Both as `text` of an AnchorRun says them of a row of a table of runs.
std::string run_and_step(const std::string& scenario_text, double measured_s);

// A table of runs, with the columns that `podsim validate` takes; or one whose rows are the scenario as its
// file has it, with a column step_time_s or step_time_ms, and of what differs from it columns named as --set
// names fields: job.mesh.data.size. Both may have a column noise_pct. A row that cannot be simulated, has no
// measured time or an implausible one, or has several jobs is a problem at its place.
AnchorRuns read_anchor_runs(const std::string& file, const std::string& text, const Catalog& catalog,
                            const std::optional<InputText>& scenario);

// The scenario itself took so long.
AnchorRuns anchor_on_scenario(const InputText& scenario, double step_time_s, const Catalog& catalog);

}  // namespace podsim
