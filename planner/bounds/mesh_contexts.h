// Contexts of meshes, remembered a few at a time: a search that goes by bounds looks at few meshes in a row.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "planner/bounds/mesh_context.h"

namespace podsim {

// Not for several threads at once.
class MeshContexts {
 public:
  explicit MeshContexts(const Fabric& fabric) : fabric_(fabric) {}

  const MeshContext& of(const Spec& spec) {
    constexpr std::size_t kMost = 48;
    std::string key = spec.job.pipeline_axis;
    for (const MeshAxis& axis : spec.job.mesh.axes) key += " " + axis.name + std::to_string(axis.size);
    const auto known = contexts_.find(key);
    if (known != contexts_.end()) return *known->second;
    if (contexts_.size() >= kMost) contexts_.clear();
    return *(contexts_[key] = std::make_unique<MeshContext>(fabric_, spec));
  }

 private:
  const Fabric& fabric_;
  std::map<std::string, std::unique_ptr<MeshContext>> contexts_;
};

}  // namespace podsim
