// Simulates the forward passes of a job by themselves.
#include "prediction/evaluate.h"

#include "engine/unit_factors.h"
#include "prediction/step_length.h"
#include "report/summary/summarize.h"
#include "report/text/text.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/question/spec.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

// Windows and swings are on the clock of the training steps, on which evaluations have no place.
Adversities at_any_time(Adversities adversities) {
  std::erase_if(adversities.degradations, [](const Degradation& slow) {
    return !slow.season.windows.empty() || slow.season.swing_amplitude > 0;
  });
  return adversities;
}

}  // namespace

EvaluationPasses::EvaluationPasses(const LaidJob& job, const Fabric& fabric, const Adversities& adversities,
                                   bool fold)
    : passes_(job.spec.job.evaluation_passes()),
      alike_(!job.spec.job.lengths.any() && !at_any_time(adversities).changing()) {
  if (passes_ == 0) return;
  const LaidJob forward{job.spec, evaluation_of(job.program), job.placement};
  system_ = assemble(fabric, {&forward, 1}, at_any_time(adversities), fold);
}

Time EvaluationPasses::per_step(const SimulateOptions& draw) const {
  if (!system_) return {};
  SimulateOptions options = draw;
  if (!options.random() && alike_) options.steps = 1;
  options.keep_intervals = false;
  refuse_endless(*system_, {&options, 1});
  const double seconds = passes_ * mean_step_time(simulate(*system_, options).front()).in_seconds();
  if (seconds <= kLongestStep_s) return Time::seconds(seconds);
  throw StepTooLong("evaluations take " + significant(seconds / kSecondsPerDay, 3) +
                    " days for each step, and " + longest_step_words() +
                    ": evaluate on fewer sequences, or after more steps");
}

}  // namespace podsim
