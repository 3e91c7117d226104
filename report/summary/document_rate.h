// How fast a run goes through its documents.
#pragma once

#include "report/answer/report.h"

namespace podsim {

// Of documents, of which a run is told so many tokens: padding is none of them, and the mean is over all
// shapes.
inline double document_tokens_per_s(const Report& report) {
  return report.shapes ? report.shapes->tokens_per_s : report.tokens_per_s;
}

}  // namespace podsim
