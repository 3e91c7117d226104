// The halos of an operation with windows: what each device needs of its neighbours' shards before it
// computes.
#include "workload/op_planning/operation_halos.h"

#include <utility>

namespace podsim {

std::function<std::optional<std::vector<PlanStep>>(std::size_t operand, const std::vector<AxisList>& factors,
                                                   const Layout& layout)>
halo_exchanges(const OpRule& rule, std::vector<TensorShape> shapes) {
  if (rule.windows.empty()) return {};
  return [rule, shapes = std::move(shapes)](std::size_t operand, const std::vector<AxisList>& factors,
                                            const Layout& layout) -> std::optional<std::vector<PlanStep>> {
    HaloSteps halos(shapes[operand], layout);
    for (const Window& window : rule.windows) {
      if (window.operand != static_cast<int>(operand)) continue;
      const auto factor = static_cast<std::size_t>(window.factor);
      if (factors[factor].empty()) continue;
      if (!halos.add(window, rule.factors[factor].size, window.dim, factors[factor])) return std::nullopt;
    }
    return halos.steps();
  };
}

}  // namespace podsim
