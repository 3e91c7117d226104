// The straight line in one call: Spec -> Fabric, StepProgram, Placement, plans, System, Timeline -> Report.
#pragma once

#include <functional>
#include <string>

#include "report/report.h"
#include "scheduler/spec.h"

namespace podsim {

struct PredictOptions {
  bool fold = true;
  std::string dump;  // "", "fabric", "program", "placement", "plan", "system", "timeline"
};

struct Prediction {
  Report report;
  std::string dump;  // text of the stage asked for
};

// REQUIRES: the spec is valid (proto::load_scenario found no problem). Deterministic: same spec, same result.
Prediction predict_step(const Spec& spec, const PredictOptions& options);

// Weak scaling keeps the batch per chip, strong scaling the global batch. The data-parallel axis grows with
// the chip count. Why a spec cannot be run at this many chips, or empty and `spec` is changed.
std::string rescale(Spec& spec, int chips, bool strong);

}  // namespace podsim
