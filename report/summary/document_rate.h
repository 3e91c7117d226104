// How fast a run goes through its documents.
#pragma once

#include "economics/steady_run.h"
#include "report/answer/report.h"

namespace podsim {

// Of documents, of which a run is told so many tokens: padding is none of them, and the mean is over all
// shapes.
inline double document_tokens_per_s(const Report& report) {
  return report.shapes ? report.shapes->tokens_per_s : report.tokens_per_s;
}

// The step of a whole run to a number of tokens of documents.
inline SteadyStep steady_step(const Report& report) {
  const double rate = document_tokens_per_s(report);
  return {static_cast<double>(report.chips), rate, report.energy_j_per_token * (report.tokens_per_s / rate)};
}

}  // namespace podsim
