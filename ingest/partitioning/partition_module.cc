// Propagation over the whole list at once, then operation by operation: each is cut where that sends least,
// from wherever its operands were left.
#include "ingest/partitioning/partition_module.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/index.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/partitioning/completion.h"
#include "ingest/partitioning/local_module.h"
#include "ingest/partitioning/operation_rules.h"
#include "ingest/partitioning/program.h"
#include "ingest/partitioning/window_rules.h"
#include "ingest/partitioning/written_operations.h"
#include "workload/op_planning/op_plan.h"
#include "workload/op_planning/operation_halos.h"

namespace podsim::partitioning {
namespace {

using hlo::Instruction;
using hlo::Shape;

class ModulePartitioner {
 public:
  ModulePartitioner(const hlo::Module& module, const hlo::LoopCounts& loops, const Program& program,
                    const Mesh& mesh)
      : module_(module),
        loops_(loops),
        program_(program),
        mesh_(mesh),
        local_(module, mesh),
        completed_(complete(program, mesh)) {
    copies_.resize(program.arrays.size());
    for (const Region& region : program.regions)
      computations_.push_back(local_.begin_computation(region.name));
  }

  PartitionedModule run() {
    made_.mesh = mesh_;
    made_.unread = program_.unread;
    made_.conflicts = static_cast<std::int64_t>(completed_.found.conflicts.size());
    for (const Node& node : program_.nodes) place(node);
    std::vector<int> outputs;
    for (const int output : program_.outputs) outputs.push_back(copy(output, wanted(output)));
    local_.tuple(computations_.front(), outputs);
    made_.local = local_.finish(computations_.front());
    return std::move(made_);
  }

 private:
  struct Copy {
    Layout layout;
    int instruction = -1;
  };

  const Array& array(int id) const { return program_.arrays[at(id)]; }

  Layout wanted(int id) const {
    if (array(id).manual) return replicated(array(id).shape.dimensions.size());
    return layout_of(completed_.found.annotations[at(id)]);
  }

  // REQUIRES: it is there.
  int copy(int id, const Layout& layout) const {
    for (const Copy& each : copies_[at(id)])
      if (each.layout == layout) return each.instruction;
    return copies_[at(id)].front().instruction;
  }

  void put(int id, const Layout& layout, int instruction) {
    copies_[at(id)].push_back({layout, instruction});
  }

  void place(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kSource:
        return source(node);
      case Node::Kind::kPlanned:
        return planned(node);
      case Node::Kind::kWhole:
        return whole(node);
      case Node::Kind::kManual:
        return manual(node);
      case Node::Kind::kBorder:
        return border(node);
      case Node::Kind::kLoopBegin:
        return loop_begin(node);
      case Node::Kind::kLoopEnd:
        return loop_end(node);
    }
  }

  void source(const Node& node) {
    const int computation = computations_[at(node.region)];
    for (const int result : node.results) {
      const Layout layout = wanted(result);
      Instruction made = *node.from;
      made.shape = local_shape(array(result).shape, layout);
      put(result, layout, local_.append(computation, std::move(made)));
    }
  }

  OperationRecord record(const Node& node, const std::string& treatment) const {
    OperationRecord record;
    record.name = node.name;
    record.opcode = node.from->opcode;
    if (record.opcode == "custom-call") record.opcode += " " + hlo::call_target(*node.from);
    const Region& region = program_.regions[at(node.region)];
    record.loop = node.region == 0 ? "" : region.name;
    record.runs = region.runs;
    record.treatment = treatment;
    return record;
  }

  std::string origin_of(int id) const {
    std::set<std::string> names;
    std::string text;
    for (const auto& dimension : completed_.found.origins[at(id)])
      for (const Origin& origin : dimension) {
        const std::string name = origin.op < 0 ? "annotated"
                                               : "from " + completed_.tensors[at(origin.source)].name +
                                                     " by " + completed_.ops[at(origin.op)].name;
        if (names.insert(name).second) text += (text.empty() ? "" : ", ") + name;
      }
    return text;
  }

