// Contexts of meshes, the last ones remembered: a search that goes by bounds comes back to those of the best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "planner/bounds/mesh_context.h"

namespace podsim {

// Not for several threads at once.
class MeshContexts {
 public:
  explicit MeshContexts(const Fabric& fabric) : fabric_(fabric) {}

  const MeshContext& of(const Spec& spec) {
    constexpr std::size_t kMost = 128, kMostDevices = 4'000'000;  // of all together, but for the one in use
    std::string key = spec.job.pipeline_axis;
    for (const MeshAxis& axis : spec.job.mesh.axes) key += " " + axis.name + std::to_string(axis.size);
    const auto known = std::ranges::find(contexts_, key, &Known::key);
    if (known != contexts_.end()) {
      contexts_.splice(contexts_.begin(), contexts_, known);
      return *contexts_.front().context;
    }
    const auto devices = static_cast<std::size_t>(spec.job.mesh.devices());
    while (!contexts_.empty() &&
           (contexts_.size() == kMost || (contexts_.size() + 1) * devices > kMostDevices))
      contexts_.pop_back();
    contexts_.push_front({std::move(key), std::make_unique<MeshContext>(fabric_, spec, &shared_)});
    return *contexts_.front().context;
  }

 private:
  struct Known {
    std::string key;
    std::unique_ptr<MeshContext> context;
  };
  const Fabric& fabric_;
  SharedTimes shared_;
  std::list<Known> contexts_;  // the one used last first
};

}  // namespace podsim
