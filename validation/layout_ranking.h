// How well predictions rank the layouts of a job: measured runs that differ in nothing else.
#pragma once

#include <string>
#include <vector>

#include "validation/validate_runs.h"

namespace podsim {

// Three or more runs of one family with the same chips, network, stack, model, precision and tokens, whose
// layouts differ: mesh, microbatch, what is sharded, what is recomputed.
struct LayoutRanking {
  std::string family, model, chip;
  int chips = 0;
  int rows = 0;
  // Kendall's tau-b of predicted and measured times: 1 = the same order, -1 = the reverse, 0 = no relation,
  // also where all times of one kind are equal.
  double tau = 0;
  // By how much the run predicted fastest is slower than the fastest of all, as measured: a share. Runs that
  // by prediction do not fit in memory are no choice where others do; of runs predicted equally fast, the
  // mean counts.
  double regret = 0;
};

// In the order of the first run of each. Runs without a measured or a predicted time are left out.
std::vector<LayoutRanking> layout_rankings(const std::vector<PredictedRun>& runs);

struct RankingSummary {
  int groups = 0;
  double tau = 0, regret = 0;  // means over the groups
};
RankingSummary summarize(const std::vector<LayoutRanking>& rankings);

}  // namespace podsim
