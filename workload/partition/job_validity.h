// Everything that can be wrong with a job's arithmetic, said with the numbers.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct Job;

// Everything wrong with the job's arithmetic, in words with the numbers, each with the field at fault
// ("job.microbatch", "heads 64 are not divisible by tensor axis of 7"). Empty = `partition` is total.
struct JobProblem {
  std::string field;  // path in the scenario, such as "job.mesh"
  std::string message;
};
std::vector<JobProblem> explain_invalid(const Job& job);

}  // namespace podsim
