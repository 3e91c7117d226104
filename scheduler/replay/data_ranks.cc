// Reads the coordinates of every device of the mesh.
#include "scheduler/replay/data_ranks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/folding/laid_job.h"
#include "scheduler/question/spec.h"
#include "workload/job/job.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

struct Coordinates {
  int data_rank = 0, stage = 0;
};

Coordinates coordinates_of(const StepProgram& program, AxisSet data_axes, int device) {
  const std::vector<int> at = program.mesh.coordinates(device);
  Coordinates place;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (std::cmp_equal(axis, program.pipeline_axis)) place.stage = at[axis];
    if (data_axes >> axis & 1u) place.data_rank = place.data_rank * program.mesh.axes[axis].size + at[axis];
  }
  return place;
}

}  // namespace

std::vector<DataRank> data_ranks(const System& system, const LaidJob& job, bool every_rank) {
  const StepProgram& program = job.program;
  const AxisSet data_axes = axes_on(job.spec.job, "batch");
  const int count = batch_shards(job.spec.job), devices = program.mesh.devices();
  std::vector<std::vector<int>> devices_of(static_cast<std::size_t>(count));
  for (int device = 0; device < devices; ++device)
    devices_of[coordinates_of(program, data_axes, device).data_rank].push_back(device);
  const std::vector<std::int32_t> class_of = chip_classes(system);
  std::map<std::vector<std::int32_t>, std::size_t> known;  // by the classes of the rank's chips
  std::vector<DataRank> ranks;
  for (const std::vector<int>& own : devices_of) {
    std::vector<std::int32_t> classes;
    for (const int device : own)
      classes.push_back(class_of[static_cast<std::size_t>(job.placement.chip_of_device[device])]);
    const auto [alike, is_new] = known.try_emplace(classes, ranks.size());
    if (!is_new && !every_rank) {
      ++ranks[alike->second].alike;
      continue;
    }
    DataRank& rank = ranks.emplace_back();
    rank.number = static_cast<int>(&own - devices_of.data());
    rank.first_device.assign(static_cast<std::size_t>(program.stages), devices);
    rank.classes.resize(static_cast<std::size_t>(program.stages));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const int stage = coordinates_of(program, data_axes, own[i]).stage;
      rank.first_device[stage] = std::min(rank.first_device[stage], own[i]);
      rank.classes[stage].push_back(classes[i]);
    }
    for (auto& of_stage : rank.classes) {
      std::ranges::sort(of_stage);
      of_stage.erase(std::unique(of_stage.begin(), of_stage.end()), of_stage.end());
    }
  }
  return ranks;
}

}  // namespace podsim
