// Collects what pictures show of a step from its timeline and program.
#include "report/pictures/step_detail.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "engine/check.h"
#include "report/summary/executed_operations.h"
#include "report/summary/pass_work.h"
#include "workload/job/chip.h"
#include "workload/job/job.h"
#include "workload/partition/op_cost.h"

namespace podsim {
namespace {

constexpr double kAlike = 5e-5;          // links whose use differs by less are told of together
constexpr std::int64_t kColumns = 4000;  // a picture shows no shorter pause between computations

const StageProgram& program_of_stage(const System& system, int stage) {
  for (const StageProgram& program : system.step.stages)
    if (program.stage == stage) return program;
  check_failed(__FILE__, __LINE__, "program", "every chip runs the program of a stage");
}

// One class of chips for each stage, in order; of several the slowest chip's.
std::vector<const ChipTotals*> one_per_stage(const Timeline& timeline) {
  std::map<int, const ChipTotals*> found;
  for (const ChipTotals& chip : timeline.chips) {
    const ChipTotals*& known = found[chip.stage];
    if (!known || std::tie(chip.speed, chip.representative) < std::tie(known->speed, known->representative))
      known = &chip;
  }
  std::vector<const ChipTotals*> chips;
  for (const auto& [stage, chip] : found) chips.push_back(chip);
  return chips;
}

void add_computation(std::vector<std::pair<Time, Time>>& busy, Time begin, Time end, Time shown) {
  if (!busy.empty() && begin - busy.back().second <= shown) {
    busy.back().second = end;
  } else {
    busy.emplace_back(begin, end);
  }
}

}  // namespace

std::vector<StagePasses> stage_passes(const System& system, const Timeline& timeline) {
  const Time step = timeline.step_end.front(), shown{step.ps / kColumns};
  std::vector<StagePasses> stages;
  std::map<ChipId, std::size_t> place;
  std::vector<const StageProgram*> programs;
  for (const ChipTotals* chip : one_per_stage(timeline)) {
    place[chip->representative] = stages.size();
    stages.push_back({chip->stage, chip->representative, chip->chips, {}});
    programs.push_back(&program_of_stage(system, chip->stage));
  }
  std::vector<std::int32_t> last(stages.size(), -1);  // position
  for (const Interval& interval : timeline.intervals) {
    const auto found = place.find(interval.chip);
    if (found == place.end() || interval.what != "compute" || interval.end > step) continue;
    std::vector<PassSpan>& spans = stages[found->second].spans;
    if (spans.empty() || last[found->second] != interval.position) {
      std::span<const PipelineTask> tasks;
      if (interval.position >= 0) tasks = programs[found->second]->tasks_at(interval.position);
      spans.push_back({interval.begin, interval.end, {tasks.begin(), tasks.end()}, {}});
      last[found->second] = interval.position;
    }
    spans.back().end = interval.end;
    add_computation(spans.back().busy, interval.begin, interval.end, shown);
  }
  return stages;
}

namespace {

// Bytes of activations that a microbatch leaves on the chip, by chunk.
std::vector<double> kept_by_chunk(const StepProgram& program, int stage) {
  std::vector<double> kept;
  for (const ChunkShape& chunk : program.chunks[static_cast<std::size_t>(stage)]) {
    double bytes = 0;
    for (const PartRun& run : chunk.runs)
      for (const KeptActivation& tensor : program.parts[static_cast<std::size_t>(run.part)].kept)
        if (!tensor.on_host) bytes += run.count * tensor.bytes.value;
    kept.push_back(bytes);
  }
  return kept;
}

}  // namespace

std::vector<HeldShare> held_along(const StagePasses& stage, const StepProgram& program) {
  const std::vector<double> kept = kept_by_chunk(program, stage.stage);
  bool apart = false;
  for (const PassSpan& span : stage.spans)
    for (const PipelineTask& task : span.tasks) apart = apart || task.pass == Pass::kWeightGradient;
  std::vector<HeldShare> held = {{{}, 0}};
  double now = 0, most = 0;
  for (const PassSpan& span : stage.spans) {
    for (const PipelineTask& task : span.tasks) {
      const double bytes = task.chunk < static_cast<int>(kept.size()) ? kept[task.chunk] : 0;
      if (task.pass == Pass::kForward) {
        held.push_back({span.begin, now});
        held.push_back({span.end, now += bytes});
      } else if (task.pass == Pass::kWeightGradient || (!apart && task.pass == Pass::kBackward)) {
        held.push_back({span.begin, now});
        held.push_back({span.end, now = std::max(0.0, now - bytes)});
      }
      most = std::max(most, now);
    }
  }
  if (!(most > 0)) return {};
  for (HeldShare& each : held) each.share /= most;
  return held;
}

namespace {

std::vector<OperationUse> operations_of(const LaidJob& job, std::span<const double> attention) {
  const Chip& chip = job.spec.cluster.chip;
  std::vector<OperationUse> operations;
  for (const ExecutedOperation& executed : executed_operations(job.program, attention)) {
    const ComputeOp& op = *executed.op;
    if (op.op_class == OpClass::kMeasured) continue;
    operations.push_back({executed.part->name, op.name, op.op_class, executed.backward,
                          executed.load * op.flops.value, executed.load * op.hbm.value,
                          executed.load * op_seconds(op, chip, job.spec.job.stack), executed.times,
                          operation_shape(op)});
    if (op.op_class == OpClass::kMatmul && !chip.tiles.empty())
      operations.back().tile_loss = tile_loss(op.m, op.n, chip, op.repeats);
  }
  return operations;
}

Roof roof_of(const LaidJob& job) {
  const Chip& chip = job.spec.cluster.chip;
  Roof roof{0, 0, chip.hbm.value * chip.hbm_efficiency};
  const MatmulRate* rate = chip.matmul_rate(job.spec.job.precision.dtype);
  if (!rate) rate = chip.matmul_rate(Dtype::kBf16);
  if (!rate) return roof;
  roof.flops_per_s = rate->peak.value;
  roof.sustained_flops_per_s =
      rate->peak.value * std::min(1.0, rate->sustained * job.spec.job.stack.gemm_factor);
  return roof;
}

std::vector<LinkClassUse> links_of(const Timeline& timeline) {
  std::vector<LinkClassUse> links;
  for (const LinkTotals& totals : timeline.links) {
    const double possible = totals.bandwidth.value * timeline.step_end.back().in_seconds();
    if (!(possible > 0)) continue;
    const LinkClassUse use{std::string(to_string(totals.kind)), totals.links, totals.bandwidth,
                           totals.bytes.value / possible};
    const auto alike = std::ranges::find_if(links, [&](const LinkClassUse& other) {
      return other.kind == use.kind && other.bandwidth == use.bandwidth &&
             std::abs(other.share - use.share) < kAlike;
    });
    if (alike != links.end()) {
      alike->links += use.links;
    } else {
      links.push_back(use);
    }
  }
  std::ranges::stable_sort(links,
                           [](const LinkClassUse& a, const LinkClassUse& b) { return a.share > b.share; });
  return links;
}

}  // namespace

StepDetail step_detail(const System& system, const LaidJob& job, const Timeline& timeline,
                       std::span<const double> attention) {
  StepDetail detail;
  detail.step = timeline.step_end.front();
  detail.stages = stage_passes(system, timeline);
  const std::vector<MemoryUse>& memory = job.program.memory;
  const auto fullest = std::ranges::max_element(memory, {}, &MemoryUse::total);
  detail.fullest = static_cast<int>(fullest - memory.begin());
  for (const StagePasses& stage : detail.stages)
    if (stage.stage == detail.fullest) detail.held = held_along(stage, job.program);
  detail.operations = operations_of(job, attention);
  detail.roof = roof_of(job);
  detail.collectives = collective_uses(system, timeline);
  detail.links = links_of(timeline);
  return detail;
}

}  // namespace podsim
