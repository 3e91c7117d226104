// Prints the stages as aligned lines of text.
#include "prediction/dump.h"

#include <cstdarg>
#include <cstdio>

#include "engine/check.h"
#include "prediction/dump_schedule.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

[[gnu::format(printf, 2, 3)]] void line(std::string& out, const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  out += buffer;
  out += '\n';
}

std::string name_of(std::string_view view) { return std::string(view); }

std::string dump_fabric(const Fabric& fabric) {
  std::string out;
  line(out, "# fabric %s: %d chips, %zu nodes, %zu links", fabric.name.c_str(), fabric.chips,
       fabric.nodes.size(), fabric.links.size());
  line(out, "# from -> to, kind, payload GB/s, latency us");
  for (const Link& link : fabric.links)
    line(out, "%-14s -> %-14s %-12s %10.3f %8.3f", node_name(fabric, link.from).c_str(),
         node_name(fabric, link.to).c_str(), name_of(to_string(link.kind)).c_str(),
         link.bandwidth.value * 1e-9, link.latency.in_seconds() * 1e6);
  return out;
}

void dump_block(std::string& out, const Mesh& mesh, const char* part, const char* pass, const Block& block) {
  if (block.empty()) return;
  line(out, "%s %s", part, pass);
  for (const ProgramOp& op : block) {
    const auto* compute = std::get_if<ComputeOp>(&op);
    if (compute && compute->op_class == OpClass::kMeasured) {
      line(out, "  %-28s measured %12.3f us", compute->name.c_str(), compute->measured.in_seconds() * 1e6);
    } else if (compute) {
      line(out, "  %-28s %-5s m=%-9.0f n=%-8.0f k=%-8.0f x%-5.0f %12.4f GFLOP %12.3f MB",
           compute->name.c_str(), name_of(to_string(compute->dtype)).c_str(), compute->m, compute->n,
           compute->k, compute->repeats, compute->flops.value * 1e-9, compute->hbm.value * 1e-6);
    } else if (const auto* copy = std::get_if<HostCopy>(&op)) {
      line(out, "  %-28s copy %s host %12.3f MB", copy->tensor.c_str(), copy->to_host ? "to the" : "from the",
           copy->bytes.value * 1e-6);
    } else {
      const auto& collective = std::get<CollectiveOp>(op);
      static const char* const kPurposes[] = {"needed next", "may be prefetched", "may be deferred"};
      const std::string ring =
          collective.windows > 1 ? ", a ring of " + std::to_string(collective.windows) + " blocks" : "";
      line(out, "  %-28s %-14s over %-16s %12.3f MB, %s%s", collective.tensor.c_str(),
           name_of(to_string(collective.kind)).c_str(), axis_names(mesh, collective.axes).c_str(),
           collective.bytes.value * 1e-6, kPurposes[static_cast<int>(collective.purpose)], ring.c_str());
    }
  }
}

// "embedding + 8 x layer, 8 x layer + head"
std::string chunks_text(const StepProgram& program, const std::vector<ChunkShape>& chunks) {
  std::string text;
  for (const ChunkShape& chunk : chunks) {
    if (!text.empty()) text += ", ";
    std::string pieces;
    for (const PartRun& run : chunk.runs) {
      if (!pieces.empty()) pieces += " + ";
      if (run.count > 1) pieces += std::to_string(run.count) + " x ";
      pieces += program.parts[run.part].name;
    }
    text += pieces;
  }
  return text;
}

void dump_kept(std::string& out, const Part& part) {
  if (part.kept.empty()) return;
  line(out, "%s, kept of each microbatch from forward to backward", part.name.c_str());
  for (const KeptActivation& tensor : part.kept)
    line(out, "  %-28s %12.3f MB%s", tensor.tensor.c_str(), tensor.bytes.value * 1e-6,
         tensor.on_host ? " on the host" : "");
}

std::string dump_program(const StepProgram& program) {
  std::string out;
  line(out, "# one device: %d stages, %d microbatches, %.6g parameters in all", program.stages,
       program.microbatches, program.parameters);
  for (int stage = 0; stage < program.stages; ++stage)
    line(out, "# stage %d: %s", stage, chunks_text(program, program.chunks[stage]).c_str());
  for (const Part& part : program.parts) {
    const char* name = part.name.c_str();
    dump_block(out, program.mesh, name, "forward", part.forward);
    dump_kept(out, part);
    dump_block(out, program.mesh, name, "backward", part.backward);
    dump_block(out, program.mesh, name, "gradient reduction, once per step", part.gradient_reduce);
    dump_block(out, program.mesh, name, "optimizer, once per step", part.optimizer);
    dump_block(out, program.mesh, name, "parameter gather, once per step", part.parameter_gather);
  }
  return out;
}

