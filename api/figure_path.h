// Single figures by name, such as "fault_costs[0].cost_s".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/figures/figure.h"

namespace podsim {

// Null where there is none. Keys may have any characters: of those that the name goes on with the longest is
// meant.
const Figure* figure_named(const Figure& whole, const std::string& name);

// Every single figure that JSON has, in its order.
void visit_named_figures(const Figure& whole,
                         const std::function<void(const std::string& name, const Figure&)>& visit);

}  // namespace podsim
