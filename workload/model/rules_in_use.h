// Which rules of a job say something about its model.
#pragma once

#include <set>
#include <string>

#include "workload/model/model_program.h"

namespace podsim {

struct Job;

// Dimensions whose rules decide where something of the model lies, or how keys come to queries: their own or,
// as a more general name, another's that has no rule. Others of the job's rules have no effect. REQUIRES:
// explain_invalid(job) is empty, and no measured layers.
std::set<std::string> dimensions_with_rules_in_use(const Job& job, const ModelProgram& model);

}  // namespace podsim
