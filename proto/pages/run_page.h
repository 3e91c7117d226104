// The page of a predicted step, and of jobs that share a cluster.
#pragma once

#include <map>
#include <span>
#include <string>

#include "proto/pages/page.h"
#include "report/answer/report.h"
#include "report/figures/figure.h"
#include "report/pictures/step_detail.h"

namespace podsim {

// `detail` may be missing: the panels of passes, operations and collectives are then left out.
Page run_page(const Report& report, const StepDetail* detail);

Page jobs_page(const JobsReport& report);

// Workers that alone slow the job down most, which the heat map leads to.
PageTable worker_table(const WhatIf& what_if);

// What figures are, by their keys.
std::map<std::string, FigureMeaning> meanings_of(std::span<const Figure> figures);

}  // namespace podsim
