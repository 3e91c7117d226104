// Lists what a replay of simulated steps tells. JSON has objects by name, text format repeated messages.
#include "report/figures/what_if_figures.h"

namespace podsim {
namespace {

std::vector<Figure> by_type(const WhatIf& result) {
  std::vector<Figure> means, entries;
  for (const TypeSlowdown& type : result.by_type) {
    means.emplace_back(type.type, type.slowdown.mean);
    entries.push_back(Figure::group(
        "", {Figure("optype", type.type).field(1), Figure("slowdown", type.slowdown.mean).field(2)}));
  }
  return {Figure::by_name("S_by_optype", std::move(means)),
          Figure::list("by_optype", std::move(entries)).field(7).message("TypeSlowdownEntry").not_in_json()};
}

std::vector<Figure> by_data_rank(const WhatIf& result) {
  std::vector<Figure> means, alike, entries;
  for (int row = 0; row < result.data_ranks(); ++row) {
    const int number = result.rank_number(row);
    means.emplace_back(std::to_string(number), result.by_data_rank[row].mean);
    alike.emplace_back(std::to_string(number), result.ranks_alike[row]);
    entries.push_back(Figure::group(
        "", {Figure("data_rank", number).field(1), Figure("alike", result.ranks_alike[row]).field(2),
             Figure("slowdown", result.by_data_rank[row].mean).field(3)}));
  }
  return {Figure::by_name("S_by_dp_rank", std::move(means)),
          Figure::by_name("dp_ranks_alike", std::move(alike)),
          Figure::list("by_data_rank", std::move(entries)).field(8).message("DataRankEntry").not_in_json()};
}

std::vector<Figure> stage_figures(const WhatIf& result) {
  std::vector<Figure> means, entries;
  for (int stage = 0; stage < result.stages(); ++stage) {
    means.emplace_back(std::to_string(stage), result.by_stage[stage].mean);
    entries.emplace_back("", result.by_stage[stage].mean);
  }
  return {Figure::by_name("S_by_stage", std::move(means)),
          Figure::list("by_stage", std::move(entries)).field(9).not_in_json()};
}

}  // namespace

Figure culprit_figures(const WhatIf& result) {
  std::vector<Figure> entries;
  for (const Culprit& culprit : result.culprits) {
    entries.push_back(Figure::group("", {Figure("data_rank", culprit.worker.data_rank).field(1),
                                         Figure("stage", culprit.worker.stage).field(2),
                                         Figure("rank", culprit.worker.global_rank).field(3),
                                         Figure("alike", culprit.worker.alike).field(4),
                                         Figure("S", culprit.slowdown).field("slowdown", 5)}));
  }
  return Figure::list("culprits", std::move(entries)).field(10).message("CulpritEntry");
}

std::vector<Figure> what_if_summary(const WhatIf& result) {
  return {Figure("S", result.S.mean).field("slowdown", 1),
          Figure("waste", result.waste).field(2),
          Figure("M_W", known(result.few_workers.gained)).field("few_workers_gain", 3),
          Figure("M_S", known(result.last_stage.gained)).field("last_stage_gain", 4),
          Figure("T_s", result.T_s).field("step_s", 5),
          Figure("T_ideal_s", result.T_ideal_s).field("ideal_step_s", 6)};
}

Figure what_if_figures(const WhatIf& result) {
  std::vector<Figure> parts = what_if_summary(result);
  parts.push_back(Figure("likely_cause", result.likely_cause).field(11));
  append(parts, by_type(result));
  append(parts, by_data_rank(result));
  append(parts, stage_figures(result));
  parts.push_back(culprit_figures(result));
  return Figure::group("what_if", std::move(parts));
}

}  // namespace podsim
