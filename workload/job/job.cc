// Sizes that follow from a job.
#include "workload/job/job.h"

#include <cmath>

namespace podsim {

double Job::evaluation_passes() const {
  const double batch = global_batch;
  const double between =
      evaluation.every_steps > 0 ? evaluation.every_steps * batch : evaluation.every_sequences;
  return std::ceil(evaluation.sequences / batch) * batch / between;
}

}  // namespace podsim
