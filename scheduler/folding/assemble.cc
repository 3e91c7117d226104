// From jobs on one fabric to the system that is simulated.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/check.h"
#include "engine/stage_timer.h"
#include "scheduler/folding/fold_orbits.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/lowering/lower.h"
#include "scheduler/placement/place.h"
#include "scheduler/question/random_delays.h"
#include "scheduler/question/spec.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/partition/model_flops.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Gives the job's chips the programs of their stages, which follow `first` in the step of all jobs.
void assign_programs(const LaidJob& job, int first, std::vector<int>& program_of) {
  const AxisSet stages = job.program.stages > 1 ? AxisSet{1} << job.program.pipeline_axis : 0;
  for (const std::span<const ChipId> line : groups_along(job.program.mesh, job.placement, stages)) {
    for (std::size_t stage = 0; stage < line.size(); ++stage) {
      PODSIM_CHECK(program_of[line[stage]] < 0, "a chip belongs to one job");
      program_of[line[stage]] = first + static_cast<int>(stage);
    }
  }
}

AxisSet batch_axes(const Job& job) {
  AxisSet axes = 0;
  for (const ShardingRule& rule : job.rules)
    if (rule.dimension == "batch")
      for (const std::string& axis : rule.axes) axes |= AxisSet{1} << job.mesh.find(axis);
  return axes;
}

// [chip of a job whose documents have lengths] which share of the batch it has.
std::vector<int> data_ranks(std::span<const LaidJob> jobs, int chips) {
  std::vector<int> ranks(chips, 0);
  for (const LaidJob& job : jobs) {
    if (!job.spec.job.lengths.any()) continue;
    for (const std::span<const ChipId> line :
         groups_along(job.program.mesh, job.placement, batch_axes(job.spec.job)))
      for (std::size_t rank = 0; rank < line.size(); ++rank) ranks[line[rank]] = static_cast<int>(rank);
  }
  return ranks;
}

// [chip] a number that chips share only if they share their draws; empty where all do.
std::vector<std::int32_t> chips_told_apart(const Adversities& adversities, const std::vector<int>& data_rank,
                                           int chips_per_host) {
  const auto chips = static_cast<int>(data_rank.size());
  const StepVariation& variation = adversities.variation;
  const bool each_chip = adversities.random_by(Entity::kChip),
             each_host = adversities.random_by(Entity::kHost);
  if (!each_chip && !each_host && !variation.uneven_lengths && variation.late.empty()) return {};
  std::vector<std::int32_t> numbers;
  std::map<std::pair<int, int>, std::int32_t> known;  // of host and data rank
  for (int c = 0; c < chips; ++c) {
    const std::pair<int, int> shared{each_host ? c / chips_per_host : 0,
                                     variation.uneven_lengths ? data_rank[c] : 0};
    numbers.push_back(each_chip ? c : known.try_emplace(shared, c).first->second);
  }
  for (const LateLaunch& late : variation.late) numbers[late.chip] = chips + late.chip;
  return numbers;
}

DrawnDegradations conditions_of(const Fabric& fabric, std::span<const LaidJob> jobs,
                                const Adversities& adversities) {
  if (std::ranges::none_of(adversities.degradations, &Degradation::by_selector)) return {};
  const std::vector<int> none(fabric.chips, -1);
  ChipRoles roles{none, none};
  for (const LaidJob& job : jobs)
    add_roles(roles, job.program.mesh, job.program.stages > 1 ? job.program.pipeline_axis : -1,
              job.spec.job.rules, job.placement);
  const Parts parts(fabric, jobs.front().spec.cluster.fabric.chips_per_host);
  return draw_degradations(fabric, parts, roles, adversities.degradations, adversities.seed);
}

Fabric with_link_factors(Fabric fabric, const std::vector<double>& factor) {
  for (std::size_t l = 0; l < factor.size(); ++l)
    fabric.links[l].bandwidth = fabric.links[l].bandwidth * factor[l];
  return fabric;
}

// One job has all chips, in order, and nothing is wrong with any.
bool may_fold_by_orbits(const Fabric& fabric, std::span<const LaidJob> jobs, const Adversities& adversities) {
  if (fabric.tree() == nullptr || jobs.size() != 1 || !adversities.none()) return false;
  const LaidJob& job = jobs.front();
  return !job.spec.job.lengths.any() && job.placement.in_order() &&
         std::cmp_equal(job.placement.chip_of_device.size(), fabric.chips);
}

