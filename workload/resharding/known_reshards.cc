// Looks plans of reshards up by mesh, shape and layouts.
#include "workload/resharding/known_reshards.h"

namespace podsim {

std::shared_ptr<const PlannedReshard> planned_reshard(const Mesh& mesh, const TensorShape& shape,
                                                      const Layout& from, const Layout& to,
                                                      const CostModel& cost, AxisSplit split,
                                                      double give_up_at) {
  auto made = std::make_shared<PlannedReshard>();
  made->steps = plan_reshard(mesh, shape, from, to, cost, split, give_up_at);
  made->cost = total_cost(made->steps, cost);
  return made;
}

std::shared_ptr<const PlannedReshard> KnownReshards::reshard(const Mesh& mesh, const TensorShape& shape,
                                                             const Layout& from, const Layout& to,
                                                             const CostModel& cost, AxisSplit split,
                                                             double give_up_at) {
  constexpr std::size_t kMost = 16'384;
  key_.clear();
  for (const MeshAxis& axis : mesh.axes) key_.put(axis.size);
  key_.put(shape.dims);
  key_.put(shape.element_bytes);
  key_.put(from);
  key_.put(to);
  key_.put(split);
  key_.put(give_up_at);
  const auto known = known_.find(key_.words());
  if (known != known_.end()) return known->second;
  auto made = planned_reshard(mesh, shape, from, to, cost, split, give_up_at);
  if (known_.size() == kMost) known_.clear();
  known_.emplace(key_.words(), made);
  return made;
}

}  // namespace podsim
