// What a training run comes to on one cluster with one layout, under one contract.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/plan/outcomes.h"
#include "planner/store/main_figures.h"
#include "proto/catalog/catalog.h"
#include "proto/text/override.h"
#include "scheduler/question/spec.h"

namespace podsim {

struct ClusterRunQuestion {
  std::string file, scenario;       // its name and its text, with the layout and the contract
  std::vector<Override> overrides;  // numbers of it that are to be others
  double tokens = 0;                // to be trained
  bool weeks = false;               // over the failures of the block reliability, which is there
  int threads = 1;
};

// Days, dollars and energy of training alone, with the step as it is predicted: nothing of what comes before
// it. Over failures they are medians.
struct ClusterRun {
  RunInputs inputs;                  // with the days and the energy
  double usd = 0;                    // with egress
  std::optional<double> carbon_t;    // tonnes of CO2e, where the scenario names a grid
  double run_low = 1, run_high = 1;  // p10 and p90 of days over their median, by failures
};

// `spec` is the scenario with the overrides, `step` its step. Nothing, and why, where the block reliability
// does not say enough, or a run does not end.
std::optional<ClusterRun> run_on_cluster(const ClusterRunQuestion& question, const Spec& spec,
                                         const MainFigures& step, const Catalog& catalog, std::string& why);

}  // namespace podsim
