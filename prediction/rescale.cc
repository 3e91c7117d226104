// The same job on another number of chips.
#include "prediction/rescale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/text/text.h"
#include "scheduler/folding/drawn_degradations.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"
#include "topology/failures.h"
#include "topology/shape.h"
#include "workload/job/job.h"
#include "workload/partition/job_validity.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Why the fabric or the mesh lacks what is slow or late, or empty. REQUIRES: the job fits the fabric.
std::string explain_missing(const Spec& spec) {
  const FabricSpec& cluster = spec.cluster.fabric;
  const std::vector<Degradation>& all = spec.adversities.degradations;
  const std::string among = " does not exist among " + std::to_string(cluster.chips);
  for (const Degradation& slow : all)
    if (!slow.by_selector() && slow.chip >= cluster.chips) {
      const bool of_link = slow.cause == Degradation::Cause::kSlowLink;
      return (of_link ? "slow link of chip " : "slow chip ") + std::to_string(slow.chip) + among;
    }
  for (const LateLaunch& late : spec.adversities.variation.late)
    if (late.chip >= cluster.chips) return "late launch of chip " + std::to_string(late.chip) + among;
  if (std::ranges::none_of(all, &Degradation::by_selector)) return "";
  const Fabric fabric = build_fabric(cluster);
  const Parts parts(fabric, cluster.chips_per_host);
  const ChipRoles roles = roles_of(fabric, spec.job, spec.placement);
  for (const Degradation& slow : all)
    if (slow.by_selector())
      if (std::string problem = explain_missing(slow.which, parts, roles); !problem.empty()) return problem;
  return "";
}

// The axis that takes the change: the one that takes the rest of the chips, else the outermost one that
// carries the batch; it divides or multiplies evenly.
int scaling_axis(const Job& job, int chips) {
  long long devices = job.mesh.devices();
  const auto evenly = [&](int axis) {
    return axis >= 0 && job.mesh.axes[axis].size * static_cast<long long>(chips) % devices == 0;
  };
  if (!job.rest_axis.empty()) {
    const int rest = job.mesh.find(job.rest_axis);
    return evenly(rest) ? rest : -1;
  }
  for (const ShardingRule& rule : job.rules) {
    if (rule.dimension != "batch") continue;
    for (const std::string& name : rule.axes) {
      if (const int axis = job.mesh.find(name); evenly(axis)) return axis;
    }
  }
  return -1;
}

// With the microbatch of a job that takes its sequences at once. REQUIRES: the mesh is as it will be.
void set_batch(Job& job, int sequences) {
  job.global_batch = sequences;
  follow_batch(job);
}

// Sets the global batch to the valid one that is nearest to `wanted`, within an eighth of it.
bool set_nearest_batch(Job& job, double wanted, int step) {
  constexpr double kMostChange = 0.125;
  const int before = job.global_batch;
  const auto nearest = static_cast<long long>(std::llround(wanted / step));
  for (long long away = 0; static_cast<double>((away - 1) * step) <= kMostChange * wanted; ++away)
    for (const long long units : {nearest + away, nearest - away}) {
      const long long batch = units * step;
      if (batch <= 0 || batch > INT32_MAX ||
          std::abs(static_cast<double>(batch) - wanted) > kMostChange * wanted)
        continue;
      set_batch(job, static_cast<int>(batch));
      if (explain_invalid(job).empty()) return true;
    }
  set_batch(job, before);
  return false;
}

