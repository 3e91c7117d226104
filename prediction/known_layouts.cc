// Keeps what was made last, and looks for what is equal in all that it depends on.
#include "prediction/known_layouts.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "engine/check.h"
#include "engine/stage_timer.h"
#include "prediction/evaluate.h"
#include "prediction/step_length.h"
#include "report/answer/ensemble.h"
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
constexpr std::size_t kSteps = 16;

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

// A healthy job on its chips. Its system is made when it is first simulated.
struct KnownLayouts::KnownStep {
  KnownMesh* mesh;
  LaidJob job;
  struct Simulation {
    explicit Simulation(System of) : system(std::move(of)), simulator(system) {}
    const System system;
    Simulator simulator;
  };
  std::unique_ptr<Simulation> simulation;
  std::optional<EvaluationPasses> evaluations;
  int steps_that_end = 0;  // so many are known not to be endless

  bool is_of(const KnownMesh& on, const Spec& spec) const {
    return mesh == &on && job.spec.job == spec.job && job.spec.cluster.chip == spec.cluster.chip;
  }
};

KnownLayouts::KnownLayouts() = default;
KnownLayouts::~KnownLayouts() = default;

std::shared_ptr<const Fabric> KnownLayouts::fabric(const FabricSpec& spec) {
  const auto known = std::ranges::find_if(fabrics_, [&](const auto& each) { return each->spec == spec; });
  if (known != fabrics_.end()) return (*known)->fabric;
  if (fabrics_.size() == kFabrics) fabrics_.erase(fabrics_.begin());
  auto built =
      timed("build the fabric", [&] { return std::make_shared<const Fabric>(build_fabric_by_rule(spec)); });
  fabrics_.push_back(std::make_unique<KnownFabric>(KnownFabric{spec, built}));
  return built;
}

KnownLayouts::KnownMesh& KnownLayouts::mesh_of(const Spec& spec) {
  const FlopRate rate = spec.cluster.chip.matmul.at(spec.job.precision.dtype).reached();
  const std::shared_ptr<const Fabric> on = fabric(spec.cluster.fabric);
  const auto known =
      std::ranges::find_if(meshes_, [&](const auto& each) { return each->is_of(on, spec, rate); });
  if (known != meshes_.end()) return **known;
  std::size_t devices = 0;
  for (const auto& each : meshes_) devices += each->placement.chip_of_device.size();
  if (devices > kDevices || meshes_.size() == kMeshes) {
    steps_.clear();
    meshes_.clear();
  }
  return *meshes_.emplace_back(std::make_unique<KnownMesh>(on, spec, rate));
}

StepProgram KnownLayouts::program_of(const Job& asked, KnownMesh& mesh) {
  std::list<KnownModel>& models = mesh.models;
  Job job = job_of_pieces(asked);
  const auto known = std::ranges::find_if(models, [&](const KnownModel& each) { return each.job == job; });
  if (known != models.end()) {
    models.splice(models.begin(), models, known);
  } else {
    if (models.size() == kModels) models.pop_back();
    PartitionedModel pieces = partition_model(asked, mesh.cost);
    models.push_front({std::move(job), std::move(pieces)});
  }
  return step_program(asked, models.front().pieces);
}

const LaidJob& KnownLayouts::lay(const Spec& spec) {
  PODSIM_CHECK(spec.jobs.empty(), "one job has the whole cluster");
  const StageTimer timer("place and partition");
  KnownMesh& mesh = mesh_of(spec);
  laid_ = {spec, program_of(spec.job, mesh), mesh.placement};
  return laid_;
}

const LaidJob& KnownLayouts::lay_healthy(const Spec& spec) {
  PODSIM_CHECK(spec.jobs.empty(), "one job has the whole cluster");
  KnownMesh& mesh = mesh_of(spec);
  const auto known =
      std::ranges::find_if(steps_, [&](const KnownStep& each) { return each.is_of(mesh, spec); });
  if (known != steps_.end()) {
    steps_.splice(steps_.begin(), steps_, known);
    return known->job;
  }
  const StageTimer timer("place and partition");
  if (steps_.size() == kSteps) steps_.pop_back();
  LaidJob job{spec, program_of(spec.job, mesh), mesh.placement};
  job.spec.adversities = {};
  steps_.push_front({&mesh, std::move(job), nullptr, std::nullopt});
  return steps_.front().job;
}

Time KnownLayouts::healthy_step_time(const SimulateOptions& draw) {
  PODSIM_CHECK(!steps_.empty(), "a job has been laid");
  KnownStep& step = steps_.front();
  if (!step.simulation) {
    step.simulation = std::make_unique<KnownStep::Simulation>(step.mesh->systems.assemble(step.job));
    step.evaluations.emplace(step.job, *step.mesh->fabric, Adversities{}, true);
  }
  if (draw.steps > step.steps_that_end) refuse_endless(step.simulation->system, {&draw, 1});
  step.steps_that_end = std::max(step.steps_that_end, draw.steps);
  Ensemble ensemble;
  add_draw(ensemble, step.simulation->simulator.run(draw).front(), step.evaluations->per_step(draw));
  return mean_step_time(ensemble);
}

}  // namespace podsim
