// Runs of weeks of several scenarios, and their answers as one JSON text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/sweep.h"
#include "report/answer/reliability.h"
#include "scheduler/reliability/weeks/reliability_question.h"

namespace podsim {

// In the order of the questions; progress goes to standard error unless quiet. Questions whose step cannot be
// simulated are told and taken away; nothing where none is left.
std::optional<std::vector<ReliabilityReport>> predict_all_weeks(Swept<ReliabilityQuestion>& swept,
                                                                const RunOptions& run);

// An object of one report, a list of several.
std::string all_weeks_json(const std::vector<ReliabilityReport>& reports, const Settings& settings);

// The exit code of these answers. Tells jobs that do not fit in memory and, of those that aim at a number of
// tokens, runs that did not reach it: where no run of any scenario did, nothing answers the question.
int judge_weeks(const std::vector<ReliabilityReport>& reports);

}  // namespace podsim
