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

// [chip] a number that chips share only if they share their draws; empty where nothing is drawn for chips or
// hosts.
std::vector<std::int32_t> chips_told_apart(const Adversities& adversities, int chips, int chips_per_host) {
  int together = chips;
  if (adversities.random_by(Entity::kHost)) together = chips_per_host;
  if (adversities.random_by(Entity::kChip)) together = 1;
  if (together == chips) return {};
  std::vector<std::int32_t> numbers(chips);
  for (int c = 0; c < chips; ++c) numbers[c] = c / together;
  return numbers;
}

}  // namespace

System assemble(const Fabric& fabric, std::span<const LaidJob> jobs, const Adversities& adversities,
                bool fold_classes) {
  const bool jitter = adversities.jitter.coefficient_of_variation > 0;
  const int chips_per_host = jobs.front().spec.cluster.fabric.chips_per_host;
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
  std::vector<double> speed_of(fabric.chips, 1);
  for (const SlowChip& slow : adversities.slow_chips) speed_of[slow.chip] *= slow.speed;
  Traffic traffic = plan_traffic(fabric, laid, step.messages);
  System system = fold(fabric, std::move(meshes), std::move(step), std::move(traffic), program_of, speed_of,
                       fold_classes, chips_told_apart(adversities, fabric.chips, chips_per_host));
  system.chips_per_host = chips_per_host;
  return system;
}

}  // namespace podsim
