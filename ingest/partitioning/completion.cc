// One tensor for each array, one operation for each that is planned, and one for each array of a loop.
#include "ingest/partitioning/completion.h"

#include <map>
#include <utility>

#include "engine/index.h"
#include "ingest/partitioning/operation_rules.h"

namespace podsim::partitioning {
namespace {

// What a loop begins with, its body is given and makes, and what it leaves lie alike.
void add_loop_edges(const Program& program, std::vector<ShardedOp>& ops) {
  std::map<int, const Node*> begins;
  for (const Node& node : program.nodes) {
    if (node.kind == Node::Kind::kLoopBegin) begins[node.body] = &node;
    if (node.kind != Node::Kind::kLoopEnd) continue;
    const Node& begin = *begins.at(node.body);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const Array& array = program.arrays[at(node.results[i])];
      if (array.manual) continue;
      ops.push_back({.name = node.name,
                     .rule = same_layout(array.shape, 2, 2),
                     .operands = {begin.operands[0][i], node.operands[0][i]},
                     .results = {begin.results[i], node.results[i]}});
    }
  }
}

}  // namespace

Completed complete(const Program& program, const Mesh& mesh) {
  Completed made;
  for (const Array& array : program.arrays)
    made.tensors.push_back(
        {.name = array.name, .dims = array.shape.dimensions, .annotation = array.annotation});
  for (const Node& node : program.nodes) {
    if (node.kind != Node::Kind::kPlanned) continue;
    ShardedOp op{.name = node.name, .rule = node.rule, .operands = {}, .results = node.results};
    for (const std::vector<int>& operand : node.operands) op.operands.push_back(operand.front());
    made.ops.push_back(std::move(op));
  }
  add_loop_edges(program, made.ops);
  made.found = propagate(mesh, made.tensors, made.ops);
  return made;
}

}  // namespace podsim::partitioning
