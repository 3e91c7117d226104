// Plans as podsim writes them, read back without any of its code: what an independent program would see.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workload/resharding/reshard_plan.h"

namespace podsim::testing {

struct ReadStep {
  std::string tensor;
  PlanStep step;
  std::vector<std::string> axes;  // as written
};

struct ReadPlan {
  std::string error;
  std::vector<ReadStep> steps;
  std::vector<std::string> propagated;
  double flops = 0;
  double sent = 0;
};

// By id. Throws where the text is not as docs/reference/sharding-cases.md says.
std::map<std::string, ReadPlan> read_plans(const std::string& text,
                                           const std::map<std::string, Mesh>& meshes);

// Out of case files, which write shardings alike.
AxisList read_axes(const Mesh& mesh, const std::vector<std::string>& list);
Layout read_layout(const Mesh& mesh, const std::vector<std::vector<std::string>>& sharding,
                   const std::vector<std::string>& unreduced);

}  // namespace podsim::testing
