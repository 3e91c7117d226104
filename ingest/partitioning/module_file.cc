// Text to modules, modules to what each device does.
#include "ingest/partitioning/module_file.h"

#include <algorithm>
#include <limits>

#include "ingest/hlo/parse.h"
#include "ingest/partitioning/device_mesh.h"
#include "ingest/partitioning/written_operations.h"
#include "ingest/stablehlo/import_stablehlo.h"
#include "ingest/stablehlo/lower.h"

namespace podsim::partitioning {
namespace {

std::optional<Mesh> mesh_of(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  constexpr std::int64_t kMostDevices = 1 << 20;
  Mesh mesh;
  std::int64_t devices = 1;
  for (const auto& [name, size] : axes) {
    if (size > kMostDevices || devices * size > kMostDevices) return std::nullopt;
    devices *= size;
    mesh.axes.push_back({name, static_cast<int>(size)});
  }
  constexpr std::size_t kMostAxes = 15;
  if (mesh.axes.empty() || mesh.axes.size() > kMostAxes) return std::nullopt;
  return mesh;
}

// By the mesh that is stated, else the module's own, else the one that its tilings ask for.
void partition(TakenModule& taken, const hlo::Module& module, const Stated& stated,
               const stablehlo::Mesh& own) {
  std::optional<Mesh> mesh = mesh_of(!stated.mesh.empty() ? stated.mesh : own);
  if (!mesh && stated.mesh.empty()) mesh = mesh_of_tilings(module);
  if (!mesh) {
    taken.needs_mesh = true;
    taken.refused = "its mesh is not known (--mesh NAME=SIZE,...)";
    return;
  }
  auto made = partition_module(module, hlo::loop_counts(module, stated.trips), *mesh, taken.refused);
  if (made) taken.partitioned = *std::move(made);
}

std::optional<std::vector<TakenModule>> take_stablehlo(const InputText& file, const Stated& stated,
                                                       std::vector<Problem>& problems) {
  const auto lowered = stablehlo::lower_modules(file.name, file.text, problems);
  if (!lowered) return std::nullopt;
  std::vector<TakenModule> all;
  for (const stablehlo::Lowered& each : *lowered) {
    TakenModule& taken = all.emplace_back();
    taken.name = each.name.empty() ? "module " + std::to_string(all.size()) : each.name;
    taken.refused = each.refused;
    taken.refused_at = each.refused_at;
    if (!each.refused.empty()) continue;
    std::vector<Problem> own;
    const auto modules = hlo::parse_modules(file.name, each.hlo, own);
    if (modules)
      partition(taken, modules->front(), stated, each.mesh);
    else
      taken.refused = own.front().message;
  }
  return all;
}

std::optional<std::vector<TakenModule>> take_hlo(const InputText& file, const Stated& stated,
                                                 std::vector<Problem>& problems) {
  const auto modules = hlo::parse_modules(file.name, file.text, problems);
  if (!modules) return std::nullopt;
  std::vector<TakenModule> all;
  for (const hlo::Module& module : *modules) {
    TakenModule& taken = all.emplace_back();
    taken.name = module.name;
    taken.compiled = !is_annotated(module) && stated.mesh.empty();
    if (taken.compiled)
      taken.partitioned = compiled_module(module, hlo::loop_counts(module, stated.trips));
    else
      partition(taken, module, stated, {});
  }
  return all;
}

}  // namespace

bool is_module_kind(std::string_view kind) { return kind == "hlo" || kind == "stablehlo"; }

std::optional<std::vector<TakenModule>> take_modules(const InputText& file, const Stated& stated,
                                                     std::vector<Problem>& problems) {
  return is_stablehlo(file.text) ? take_stablehlo(file, stated, problems) : take_hlo(file, stated, problems);
}

PartitionedModule compiled_module(const hlo::Module& module, const hlo::LoopCounts& loops) {
  PartitionedModule made;
  made.operations = written_operations(module, loops, {module.entry}, "compiled");
  return made;
}

}  // namespace podsim::partitioning