std::string dump_placement(const Fabric& fabric, const Mesh& mesh, const Placement& placement) {
  std::string out = "# device, mesh coordinate, chip, torus coordinate\n";
  for (std::size_t device = 0; device < placement.chip_of_device.size(); ++device) {
    std::string at;
    const std::vector<int> coordinates = mesh.coordinates(static_cast<int>(device));
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
      at += mesh.axes[axis].name + "=" + std::to_string(coordinates[axis]) + " ";
    ChipId chip = placement.chip_of_device[device];
    std::string where;
    if (const TorusSlice* slice = fabric.slice_of(chip)) {
      auto [x, y, z] = slice->coordinate(chip);
      where = "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
    }
    line(out, "%6zu  %-40s %6d  %s", device, at.c_str(), chip, where.c_str());
  }
  return out;
}

std::string dump_plan(const System& system) {
  std::string out =
      "# message, over, bytes, algorithm, phases of the first group class: latency us + work bytes\n";
  for (std::size_t m = 0; m < system.step.messages.size(); ++m) {
    const CollectiveCall& message = system.step.messages[m];
    const PlannedCollective& pattern = system.patterns[system.pattern_of[m]];
    line(out, "%-14s over %-18s %14.0f B  %s", name_of(to_string(message.kind)).c_str(),
         axis_names(system.meshes[message.scope.job], message.scope.axes).c_str(), message.bytes.value,
         name_of(to_string(pattern.algorithm)).c_str());
    for (const GroupClass& group : system.groups) {
      if (group.communicator != system.communicator_of[m]) continue;
      for (const ClassPhase& phase : group.patterns[system.pattern_of[m]])
        line(out, "    %8.3f us + %14.0f B on %zu link classes", phase.latency.in_seconds() * 1e6,
             phase.work_per_byte * message.bytes.value, phase.uses.size() + phase.nonbinding_uses.size());
      break;
    }
  }
  return out;
}

std::string dump_system(const System& system) {
  std::string out;
  line(out, "# %zu classes of chips, %zu of groups, %zu of links", system.chips.size(), system.groups.size(),
       system.links.size());
  for (const ChipClass& chip : system.chips) {
    const StageProgram& program = system.step.stages[chip.program];
    const std::string job = system.meshes.size() > 1 ? "job " + std::to_string(program.job) + ", " : "";
    line(out, "chip  %6d stands for %6lld, %sstage %d, speed %.6g", chip.representative,
         static_cast<long long>(chip.chips), job.c_str(), program.stage, chip.speed);
  }
  for (const GroupClass& group : system.groups)
    line(out, "group class of communicator %d stands for %lld, %zu chip classes", group.communicator,
         static_cast<long long>(group.groups), group.members.size());
  for (const LinkClass& link : system.links)
    line(out, "link  %-12s %10.3f GB/s stands for %lld", name_of(to_string(link.kind)).c_str(),
         link.bandwidth.value * 1e-9, static_cast<long long>(link.links));
  return out;
}

std::string dump_timeline(const Timeline& timeline) {
  std::string out = "# chip, stream, begin ps, end ps, what\n";
  for (const Interval& interval : timeline.intervals)
    line(out, "%6d %-17s %16lld %16lld  %s", interval.chip, std::string(interval.stream).c_str(),
         static_cast<long long>(interval.begin.ps), static_cast<long long>(interval.end.ps),
         std::string(interval.what).c_str());
  return out;
}

}  // namespace

const std::vector<std::string>& dump_stages() {
  static const std::vector<std::string> kStages = {"fabric", "program",  "placement", "plan",
                                                   "system", "schedule", "timeline"};
  return kStages;
}

bool dumps_intervals(const std::string& stage) { return stage == "schedule" || stage == "timeline"; }

std::string dump(const std::string& stage, const Fabric& fabric, std::span<const LaidJob> jobs,
                 const System& system, std::span<const Timeline> timelines) {
  if (stage.empty()) return "";
  if (stage == "fabric") return dump_fabric(fabric);
  if (stage == "plan") return dump_plan(system);
  if (stage == "system") return dump_system(system);
  std::string out;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.size() > 1) line(out, "# %s", jobs[j].spec.name.c_str());
    if (stage == "program") {
      out += dump_program(jobs[j].program);
    } else if (stage == "placement") {
      out += dump_placement(fabric, jobs[j].program.mesh, jobs[j].placement);
    } else if (stage == "schedule") {
      out += dump_schedule(system, static_cast<int>(j), timelines[j]);
    } else {
      PODSIM_CHECK(stage == "timeline", "unknown stage " + stage);
      out += dump_timeline(timelines[j]);
    }
  }
  return out;
}

}  // namespace podsim
