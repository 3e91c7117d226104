// The names that load_plan.h declares: of objectives and precisions, as the schema has them.
#include "proto/catalog.pb.h"
#include "proto/plan.pb.h"
#include "proto/scenario/load_plan.h"
#include "proto/text/assign.h"

namespace podsim {

std::vector<std::string> objective_names() { return value_names(*schema::Objective::Name_descriptor()); }

bool add_objective(const std::string& name, PlanObjectives& objectives) {
  schema::Objective::Name known = {};
  if (!schema::Objective::Name_Parse(name, &known) || known == schema::Objective::NAME_UNSPECIFIED)
    return false;
  if (known == schema::Objective::regret)
    objectives.add_regret();
  else
    objectives.add(static_cast<PlanObjective>(known - 1));
  return true;
}

std::vector<std::string> precision_names() {
  return value_names(*schema::PrecisionRecipe::Name_descriptor());
}

}  // namespace podsim
