// Pages of the verbs that put several predictions, layouts or runs beside each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/validate_output.h"
#include "planner/plan/plan.h"
#include "planner/search/course.h"
#include "planner/search/search.h"
#include "proto/pages/page.h"
#include "report/reliability.h"
#include "report/report.h"

namespace podsim {

// Two or more; the JSON is a list of them.
Page compare_page(std::span<const Report> reports);

// What a size leaves of the batch for each stage of its pipeline and for each chip.
struct BatchCut {
  int microbatches = 1, stages = 1;
  double sequences_per_chip = 1;

  bool starves_pipeline() const { return microbatches < stages; }
  bool starves_chips() const { return sequences_per_chip < 1; }
};

// A point of a curve: its report, and throughput per chip over that of the first of its setting.
struct ScalePoint {
  const Report* report;
  double efficiency;
  BatchCut cut;
  std::string setting;  // points of one are joined
};
Page scale_page(std::span<const ScalePoint> points, const std::string& json, const std::string& verdict);

// `course` may be empty: how the search went is then left out.
Page search_page(const Space& space, const SearchAnswer& answer, std::span<const SearchMoment> course);
Page plan_page(const PlanQuestion& question, const PlanAnswer& answer);

// Of reports before and after parts become slow; `text` has the tables.
Page whatif_page(std::span<const Report> reports, const std::string& text);

// `json` is an object of one report, a list of several.
Page reliability_page(std::span<const ReliabilityReport> reports, const std::string& json,
                      const std::string& text);

Page replay_page(const std::string& name, const WhatIf& result, const std::string& json);

// Of tables of training runs.
Page validation_page(const RunValidation& runs);

}  // namespace podsim
