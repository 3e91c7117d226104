// From jobs on one fabric to the system that is simulated.
#include "engine/check.h"
#include "scheduler/system.h"

namespace podsim {
namespace {

// Gives the job's chips the programs of their stages, which follow `first` in the step of all jobs.
void assign_programs(const LaidJob& job, int first, std::vector<int>& program_of) {
  const AxisSet stages = job.program.stages > 1 ? AxisSet{1} << job.program.pipeline_axis : 0;
  for (const std::vector<ChipId>& line : groups_along(job.program.mesh, job.placement, stages)) {
    for (std::size_t stage = 0; stage < line.size(); ++stage) {
      PODSIM_CHECK(program_of[line[stage]] < 0, "a chip belongs to one job");
      program_of[line[stage]] = first + static_cast<int>(stage);
    }
  }
}

Conditions conditions_of(const Fabric& fabric, std::span<const LaidJob> jobs,
                         const Adversities& adversities) {
  if (adversities.slow.empty()) return {};
  const std::vector<int> none(fabric.chips, -1);
  ChipRoles roles{none, none};
  for (const LaidJob& job : jobs)
    add_roles(roles, job.program.mesh, job.program.stages > 1 ? job.program.pipeline_axis : -1,
              job.spec.job.rules, job.placement);
  const Parts parts(fabric, jobs.front().spec.cluster.fabric.chips_per_host);
  return draw_conditions(fabric, parts, roles, adversities.slow, adversities.seed);
}

Fabric with_link_factors(Fabric fabric, const std::vector<double>& factor) {
  for (std::size_t l = 0; l < factor.size(); ++l)
    fabric.links[l].bandwidth = fabric.links[l].bandwidth * factor[l];
  return fabric;
}

}  // namespace

System assemble(const Fabric& fabric, std::span<const LaidJob> jobs, const Adversities& adversities,
                bool fold_classes) {
  const bool jitter = adversities.jitter.coefficient_of_variation > 0;
  LoweredStep step;
  std::vector<LaidMesh> laid;
  std::vector<Mesh> meshes;
  std::vector<int> program_of(fabric.chips, -1);
  for (const LaidJob& job : jobs) {
    assign_programs(job, static_cast<int>(step.stages.size()), program_of);
    append(step, lower(job.program, job.spec, !jitter), static_cast<int>(laid.size()));
    laid.push_back({job.program.mesh, job.placement, job.spec.job.stack.network_share});
    meshes.push_back(job.program.mesh);
  }
  Conditions conditions = conditions_of(fabric, jobs, adversities);
  std::vector<double> speed_of = conditions.chip_factor;
  speed_of.resize(fabric.chips, 1);
  for (const SlowChip& slow : adversities.slow_chips) speed_of[slow.chip] *= slow.speed;
  const auto fold_on = [&](const Fabric& slowed) {
    Traffic traffic = plan_traffic(slowed, laid, step.messages);
    return fold(slowed, std::move(meshes), std::move(step), std::move(traffic), program_of, speed_of,
                std::move(conditions), fold_classes, jitter);
  };
  if (conditions.link_factor.empty()) return fold_on(fabric);
  return fold_on(with_link_factors(fabric, conditions.link_factor));
}

}  // namespace podsim
