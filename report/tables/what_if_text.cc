// Lays out what-if figures as tables.
#include "report/tables/what_if_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/text/align.h"
#include "report/text/text.h"
#include "scheduler/replay/likely_cause.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::string_view kShades = " .:-=+*#%@";  // from light to dark
constexpr int kMostHeatLines = 32;
constexpr int kMostNumberedStages = 10;  // beyond them the map has marks only
constexpr std::size_t kMostTold = 8;     // of culprits and of waits

std::string factor(double slowdown) { return fixed(slowdown, 3); }
std::string in_seconds(double value) { return significant(value, 6) + " s"; }
std::string share_or_dash(const std::optional<double>& value) { return value ? fixed(*value, 3) : "-"; }

std::string what_if_table(const WhatIf& result) {
  std::int64_t few = 0, workers = 0;
  for (const Worker& worker : result.few) few += worker.alike;
  for (const Worker& worker : result.workers) workers += worker.alike;
  Rows rows = {{"step, mean", in_seconds(result.T_s)},
               {"step without stragglers", in_seconds(result.T_ideal_s)},
               {"slowdown S", factor(result.S.mean)},
               {"worst step", factor(std::ranges::max(result.S.per_step))},
               {"waste of chip time", percent(result.waste)},
               {"M_W: gained by " + std::to_string(few) + " of " + std::to_string(workers) + " workers",
                share_or_dash(result.few_workers.gained)},
               {"M_S: gained by the last stage", share_or_dash(result.last_stage.gained)},
               {"forward-backward correlation", share_or_dash(result.length_correlation)}};
  if (result.recorded_mean_s > 0) rows.push_back({"recorded over replayed step", factor(result.launch.mean)});
  return align(rows);
}

std::string types(const WhatIf& result) {
  Rows rows = {{"only this type as it was", "S", "of the loss"}};
  const double lost = result.S.mean - 1;
  for (const TypeSlowdown& type : result.by_type)
    rows.push_back({type.type, factor(type.slowdown.mean),
                    lost >= kLeastLoss ? percent((type.slowdown.mean - 1) / lost) : "-"});
  return align(rows);
}

std::string culprit_table(const WhatIf& result) {
  if (result.culprits.empty()) return "";
  Rows rows = {{"slow worker", "global rank", "S"}};
  for (const Culprit& culprit : result.culprits) {
    if (rows.size() > kMostTold) break;
    rows.push_back(
        {name_of(culprit.worker), std::to_string(culprit.worker.global_rank), factor(culprit.slowdown)});
  }
  return "\n" + align(rows);
}

std::string wait_table(const WhatIf& result) {
  if (result.waits.empty()) return "";
  Rows rows = {{"who waited", "for", "ms per step"}};
  for (const WaitedFor& wait : result.waits) {
    if (rows.size() > kMostTold) break;
    rows.push_back({name_of(wait.waiter), name_of(wait.last), fixed(wait.per_step_s * 1e3, 3)});
  }
  return "\n" + align(rows);
}

// Slowdowns from 1 to the greatest as marks.
char shade(double slowdown, double greatest) {
  if (greatest - 1 < kLeastLoss || slowdown <= 1) return kShades.front();
  const double darkness = (slowdown - 1) / (greatest - 1) * static_cast<double>(kShades.size() - 1);
  return kShades[static_cast<std::size_t>(std::min(darkness + 0.5, kShades.size() - 1.0))];
}

}  // namespace

std::string name_of(const Worker& worker) {
  const std::string rank = std::to_string(worker.data_rank), stage = std::to_string(worker.stage);
  if (worker.alike == 1) return "data rank " + rank + " stage " + stage;
  return std::to_string(worker.alike) + " data ranks like " + rank + " stage " + stage;
}

std::string heat_map(const WhatIf& result) {
  const int ranks = result.data_ranks(), stages = result.stages();
  const int per_line = (ranks + kMostHeatLines - 1) / kMostHeatLines;
  const double greatest = std::ranges::max(result.by_worker);
  Rows rows = {{"data rank"}};
  if (stages <= kMostNumberedStages) {
    for (int stage = 0; stage < stages; ++stage) rows[0].push_back("stage " + std::to_string(stage));
  } else {
    rows[0].push_back("stages 0.." + std::to_string(stages - 1));
  }
  for (int first = 0; first < ranks; first += per_line) {
    const int last = std::min(first + per_line, ranks) - 1;
    rows.push_back({std::to_string(result.rank_number(first))});
    if (last > first) rows.back()[0] += ".." + std::to_string(result.rank_number(last));
    if (last == first && result.ranks_alike[first] > 1)
      rows.back()[0] += " and " + std::to_string(result.ranks_alike[first] - 1) + " alike";
    std::string marks;
    for (int stage = 0; stage < stages; ++stage) {
      double slowest = 0;
      for (int rank = first; rank <= last; ++rank)
        slowest = std::max(slowest, result.by_worker[rank * stages + stage]);
      const char mark = shade(slowest, greatest);
      if (stages <= kMostNumberedStages) rows.back().push_back(factor(slowest) + " " + mark);
      marks += mark;
    }
    if (stages > kMostNumberedStages) rows.back().push_back("|" + marks + "|");
  }
  return align(rows);
}

std::string what_if_tables(const WhatIf& result) {
  return what_if_table(result) + "\n" + types(result) + "\nslowdown of each worker, \"" + kShades.front() +
         "\" 1 to \"" + kShades.back() + "\" " + factor(std::ranges::max(result.by_worker)) + "\n" +
         heat_map(result) + culprit_table(result) + wait_table(result);
}

std::string what_if_text(const WhatIf& result) {
  return what_if_tables(result) + "\nlikely cause: " + result.likely_cause +
         (result.S.mean >= kStraggling ? " (the job straggles: S is at least " + shortest(kStraggling) + ")"
                                       : "") +
         "\n";
}

}  // namespace podsim
