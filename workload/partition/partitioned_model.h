// The pieces of a job's model as one device has them, before they are dealt out to the stages of a pipeline.
#pragma once

#include <vector>

#include "workload/job/job.h"
#include "workload/partition/partition_part.h"

namespace podsim {

// What a step program is made of that does not depend on the batch or, but for where only some layers
// recompute, on the schedule and the chunks of a stage.
struct PartitionedModel {
  ModelProgram model;
  std::vector<PartitionedPart> parts;  // of model.parts; none where layers are measured
  double parameters = 0;               // of the whole model
  FlopsPerToken flops_per_token;       // as in StepProgram
};

// The model and its parts, without what counts FLOPs. REQUIRES: explain_invalid(job) is empty.
PartitionedModel partitioned_parts(const Job& job, const CostModel& cost, PartitionTrace* trace = nullptr);

// REQUIRES: explain_invalid(job) is empty.
PartitionedModel partition_model(const Job& job, const CostModel& cost, PartitionTrace* trace = nullptr);

// The job with every field that partition_model does not look at as in a job of no words: jobs that are equal
// by it have the same partitioned model.
Job job_of_pieces(const Job& job);

// The step of the job whose pieces these are.
StepProgram step_program(const Job& job, const PartitionedModel& pieces);

}  // namespace podsim
