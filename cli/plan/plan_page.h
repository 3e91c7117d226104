// The page of a plan: its clusters in a plane of days and dollars.
#pragma once

#include "planner/plan/plan.h"
#include "proto/pages/page.h"

namespace podsim {

Page plan_page(const PlanQuestion& question, const PlanAnswer& answer);

}  // namespace podsim