  std::string result_text(int id) const {
    const std::string origin = origin_of(id);
    return array(id).name + " " + to_string(mesh_, wanted(id)) + (origin.empty() ? "" : " (" + origin + ")");
  }

  void add_steps(OperationRecord& record, const std::vector<PlanStep>& steps, int id,
                 const std::string& why) {
    for (const PlanStep& step : steps) {
      MadeCollective made;
      made.kind = collective_name(step.kind);
      if (made.kind.empty()) continue;
      made.tensor = array(id).name;
      made.axes = to_string(mesh_, canonical(step.axes));
      made.group = shard_count(step.axes);
      made.operand_bytes = std::llround(step.operand.value);
      made.result_bytes = std::llround(step.result.value);
      made.sent_bytes = step.sent.value;
      made.why = why;
      for (int i = 0; i < step.count; ++i) record.collectives.push_back(made);
    }
  }

  // The operand goes from a copy of it to another layout, and stays there for later operations.
  int bring(OperationRecord& record, int region, int id, const Layout& from, const Layout& to,
            const std::vector<PlanStep>& steps) {
    add_steps(record, steps, id,
              "operand " + array(id).name + " lies on " + to_string(mesh_, from) + " and is needed on " +
                  to_string(mesh_, to));
    const int start = copy(id, from);
    if (steps.empty()) return start;
    const int made = local_.reshard(computations_[at(region)], array(id).shape, start, steps);
    if (std::ranges::none_of(copies_[at(id)], [&](const Copy& each) { return each.layout == to; }))
      put(id, to, made);
    return made;
  }

  int bring(OperationRecord& record, int region, int id, const Layout& to) {
    const Layout from = copies_[at(id)].front().layout;
    for (const Copy& each : copies_[at(id)])
      if (each.layout == to) return each.instruction;
    return bring(record, region, id, from, to,
                 plan_reshard(mesh_, tensor_shape(array(id).shape), from, to, cost_));
  }

  OpPlan plan(const Node& node) const {
    OpProblem problem{.rule = node.rule, .operands = {}, .results = {}};
    std::vector<TensorShape> shapes;
    for (const std::vector<int>& operand : node.operands) {
      OpOperand& made = problem.operands.emplace_back();
      shapes.push_back(made.shape = tensor_shape(array(operand.front()).shape));
      for (const Copy& each : copies_[at(operand.front())]) made.available.push_back(each.layout);
    }
    for (const int result : node.results)
      problem.results.push_back({.shape = tensor_shape(array(result).shape), .wanted = wanted(result)});
    problem.prepare = halo_exchanges(node.rule, std::move(shapes));
    problem.flops_per_point = is_product(node) ? 2 : 0;
    return plan_op(mesh_, problem, cost_);
  }

