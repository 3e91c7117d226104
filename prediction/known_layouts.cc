// Keeps what was made last, and looks for what is equal in all that it depends on.
#include "prediction/known_layouts.h"

#include <algorithm>
#include <list>
#include <utility>

#include "engine/check.h"
#include "engine/stage_timer.h"
#include "scheduler/folding/healthy_systems.h"
#include "scheduler/placement/fabric_cost.h"
#include "workload/job/job.h"
#include "workload/partition/partitioned_model.h"

namespace podsim {
namespace {

constexpr std::size_t kFabrics = 4;
constexpr std::size_t kDevices = 4'000'000;  // of all meshes together, but for the one in use
constexpr std::size_t kMeshes = 256;
constexpr std::size_t kModels = 16;  // of each mesh

struct KnownModel {
  Job job;  // job_of_pieces
  PartitionedModel pieces;
};

}  // namespace

struct KnownLayouts::KnownFabric {
  FabricSpec spec;
  std::shared_ptr<const Fabric> fabric;
};

struct KnownLayouts::KnownMesh {
  KnownMesh(std::shared_ptr<const Fabric> on, const Spec& spec, FlopRate at)
      : fabric(std::move(on)),
        mesh(spec.job.mesh),
        chosen(spec.placement),
        rate(at),
        placement(place(*fabric, mesh, chosen)),
        cost(*fabric, mesh, placement, rate),
        systems(*fabric) {}

  bool is_of(const std::shared_ptr<const Fabric>& on, const Spec& spec, FlopRate at) const {
    return fabric == on && mesh == spec.job.mesh && chosen == spec.placement && rate == at;
  }

  const std::shared_ptr<const Fabric> fabric;
  const Mesh mesh;
  const std::vector<AxisPlacement> chosen;
  const FlopRate rate;  // of computation, that collectives are weighed against
  const Placement placement;
  const FabricCost cost;
  std::list<KnownModel> models;  // the one used last first
  HealthySystems systems;
};

KnownLayouts::KnownLayouts() = default;
KnownLayouts::~KnownLayouts() = default;

std::shared_ptr<const Fabric> KnownLayouts::fabric(const FabricSpec& spec) {
  const auto known = std::ranges::find_if(fabrics_, [&](const auto& each) { return each->spec == spec; });
  if (known != fabrics_.end()) return (*known)->fabric;
  if (fabrics_.size() == kFabrics) fabrics_.erase(fabrics_.begin());
  auto built = timed("build the fabric", [&] { return std::make_shared<const Fabric>(build_fabric(spec)); });
  fabrics_.push_back(std::make_unique<KnownFabric>(KnownFabric{spec, built}));
  return built;
}

KnownLayouts::KnownMesh& KnownLayouts::mesh_of(const Spec& spec) {
  const MatmulRate& matmul = spec.cluster.chip.matmul.at(spec.job.precision.dtype);
  const FlopRate rate = matmul.peak * matmul.sustained;
  const std::shared_ptr<const Fabric> on = fabric(spec.cluster.fabric);
  const auto known =
      std::ranges::find_if(meshes_, [&](const auto& each) { return each->is_of(on, spec, rate); });
  if (known != meshes_.end()) return **known;
  std::size_t devices = 0;
  for (const auto& each : meshes_) devices += each->placement.chip_of_device.size();
  if (devices > kDevices || meshes_.size() == kMeshes) meshes_.clear();
  return *meshes_.emplace_back(std::make_unique<KnownMesh>(on, spec, rate));
}

const LaidJob& KnownLayouts::lay(const Spec& spec) {
  PODSIM_CHECK(spec.jobs.empty(), "one job has the whole cluster");
  const StageTimer timer("place and partition");
  mesh_ = &mesh_of(spec);
  std::list<KnownModel>& models = mesh_->models;
  Job job = job_of_pieces(spec.job);
  const auto known = std::ranges::find_if(models, [&](const KnownModel& each) { return each.job == job; });
  if (known != models.end()) {
    models.splice(models.begin(), models, known);
  } else {
    if (models.size() == kModels) models.pop_back();
    PartitionedModel pieces = partition_model(spec.job, mesh_->cost);
    models.push_front({std::move(job), std::move(pieces)});
  }
  laid_ = {spec, step_program(spec.job, models.front().pieces), mesh_->placement};
  return laid_;
}

const System& KnownLayouts::healthy_system() {
  PODSIM_CHECK(mesh_ != nullptr, "a job has been laid");
  return mesh_->systems.assemble(laid_);
}

}  // namespace podsim
