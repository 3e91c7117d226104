// Memory first; then the line from what is known on.
#include "prediction/evaluator.h"

#include <algorithm>

#include "engine/check_scope.h"
#include "prediction/seed_runs.h"
#include "report/text/text.h"
#include "workload/job/job.h"

namespace podsim {

std::string Appraisal::refusal() const {
  if (fits()) return "";
  return "stage " + std::to_string(stage) + " needs " + gib(needed) + " of " + gib(capacity);
}

Appraisal Evaluator::evaluate(const Spec& spec) {
  const CheckScope scope({.scenario = &spec.name, .seed = &spec.seed, .now_ps = nullptr});
  const LaidJob& job = layouts_.lay_healthy(spec);
  const std::vector<MemoryUse>& stages = job.program.memory;
  const auto fullest = std::ranges::max_element(stages, {}, &MemoryUse::total);
  Appraisal result{
      fullest->total(), spec.cluster.chip.hbm_capacity, static_cast<int>(fullest - stages.begin()), {}};
  if (!result.fits()) return result;
  if (!spec.adversities.none()) {
    PredictOptions options;
    options.memory_advice = false;
    result.step_time = predict(spec, options).report.step_time;
    return result;
  }
  result.step_time = layouts_.healthy_step_time(draws_of(spec, {}, 1).front());
  return result;
}

Prediction Evaluator::predict(const Spec& spec, const PredictOptions& options) {
  return predict_step(spec, options, layouts_);
}

}  // namespace podsim