  void planned(const Node& node) {
    OperationRecord made = record(node, "partitioned");
    const OpPlan chosen = plan(node);
    const int computation = computations_[at(node.region)];
    std::vector<int> operands;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const int id = node.operands[i].front();
      made.operands.push_back(array(id).name + " " + to_string(mesh_, chosen.required[i]));
      operands.push_back(
          bring(made, node.region, id, chosen.started[i], chosen.required[i], chosen.operand_steps[i]));
    }
    const std::vector<int> results = instruction(node, operands, chosen.natural);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const int id = node.results[i];
      const AxisList& partial = chosen.natural[i].unreduced;
      add_steps(made, chosen.result_steps[i], id,
                partial.empty() ? "the result is made on " + to_string(mesh_, chosen.natural[i]) +
                                      " and propagation has it on " + to_string(mesh_, wanted(id))
                                : "what is summed is cut by " + to_string(mesh_, partial) +
                                      ": a partial sum on every device");
      put(id, chosen.kept[i],
          local_.reshard(computation, array(id).shape, results[i], chosen.result_steps[i]));
      made.results.push_back(result_text(id));
    }
    if (is_product(node)) {
      made.flops = chosen.flops;
      made.global_flops = product_flops_of(node.rule);
    }
    made_.operations.push_back(std::move(made));
  }

  static bool is_product(const Node& node) {
    return node.from->opcode == "dot" || node.from->opcode == "convolution";
  }

  // The instruction with results of these layouts, and what makes each of them.
  std::vector<int> instruction(const Node& node, const std::vector<int>& operands,
                               const std::vector<Layout>& layouts) {
    const int computation = computations_[at(node.region)];
    Instruction made = *node.from;
    made.operands = operands;
    if (!made.shape.is_tuple()) {
      made.shape = local_shape(made.shape, layouts.front());
      if (made.opcode == "convolution") with_neighbours(node, computation, made);
      return {local_.append(computation, std::move(made))};
    }
    made.shape.leaves.clear();
    for (std::size_t i = 0; i < node.results.size(); ++i)
      made.shape.leaves.push_back(local_shape(array(node.results[i]).shape, layouts[i]));
    return local_.elements(computation, local_.append(computation, std::move(made)));
  }

  // What comes from neighbours stands beside the shard.
  void with_neighbours(const Node& node, int computation, Instruction& convolution) {
    const auto whole = [&](std::size_t i) { return array(node.operands[i].front()).shape; };
    const Shape shard = local_.shape_of(computation, convolution.operands[0]);
    Shape input = shard;
    fit_local_convolution(convolution, input, whole(0), local_.shape_of(computation, convolution.operands[1]),
                          whole(1), convolution.shape, array(node.results.front()).shape);
    if (input.dimensions != shard.dimensions)
      convolution.operands[0] =
          local_.append(computation, new_instruction(convolution.name + ".halo", "concatenate",
                                                     std::move(input), {convolution.operands[0]}));
  }

  // Operands as each device has them: a tuple is put together again.
  std::vector<int> gathered(OperationRecord& record, const Node& node) {
    std::vector<int> operands;
    for (const std::vector<int>& operand : node.operands) {
      std::vector<int> parts;
      for (const int id : operand) {
        const std::size_t rank = array(id).shape.dimensions.size();
        parts.push_back(bring(record, node.region, id, replicated(rank)));
      }
      operands.push_back(parts.size() == 1 ? parts.front()
                                           : local_.tuple(computations_[at(node.region)], parts));
    }
    return operands;
  }

  std::vector<Layout> whole_layouts(const Node& node) const {
    std::vector<Layout> layouts;
    for (const int id : node.results) layouts.push_back(replicated(array(id).shape.dimensions.size()));
    return layouts;
  }

  void whole(const Node& node) {
    OperationRecord made = record(node, "whole on every device");
    ++made_.not_planned[made.opcode];
    const std::vector<Layout> layouts = whole_layouts(node);
    const std::vector<int> results = instruction(node, gathered(made, node), layouts);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      put(node.results[i], layouts[i], results[i]);
      made.results.push_back(array(node.results[i]).name + " " + to_string(mesh_, layouts[i]));
    }
    add_unplanned(node, std::move(made));
  }

  // As it is written: what it sends, too.
  void manual(const Node& node) {
    OperationRecord made = record(node, "manual");
    if (!hlo::collective_kind(node.from->opcode).empty())
      made.collectives.push_back(manual_collective(program_, node, mesh_.devices()));
    const std::vector<int> results = instruction(node, gathered(made, node), whole_layouts(node));
    for (std::size_t i = 0; i < node.results.size(); ++i)
      put(node.results[i], replicated(array(node.results[i]).shape.dimensions.size()), results[i]);
    if (node.from->opcode == "dot") made.flops = made.global_flops = manual_flops(program_, node);
    add_unplanned(node, std::move(made));
  }

  // With what branches do, which every device runs as they are written.
  void add_unplanned(const Node& node, OperationRecord made) {
    std::vector<OperationRecord> inside;
    if (node.from->opcode == "conditional") inside = branch_operations(module_, loops_, *node.from, made);
    made_.operations.push_back(std::move(made));
    for (OperationRecord& each : inside) made_.operations.push_back(std::move(each));
  }

  // Shards of one shape become arrays of another, and nothing moves.
  void border(const Node& node) {
    OperationRecord made = record(node, "border");
    const int id = node.operands.front().front(), result = node.results.front();
    const int from = bring(made, node.region, id, wanted(id));
    put(result, wanted(result), from);
    made.operands.push_back(array(id).name + " " + to_string(mesh_, wanted(id)));
    if (!array(result).manual) made.results.push_back(result_text(result));
    made_.operations.push_back(std::move(made));
  }

  std::vector<int> bring_all(OperationRecord& record, int region, const std::vector<int>& arrays,
                             const std::vector<int>& like) {
    std::vector<int> parts;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      parts.push_back(bring(record, region, arrays[i], wanted(like[i])));
    return parts;
  }

  void loop_begin(const Node& node) {
    OperationRecord made = record(node, "loop");
    const std::vector<int> parts = bring_all(made, node.region, node.operands.front(), node.results);
    for (const int id : node.results)
      if (!array(id).manual) made.results.push_back(result_text(id));
    made_.operations.push_back(std::move(made));
    begun_[node.body] = {local_.tuple(computations_[at(node.region)], parts), &node};
    Shape shape;
    for (const int id : node.results) shape.leaves.push_back(local_shape(array(id).shape, wanted(id)));
    const int body = computations_[at(node.body)];
    const int parameter =
        local_.append(body, new_instruction(node.name + ".given", "parameter", std::move(shape), {}));
    const std::vector<int> given = local_.elements(body, parameter);
    for (std::size_t i = 0; i < given.size(); ++i) put(node.results[i], wanted(node.results[i]), given[i]);
  }

  void loop_end(const Node& node) {
    const auto& [tuple, begin] = begun_.at(node.body);
    OperationRecord inside = record(node, "loop");
    inside.loop = program_.regions[at(node.body)].name;
    inside.runs = program_.regions[at(node.body)].runs;
    local_.tuple(computations_[at(node.body)],
                 bring_all(inside, node.body, node.operands.front(), begin->results));
    if (!inside.collectives.empty()) made_.operations.push_back(std::move(inside));
    Instruction loop = *node.from;
    loop.operands = {tuple};
    loop.shape.leaves.clear();
    for (const int id : begin->results) loop.shape.leaves.push_back(local_shape(array(id).shape, wanted(id)));
    for (const char* old : {"body", "backend_config"}) loop.attributes.remove(old);
    loop.attributes.add("body", local_.name(computations_[at(node.body)]));
    loop.attributes.add(
        "backend_config",
        R"({"known_trip_count":{"n":")" + std::to_string(program_.regions[at(node.body)].trips) + R"("}})");
    const int computation = computations_[at(node.region)];
    const std::vector<int> left = local_.elements(computation, local_.append(computation, std::move(loop)));
    for (std::size_t i = 0; i < left.size(); ++i) put(node.results[i], wanted(begin->results[i]), left[i]);
  }

  const hlo::Module& module_;
  const hlo::LoopCounts& loops_;
  const Program& program_;
  const Mesh& mesh_;
  LocalModule local_;
  const Completed completed_;
  const SentBytes cost_;
  std::vector<int> computations_;                     // [region]
  std::vector<std::vector<Copy>> copies_;             // [array] where it was left, and copies of it
  std::map<int, std::pair<int, const Node*>> begun_;  // [region of a body] what its loop begins with
  PartitionedModule made_;
};

}  // namespace

std::optional<PartitionedModule> partition_module(const hlo::Module& module, const hlo::LoopCounts& loops,
                                                  const Mesh& mesh, std::string& problem) {
  const auto program = flatten(module, loops, mesh, problem);
  if (!program) return std::nullopt;
  return ModulePartitioner(module, loops, *program, mesh).run();
}

}  // namespace podsim::partitioning
