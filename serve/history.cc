// Keeps reports by the key of their scenario.
#include "serve/history.h"

#include "proto/writing/write.h"

namespace podsim {

void History::keep(const Spec& spec, const std::string& text, const Prediction& prediction) {
  if (prediction.jobs) return;
  constexpr std::int64_t kCpuNotKnown = 0;
  const std::string& name = spec.question.empty() ? spec.name : spec.question;
  store_.keep({spec.sha256, text, name}, main_figures(prediction.report), report_json(prediction.report),
              kCpuNotKnown);
}

}  // namespace podsim
