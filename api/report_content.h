// What a report of the library holds.
#pragma once

#include <mutex>
#include <vector>

#include "api/podsim/podsim.h"
#include "prediction/predict.h"
#include "report/figure.h"

namespace podsim {

inline namespace v0 {

struct ReportContent {
  ReportContent(Prediction prediction, std::vector<Diagnostic> warnings);

  // As JSON has them, made when they are asked for first. From any thread.
  const Figure& whole() const;

  const Prediction prediction;
  const std::vector<Diagnostic> warnings;

 private:
  mutable std::once_flag made_;
  mutable Figure whole_;
};

}  // namespace v0

StepReport report_of(Prediction prediction, std::vector<Diagnostic> warnings);

}  // namespace podsim