// Nothing where orbits do not tell it, and then the step stays.
std::optional<System> assemble_orbits(const Fabric& fabric, const LaidJob& job, LoweredStep& step) {
  std::optional<System> system =
      fold_orbits(fabric, {job.program.mesh, job.placement, job.spec.job.stack.network_share},
                  job.program.stages > 1 ? job.program.pipeline_axis : -1, step);
  if (!system) return std::nullopt;
  system->chips_per_host = job.spec.cluster.fabric.chips_per_host;
  system->packing.push_back(packing_of(job));
  return system;
}

}  // namespace

LoweredStep lower_for(const LaidJob& job, const Adversities& adversities) {
  const bool jitter = adversities.jitter.coefficient_of_variation > 0;
  return timed("lower", [&] { return lower(job.program, job.spec, !jitter); });
}

JobPacking packing_of(const LaidJob& job) {
  const Job& of = job.spec.job;
  return {of.lengths,
          {batch_shards(of), job.program.microbatches, of.microbatch, static_cast<double>(of.sequence),
           key_windows(job.program.flops_per_token)}};
}

System assemble(const Fabric& fabric, std::span<const LaidJob> jobs, const Adversities& adversities,
                bool fold_classes, TrafficPlans* plans) {
  LoweredStep step;
  int number = 0;
  for (const LaidJob& job : jobs) append(step, lower_for(job, adversities), number++);
  return assemble(fabric, jobs, std::move(step), adversities, fold_classes, plans);
}

System assemble(const Fabric& fabric, std::span<const LaidJob> jobs, LoweredStep step,
                const Adversities& adversities, bool fold_classes, TrafficPlans* plans) {
  const int chips_per_host = jobs.front().spec.cluster.fabric.chips_per_host;
  if (may_fold_by_orbits(fabric, jobs, adversities) && fold_classes && !(plans && plans->chosen_elsewhere()))
    if (std::optional<System> system = assemble_orbits(fabric, jobs.front(), step)) return *std::move(system);
  if (fabric.tree() != nullptr)
    return assemble(listed(fabric), jobs, std::move(step), adversities, fold_classes, plans);
  std::vector<LaidMesh> laid;
  std::vector<Mesh> meshes;
  std::vector<int> program_of(fabric.chips, -1);
  int programs = 0;
  for (const LaidJob& job : jobs) {
    assign_programs(job, std::exchange(programs, programs + job.program.stages), program_of);
    laid.push_back({job.program.mesh, job.placement, job.spec.job.stack.network_share});
    meshes.push_back(job.program.mesh);
  }
  DrawnDegradations degradations = conditions_of(fabric, jobs, adversities);
  std::vector<double> speed_of = degradations.chip_factor;
  speed_of.resize(fabric.chips, 1);
  for (const Degradation& slow : adversities.degradations) {
    if (slow.cause == Degradation::Cause::kSlowChip) speed_of[slow.chip] *= slow.factor.mean;
  }
  const std::vector<int> data_rank = data_ranks(jobs, fabric.chips);
  const std::vector<std::int32_t> told_apart = chips_told_apart(adversities, data_rank, chips_per_host);
  const auto fold_on = [&](const Fabric& slowed) {
    std::optional<Traffic> own;
    const Traffic* traffic = timed("plan traffic", [&]() -> const Traffic* {
      if (plans) return &plans->plan(slowed, laid, step.messages, !fold_classes);
      return &own.emplace(plan_traffic(slowed, laid, step.messages, nullptr, !fold_classes));
    });
    const StageTimer timer("fold");
    return fold(
        slowed, std::move(meshes), std::move(step), *traffic,
        {std::move(program_of), std::move(speed_of), std::move(degradations), told_apart, fold_classes});
  };
  System system = degradations.link_factor.empty()
                      ? fold_on(fabric)
                      : fold_on(with_link_factors(fabric, degradations.link_factor));
  system.chips_per_host = chips_per_host;
  for (ChipClass& chip : system.chips) {
    chip.data_rank = data_rank[chip.representative];
    if (!told_apart.empty()) chip.chance = told_apart[chip.representative];
  }
  for (const LaidJob& job : jobs) system.packing.push_back(packing_of(job));
  return system;
}

}  // namespace podsim
