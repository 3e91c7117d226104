// Gathers runs of one job and compares their order.
#include "validation/layout_ranking.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace podsim {
namespace {

constexpr std::size_t kFewestRuns = 3;

using Runs = std::vector<const PredictedRun*>;

double predicted_s(const PredictedRun& run) { return run.report.step_time.in_seconds(); }
double measured_s(const PredictedRun& run) { return *run.run.measured_s; }

bool of_one_job(const PredictedRun& a, const PredictedRun& b) {
  const auto job = [](const PredictedRun& run) {
    const RunScenario& of = run.run;
    return std::tie(of.family, of.chip, of.chips, of.slices, of.fabric, of.stack, of.fields, of.model,
                    of.precision, of.sequence_tokens, of.tokens_per_step);
  };
  return job(a) == job(b);
}

int sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

double kendall_tau(const Runs& runs) {
  int agreeing = 0, predicted = 0, measured = 0;  // pairs: in agreement less not, and not equal
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int p = sign(predicted_s(*runs[i]) - predicted_s(*runs[j])),
                m = sign(measured_s(*runs[i]) - measured_s(*runs[j]));
      agreeing += p * m;
      predicted += p * p;
      measured += m * m;
    }
  }
  return predicted == 0 || measured == 0 ? 0 : agreeing / std::sqrt(double(predicted) * measured);
}

double regret(const Runs& runs) {
  const bool any_fits = std::ranges::any_of(runs, [](const auto* run) { return !run->misfits(); });
  double fastest = 0, best = 0, chosen = 0;
  int equal = 0;
  for (const PredictedRun* run : runs) {
    if (best == 0 || measured_s(*run) < best) best = measured_s(*run);
    if (any_fits && run->misfits()) continue;
    if (equal == 0 || predicted_s(*run) < fastest) fastest = predicted_s(*run), chosen = 0, equal = 0;
    if (predicted_s(*run) == fastest) chosen += measured_s(*run), ++equal;
  }
  return chosen / equal / best - 1;
}

}  // namespace

std::vector<LayoutRanking> layout_rankings(const std::vector<PredictedRun>& runs) {
  std::vector<Runs> groups;
  for (const PredictedRun& run : runs) {
    if (!run.error()) continue;
    auto at = std::ranges::find_if(groups, [&](const Runs& of) { return of_one_job(*of.front(), run); });
    if (at == groups.end()) at = groups.insert(groups.end(), Runs{});
    at->push_back(&run);
  }
  std::vector<LayoutRanking> rankings;
  for (const Runs& of : groups) {
    if (of.size() < kFewestRuns) continue;
    const RunScenario& first = of.front()->run;
    rankings.push_back({first.family, first.model, first.chip, first.chips, static_cast<int>(of.size()),
                        kendall_tau(of), regret(of)});
  }
  return rankings;
}

RankingSummary summarize(const std::vector<LayoutRanking>& rankings) {
  RankingSummary summary;
  summary.groups = static_cast<int>(rankings.size());
  for (const LayoutRanking& ranking : rankings) {
    summary.tau += ranking.tau / summary.groups;
    summary.regret += ranking.regret / summary.groups;
  }
  return summary;
}

}  // namespace podsim
