// Sizes that follow from a job.
#include "workload/job/job.h"

#include <cmath>

namespace podsim {

double Job::evaluation_passes() const {
  return std::ceil(evaluation.sequences / global_batch) * global_batch / evaluation.every_sequences;
}

}  // namespace podsim
