// Runs of weeks of a cluster that a plan looks at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/override.h"
#include "report/answer/reliability.h"
#include "scheduler/question/spec.h"

namespace podsim {

// Which runs are wanted. Their step is the predicted one: what it may be off by is drawn beside them, for all
// choices alike.
struct WeeksWish {
  std::string file, scenario;  // its name and its text, with a block reliability
  double tokens = 0;           // to be trained
  double failures = 1;         // over those of the scenario
  std::vector<Override> overrides = {};
};

// The scenario, which is this spec, as podsim reliability has to have it to give the days of runs_of_weeks,
// and podsim run the same step.
std::string scenario_of_weeks(const std::string& scenario, const Spec& spec, double tokens);

// Nothing where the block does not say enough, or a run does not end.
std::optional<ReliabilityReport> runs_of_weeks(const WeeksWish& wish, const Catalog& catalog, int threads,
                                               std::string& why);

}  // namespace podsim
