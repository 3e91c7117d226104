// How the step of a module is told.
#pragma once

#include <string>
#include <vector>

#include "ingest/hlo/module_step.h"
#include "report/figures/figure.h"

namespace podsim::hlo {

// The keys of docs/guide/import.md.
std::vector<Figure> step_figures(const ModuleStep& step, const Machine& machine);

std::string step_text(const std::string& file, const ModuleStep& step, const Machine& machine);

}  // namespace podsim::hlo
