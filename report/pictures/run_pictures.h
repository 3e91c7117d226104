// The pictures of a predicted step.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/answer/report.h"
#include "report/pictures/picture.h"
#include "report/pictures/step_detail.h"

namespace podsim {

// A bar of a picture that compares reports.
struct NamedReport {
  std::string name;
  const Report* report;
  std::string key;  // of the report in JSON, before those of its figures: "jobs[0].together."
};

// All buckets of each report as one bar; they add up to its step time.
Picture breakdown_picture(std::span<const NamedReport> reports);

// What fills the memory of each stage.
Picture memory_picture(const Report& report);

// The same of the fullest stage along the step: activations come and go with its passes.
Picture memory_over_step_picture(const Report& report, const StepDetail& detail);

// Stages along time. Of long steps the begin, one period and the end.
Picture schedule_picture(const StepDetail& detail);

// How much of the capacity of links of each kind is used over the step: the mean and the busiest.
Picture links_picture(const Report& report);

// Data ranks and stages: how much longer the step is for what this worker alone does more slowly. Of more
// than can be told apart neighbours share a cell, which shows the slowest.
Picture heat_picture(const WhatIf& what_if);

// Several steps, of one draw or more: one bar each, or of many how many are no longer.
Picture steps_picture(const Report& report, const StepDetail& detail);

// Where the step would be if the prediction erred as it did of each measured run that is like it.
Picture certainty_picture(const Report& report, const StepDetail& detail);

// Operations by the work they do for a byte of memory, and how fast they do it.
Picture roofline_picture(const StepDetail& detail);

// Time of collectives on their streams, in all and exposed.
Picture collectives_picture(const Report& report, const StepDetail& detail);

// "ffn up, backward of layer": its row in the table of operations.
std::string operation_name(const OperationUse& use);

// The role of communication over mesh axes: by the first name among "tensor+data" that is known.
std::string role_of_axes(const std::string& axes);

// "breakdown", "schedule", ...: what `run --svg` draws.
const std::vector<std::string>& run_picture_names();

// Nothing where the report has nothing to show there; `detail` may be missing. REQUIRES: the name is known.
std::optional<Picture> run_picture(const std::string& name, const Report& report, const StepDetail* detail);

}  // namespace podsim