// `resize` gives the fabric this many chips, or says why it cannot. Where the batch does not come out even,
// the nearest one is taken if `changed` is there to say so.
template <typename Resize>
std::string rescale_by(Spec& spec, int chips, bool strong, Resize&& resize, std::string* changed = nullptr) {
  if (!spec.jobs.empty()) return "several jobs share its chips";
  const int before = spec.cluster.fabric.chips;
  if (chips == before) return "";
  Spec scaled = spec;
  int axis = scaling_axis(spec.job, chips);
  if (axis < 0)
    return "no " + (spec.job.rest_axis.empty() ? "batch axis" : "size of \"" + spec.job.rest_axis + "\"") +
           " of the mesh turns " + std::to_string(before) + " into " + std::to_string(chips) + " chips";
  MeshAxis& mesh_axis = scaled.job.mesh.axes[axis];
  mesh_axis.size = static_cast<int>(mesh_axis.size * static_cast<long long>(chips) / before);
  const long long batch = scaled.job.global_batch * static_cast<long long>(strong ? before : chips);
  if (batch % before != 0 && changed == nullptr)
    return "a batch of " + std::to_string(scaled.job.global_batch) + " sequences cannot be scaled to " +
           std::to_string(chips) + " chips evenly";
  set_batch(scaled.job, static_cast<int>(batch / before));
  const double wanted_batch = strong ? spec.job.global_batch : 1.0 * spec.job.global_batch * chips / before;
  if (changed != nullptr &&
      (scaled.job.global_batch != wanted_batch || !explain_invalid(scaled.job).empty()) &&
      set_nearest_batch(scaled.job, wanted_batch, mesh_axis.size))
    *changed = significant(scaled.job.global_batch, 1) + " sequences instead of " +
               significant(wanted_batch, wanted_batch == std::floor(wanted_batch) ? 1 : 4);
  if (std::string problem = resize(scaled.cluster.fabric); !problem.empty()) return problem;
  if (std::string problem = explain_invalid(scaled.cluster.fabric); !problem.empty()) return problem;
  if (std::vector<JobProblem> problems = explain_invalid(scaled.job); !problems.empty())
    return problems.front().message;
  if (std::string problem = explain_invalid(scaled.cluster.fabric, scaled.job.mesh, scaled.placement);
      !problem.empty()) {
    scaled.placement.clear();  // the user's dimensions no longer hold the axes; place by rule
  }
  if (std::string problem = explain_missing(scaled); !problem.empty()) return problem;
  if (!scaled.adversities.failures.empty())
    if (std::string problem =
            explain_impossible(build_fabric(scaled.cluster.fabric), scaled.adversities.failures);
        !problem.empty())
      return problem;
  spec = std::move(scaled);
  return "";
}

}  // namespace

std::string rescale(Spec& spec, int chips, bool strong) {
  return rescale_by(spec, chips, strong,
                    [&](FabricSpec& fabric) { return kind_of(fabric).resize(fabric, chips); });
}

namespace {

// The same chips with `axis` so many times as long and the batch axis as many times as short, or the other
// way round; false where they do not divide.
bool reshape(Job& job, int axis, int batch_axis, int times, bool longer) {
  int& grows = job.mesh.axes[longer ? axis : batch_axis].size;
  int& shrinks = job.mesh.axes[longer ? batch_axis : axis].size;
  if (shrinks % times != 0) return false;
  grows *= times;
  shrinks /= times;
  return true;
}

// Layouts near that of the scenario, nearest first: another axis halved or doubled, then by four and eight.
std::string rescale_reshaped(Spec& spec, int chips, bool strong, std::string& changed) {
  const int batch_axis = scaling_axis(spec.job, spec.cluster.fabric.chips);
  if (batch_axis < 0) return "no axis of the mesh carries the batch";
  for (const int times : {2, 4, 8})
    for (int axis = 0; axis < static_cast<int>(spec.job.mesh.axes.size()); ++axis)
      for (const bool longer : {false, true}) {
        Spec tried = spec;
        if (axis == batch_axis || !reshape(tried.job, axis, batch_axis, times, longer)) continue;
        tried.placement.clear();
        const MeshAxis& now = tried.job.mesh.axes[axis];
        const std::string told = now.name + " " + std::to_string(now.size) + " instead of " +
                                 std::to_string(spec.job.mesh.axes[axis].size);
        std::string batch;
        if (!rescale_by(
                 tried, chips, strong,
                 [&](FabricSpec& fabric) { return kind_of(fabric).resize(fabric, chips); }, &batch)
                 .empty())
          continue;
        changed = told + (batch.empty() ? "" : ", " + batch);
        spec = std::move(tried);
        return "";
      }
  return "no layout near it does either";
}

}  // namespace

std::string rescale_nearly(Spec& spec, int chips, bool strong, std::string& changed) {
  changed.clear();
  std::string obstacle = rescale_by(
      spec, chips, strong, [&](FabricSpec& fabric) { return kind_of(fabric).resize(fabric, chips); },
      &changed);
  if (obstacle.empty() || !spec.jobs.empty()) return obstacle;
  changed.clear();
  return rescale_reshaped(spec, chips, strong, changed).empty() ? "" : obstacle;
}

std::string rescale_slices(Spec& spec, int slices, bool strong, std::string* changed) {
  const FabricSpec& before = spec.cluster.fabric;
  if (kind_of(before).dimensions(before).empty()) return before.name + " has no slices";
  if (slices > 1 && before.dcn.bandwidth.value == 0)
    return before.name + " has no DCN that could join " + std::to_string(slices) + " slices";
  const std::int64_t chips = std::int64_t{before.chips / before.slices} * slices;
  if (chips > INT32_MAX) return "too many chips";
  return rescale_by(
      spec, static_cast<int>(chips), strong,
      [&](FabricSpec& fabric) {
        fabric.chips = static_cast<int>(chips);
        fabric.slices = slices;
        return std::string();
      },
      changed);
}

}  // namespace podsim
