// The device mesh of an annotated module, and its annotations in terms of that mesh.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/hlo/module.h"
#include "workload/mesh/annotation.h"
#include "workload/mesh/mesh.h"

namespace podsim::partitioning {

// The coarsest mesh in which every tiling of the module's shardings cuts whole axes, its axes called axis0,
// axis1, ...: {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate} asks for axes of 2 and 4. Nothing where
// no tiling tells of more than one device, or no such mesh is there.
std::optional<Mesh> mesh_of_tilings(const hlo::Module& module);

// Elements of {{replicated}, {devices=[2,1]<=[2]}}; of any other sharding, itself.
std::vector<std::string_view> sharding_leaves(std::string_view sharding);

// A sharding of GSPMD as an annotation that propagation must keep; nothing where it tells nothing of where a
// tensor lies (manual, maximal, unknown) or does not fit the mesh.
std::optional<Annotation> annotation_of(const Mesh& mesh, std::size_t rank, std::string_view sharding);

// Whether a module says how tensors lie, and leaves it to a compiler to act on it.
bool is_annotated(const hlo::Module& module);

}  // namespace podsim::partitioning
