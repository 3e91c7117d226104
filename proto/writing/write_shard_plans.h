// Plans of sharding cases as JSON that an independent program can replay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/cases/case_plan.h"
#include "workload/cases/shard_case.h"

namespace podsim {

struct PlannedCase {
  ShardCase question;
  CasePlan plan;
  std::optional<double> seconds = {};  // predicted on a fabric, where the case was planned on one
};

// {podsim, schema, scenario_sha256, "cases": [{id, steps, propagated, flops_per_device, send_bytes,
// time_s}]}; docs/reference/sharding-cases.md says what a step has. A case without a plan has "error". One
// line per case and step; byte for byte the same on every run.
std::string write_shard_plans(const std::vector<PlannedCase>& cases, const std::string& scenario_sha256);

// "slice", "collective_permute", "all_to_all", ...: as the file names it.
std::string step_name(StepKind kind);

}  // namespace podsim
