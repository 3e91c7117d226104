// One of everything that may be absent.
#include "report/figures/every_figure.h"

namespace podsim {

Report every_figure() {
  Report report;
  report.scenario_sha256 = "number";
  report.band.emplace();
  AnchorReport& anchor = report.anchor.emplace();
  anchor.band_before.emplace();
  anchor.numbers.emplace_back();
  EnsembleReport& ensemble = report.ensemble.emplace();
  ensemble.p50.emplace();
  ensemble.p99.emplace();
  report.carbon.emplace();
  report.shapes.emplace().by_shape.emplace_back();
  report.exposed.emplace_back();
  report.memory.stages.emplace_back();
  report.memory.advice.emplace_back();
  report.link_use.push_back({"KIND", 0, 0});
  report.fault_costs.emplace_back();
  report.slow_entries.emplace_back().flap.emplace();
  report.slow_parties.emplace_back();
  report.verdict.emplace();
  WhatIf& what_if = report.what_if.emplace();
  what_if.few_workers.gained = what_if.last_stage.gained = 0;
  what_if.by_type.emplace_back().type = "TYPE";
  what_if.by_data_rank.emplace_back();
  what_if.by_stage.emplace_back();
  what_if.ranks_alike.emplace_back();
  what_if.workers.emplace_back();
  what_if.culprits.emplace_back();
  report.algorithms.emplace_back();
  return report;
}

JobsReport every_figure_of_jobs() {
  JobsReport report;
  report.scenario_sha256 = "number";
  report.jobs.push_back({"", 0, every_figure(), every_figure()});
  return report;
}

}  // namespace podsim
