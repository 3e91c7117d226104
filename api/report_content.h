// What a report of the library holds.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "api/podsim/podsim.h"
#include "prediction/predict.h"
#include "report/figures/figure.h"
#include "report/pictures/step_detail.h"

namespace podsim {

inline namespace v0 {

struct ReportContent {
  ReportContent(Scenario of, Prediction prediction, std::vector<Diagnostic> warnings);

  // As JSON has them, made when they are asked for first. From any thread.
  const Figure& whole() const;

  // What pictures show beyond figures, likewise; nothing of several jobs. Throws as a prediction does.
  const StepDetail* detail() const;

  const Scenario scenario;
  const Prediction prediction;
  const std::vector<Diagnostic> warnings;

 private:
  mutable std::once_flag made_, looked_;
  mutable Figure whole_;
  mutable std::optional<StepDetail> detail_;
};

}  // namespace v0

StepReport report_of(Scenario scenario, Prediction prediction, std::vector<Diagnostic> warnings);

// The scenario, which has been predicted before, once more. Throws as a prediction does.
Prediction predicted_again(const Scenario& scenario, const PredictOptions& options);

}  // namespace podsim
