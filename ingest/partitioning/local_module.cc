// Layouts as shapes, steps as instructions, groups as arrays of devices.
#include "ingest/partitioning/local_module.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/index.h"

namespace podsim::partitioning {

using hlo::Instruction;
using hlo::Shape;

TensorShape tensor_shape(const Shape& shape) {
  TensorShape made{.dims = {}, .element_bytes = static_cast<double>(shape.bits) / 8};
  for (const std::int64_t size : shape.dimensions)
    made.dims.push_back({.logical = {}, .blocks = {{.size = size}}});
  return made;
}

Shape local_shape(const Shape& shape, const Layout& layout) {
  Shape local = shape;
  for (std::size_t d = 0; d < local.dimensions.size(); ++d) {
    const std::int64_t shards = shard_count(layout.dims[d]);
    local.dimensions[d] = (local.dimensions[d] + shards - 1) / shards;
  }
  return local;
}

std::string collective_name(StepKind kind) {
  switch (kind) {
    case StepKind::kAllGather:
      return "all-gather";
    case StepKind::kAllReduce:
      return "all-reduce";
    case StepKind::kReduceScatter:
      return "reduce-scatter";
    case StepKind::kAllToAll:
      return "all-to-all";
    case StepKind::kPermute:
    case StepKind::kHalo:
      return "collective-permute";
    case StepKind::kSlice:
    case StepKind::kCompute:
      break;
  }
  return "";
}

Instruction new_instruction(const std::string& name, const std::string& opcode, Shape shape,
                            std::vector<int> operands) {
  Instruction made;
  made.name = name;
  made.opcode = opcode;
  made.shape = std::move(shape);
  made.operands = std::move(operands);
  return made;
}

LocalModule::LocalModule(const hlo::Module& module, const Mesh& mesh) : mesh_(mesh), module_(module) {
  module_.partitions = mesh.devices();
}

int LocalModule::begin_computation(const std::string& name) {
  std::string unused = name + "_local";
  while (module_.by_name.count(unused) != 0) unused += "_";
  const int number = static_cast<int>(module_.computations.size());
  module_.computations.emplace_back().name = unused;
  module_.by_name[unused] = number;
  return number;
}

int LocalModule::append(int computation, Instruction instruction) {
  std::vector<Instruction>& all = at_number(computation).instructions;
  all.push_back(std::move(instruction));
  at_number(computation).root = static_cast<int>(all.size()) - 1;
  return at_number(computation).root;
}

// [groups,size]<=[sizes]T(order): the axes of a group behind all others, each cut where a piece of it begins
// or ends.
std::string LocalModule::groups(const AxisList& axes) const {
  std::string sizes, others, members;
  int position = 0, size = 1, devices = 1;
  for (std::size_t a = 0; a < mesh_.axes.size(); ++a) {
    const int whole = mesh_.axes[a].size;
    std::set<int> bounds = {1, whole};
    for (const AxisRef& axis : axes)
      if (at(axis.axis) == a) bounds.insert({axis.pre, axis.pre * axis.size});
    for (auto bound = bounds.begin(); std::next(bound) != bounds.end(); ++bound) {
      const int piece = *std::next(bound) / *bound;
      const bool varies = std::ranges::any_of(axes, [&](const AxisRef& axis) {
        return at(axis.axis) == a && axis.pre <= *bound && *bound < axis.pre * axis.size;
      });
      sizes += (sizes.empty() ? "" : ",") + std::to_string(piece);
      (varies ? members : others) += "," + std::to_string(position++);
      size *= varies ? piece : 1;
      devices *= piece;
    }
  }
  return "[" + std::to_string(devices / size) + "," + std::to_string(size) + "]<=[" + sizes + "]T(" +
         (others + members).substr(1) + ")";
}

int LocalModule::reshard(int computation, const Shape& shape, int from, const std::vector<PlanStep>& steps) {
  for (const PlanStep& step : steps) {
    Shape local = local_shape(shape, step.after);
    const std::string base = at_number(computation).instructions[at(from)].name;
    const std::string kind = collective_name(step.kind);
    if (kind.empty()) {
      from = append(computation, new_instruction(base + ".slice", "dynamic-slice", std::move(local), {from}));
      continue;
    }
    Instruction collective = new_instruction(base + "." + kind, kind, std::move(local), {from});
    collective.attributes.add("replica_groups", groups(step.axes));
    collective.attributes.add("channel_id", "1");
    collective.attributes.add("use_global_device_ids", "true");
    from = append(computation, std::move(collective));
  }
  return from;
}

int LocalModule::tuple(int computation, const std::vector<int>& parts) {
  Shape shape;
  for (const int part : parts) shape.leaves.push_back(at_number(computation).instructions[at(part)].shape);
  return append(computation, new_instruction("tuple", "tuple", std::move(shape), parts));
}

std::vector<int> LocalModule::elements(int computation, int tuple) {
  const Shape shape = at_number(computation).instructions[at(tuple)].shape;
  std::vector<int> parts;
  for (std::size_t i = 0; i < shape.leaves.size(); ++i) {
    Instruction element = new_instruction("element", "get-tuple-element", shape.leaves[i], {tuple});
    element.attributes.add("index", std::to_string(i));
    parts.push_back(append(computation, std::move(element)));
  }
  return parts;
}

hlo::Module LocalModule::finish(int entry) {
  module_.entry = entry;
  return std::move(module_);
}

}  // namespace podsim::partitioning
