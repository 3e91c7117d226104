// Walks the entry and what it calls.
#include "ingest/partitioning/program.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/index.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/partitioning/device_mesh.h"
#include "ingest/partitioning/operation_rules.h"

namespace podsim::partitioning {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Shape;

constexpr std::size_t kMostNodes = 1'000'000;

struct Refused {
  std::string why;
};

void leaves_of(const Shape& shape, std::vector<Shape>& leaves) {
  if (!shape.is_tuple()) return leaves.push_back(shape);
  for (const Shape& leaf : shape.leaves) leaves_of(leaf, leaves);
}

std::vector<Shape> leaves_of(const Shape& shape) {
  std::vector<Shape> leaves;
  leaves_of(shape, leaves);
  return leaves;
}

// What holds several arrays without doing anything to them.
bool passes_on(const std::string& opcode) {
  return opcode == "tuple" || opcode == "opt-barrier" || opcode == "domain" || opcode == "add-dependency";
}

bool is_source(const Instruction& each) {
  return each.opcode == "constant" || each.opcode == "iota" || each.opcode == "parameter";
}

class Flattener {
 public:
  Flattener(const hlo::Module& module, const hlo::LoopCounts& loops, const Mesh& mesh)
      : module_(module), loops_(loops), mesh_(mesh) {}

  Program run() {
    const Computation& entry = module_.entry_computation();
    program_.regions.push_back({entry.name});
    std::vector<Arrays> arguments;
    for (const int parameter : entry.parameters)
      arguments.push_back(source(entry.instructions[at(parameter)]));
    program_.outputs = walk(entry, arguments, 0);
    return std::move(program_);
  }

 private:
  using Arrays = std::vector<int>;

  // The arrays of the root, with the computation's instructions in line.
  Arrays walk(const Computation& computation, const std::vector<Arrays>& arguments, int region) {
    std::vector<Arrays> made(computation.instructions.size());
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& each = computation.instructions[i];
      for (const int operand : each.operands)
        if (at(operand) >= i) throw Refused{"\"" + each.name + "\" stands before its operand"};
      if (program_.nodes.size() > kMostNodes)
        throw Refused{"more than a million operations once its calls are in line"};
      made[i] = each.opcode == "parameter" ? argument(each, arguments)
                                           : instruction(computation, made, each, region);
    }
    return made[at(computation.root)];
  }

  static Arrays argument(const Instruction& parameter, const std::vector<Arrays>& arguments) {
    const std::vector<std::int64_t> number = hlo::list_of(parameter.literal());
    if (number.size() != 1 || number[0] >= static_cast<std::int64_t>(arguments.size()))
      throw Refused{"\"" + parameter.name + "\" is a parameter that no call gives"};
    return arguments[static_cast<std::size_t>(number[0])];
  }

  Arrays instruction(const Computation& computation, const std::vector<Arrays>& made, const Instruction& each,
                     int region) {
    std::vector<Arrays> operands;
    for (const int operand : each.operands) operands.push_back(made[at(operand)]);
    if (passes_on(each.opcode)) return passed_on(each, operands);
    if (each.opcode == "get-tuple-element") return element(computation, each, operands.front());
    if (each.opcode == "while") return loop(each, operands.front(), region);
    const char* called = each.opcode == "call" ? (each.has("to_apply") ? "to_apply" : "calls") : "calls";
    if (each.opcode == "call" || each.opcode == "fusion") {
      const Computation& body = module_.computations[at(module_.find(each.attribute(called)))];
      return walk(body, operands, region);
    }
    if (is_source(each)) return source(each, region);
    return operation(each, operands, region);
  }

  Arrays passed_on(const Instruction& each, const std::vector<Arrays>& operands) {
    Arrays all;
    for (const Arrays& operand : operands) {
      all.insert(all.end(), operand.begin(), operand.end());
      if (each.opcode == "add-dependency") break;
    }
    return all;
  }

  static Arrays element(const Computation& computation, const Instruction& each, const Arrays& tuple) {
    const Shape& shape = computation.operand(each, 0).shape;
    const std::vector<std::int64_t> index = hlo::list_of(each.attribute("index"));
    if (index.size() != 1 || index[0] >= static_cast<std::int64_t>(shape.leaves.size()))
      throw Refused{"\"" + each.name + "\" names no element"};
    std::size_t begin = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(index[0]); ++i)
      begin += leaves_of(shape.leaves[i]).size();
    const std::size_t count = leaves_of(shape.leaves[static_cast<std::size_t>(index[0])]).size();
    if (begin + count > tuple.size()) throw Refused{"\"" + each.name + "\" names no element"};
    return {tuple.begin() + static_cast<std::ptrdiff_t>(begin),
            tuple.begin() + static_cast<std::ptrdiff_t>(begin + count)};
  }

  int array(const std::string& name, const Shape& shape, bool manual) {
    program_.arrays.push_back({name, shape, unset(shape.dimensions.size()), manual});
    return static_cast<int>(program_.arrays.size()) - 1;
  }

  Arrays arrays(const Instruction& each, bool manual) {
    Arrays made;
    const std::vector<Shape> shapes = leaves_of(each.shape);
    for (std::size_t i = 0; i < shapes.size(); ++i)
      made.push_back(
          array(shapes.size() == 1 ? each.name : each.name + "#" + std::to_string(i), shapes[i], manual));
    if (!manual) annotate(each, made);
    return made;
  }

  void annotate(const Instruction& each, const Arrays& made) {
    const std::string_view shardy = each.attribute("shardy");
    if (!shardy.empty() && made.size() == 1) {
      Array& of = program_.arrays[at(made.front())];
      const auto parsed =
          parse_annotation(mesh_, of.shape.dimensions.size(), shardy.substr(1, shardy.size() - 2));
      if (parsed.problem)
        unread(shardy);
      else
        of.annotation = parsed.annotation;
    }
    if (!each.has("sharding")) return;
    const std::vector<std::string_view> shardings = sharding_leaves(each.attribute("sharding"));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (shardings.size() != 1 && shardings.size() != made.size()) return unread(each.attribute("sharding"));
      const std::string_view sharding = shardings[shardings.size() == 1 ? 0 : i];
      Array& of = program_.arrays[at(made[i])];
      if (const auto annotation = annotation_of(mesh_, of.shape.dimensions.size(), sharding))
        of.annotation = *annotation;
      else if (!sharding.starts_with("{manual") && !sharding.starts_with("{unknown"))
        unread(sharding);
    }
  }

  void unread(std::string_view sharding) {
    if (unread_.insert(std::string(sharding)).second) program_.unread.emplace_back(sharding);
  }

  Arrays source(const Instruction& each, int region = 0) {
    Node node{Node::Kind::kSource, each.name, &each, region};
    node.results = arrays(each, false);
    return add(std::move(node));
  }

  Arrays add(Node node) {
    program_.nodes.push_back(std::move(node));
    return program_.nodes.back().results;
  }

  bool any_manual(const std::vector<Arrays>& operands) const {
    for (const Arrays& operand : operands)
      for (const int each : operand)
        if (program_.arrays[at(each)].manual) return true;
    return false;
  }

  Arrays operation(const Instruction& each, const std::vector<Arrays>& operands, int region) {
    Node node{Node::Kind::kWhole, each.name, &each, region};
    node.operands = operands;
    const std::string target = each.opcode == "custom-call" ? hlo::call_target(each) : "";
    const bool enters = target == "SPMDFullToShardShape", leaves = target == "SPMDShardToFullShape";
    const bool manual = enters || (!leaves && any_manual(operands));
    node.results = arrays(each, manual);
    const bool one = operands.size() == 1 && operands.front().size() == 1 && node.results.size() == 1;
    if ((enters || leaves) && !one) throw Refused{"\"" + each.name + "\" takes and makes one array"};
    if (enters || leaves) {
      node.kind = Node::Kind::kBorder;
    } else if (manual) {
      node.kind = Node::Kind::kManual;
    } else if (auto rule = cut_of(each, node)) {
      node.kind = Node::Kind::kPlanned;
      node.rule = *std::move(rule);
    }
    return add(std::move(node));
  }

  // Nothing where an operand is a tuple or has more dimensions than plans have.
  std::optional<OpRule> cut_of(const Instruction& each, const Node& node) const {
    constexpr std::size_t kMostDimensions = 8;
    std::vector<Shape> operands, results;
    for (const Arrays& operand : node.operands) {
      if (operand.size() != 1) return std::nullopt;
      operands.push_back(program_.arrays[at(operand.front())].shape);
    }
    for (const int result : node.results) results.push_back(program_.arrays[at(result)].shape);
    for (const std::vector<Shape>* shapes : {&operands, &results})
      for (const Shape& shape : *shapes)
        if (shape.dimensions.size() > kMostDimensions) return std::nullopt;
    return rule_of(module_, each, operands, results);
  }

  // The body is given arrays of its own, and the loop leaves others.
  Arrays loop(const Instruction& each, const Arrays& initial, int region) {
    const auto found = loops_.of.find(&each);
    const std::int64_t trips = found == loops_.of.end() ? 1 : found->second.trips;
    const int body = static_cast<int>(program_.regions.size());
    program_.regions.push_back(
        {each.name, trips, hlo::saturating_multiply(trips, program_.regions[at(region)].runs)});
    const auto copies = [&](const std::string& of) {
      Arrays made;
      for (const int from : initial) {
        const Array like = program_.arrays[at(from)];
        made.push_back(array(each.name + of + std::to_string(made.size()), like.shape, like.manual));
      }
      return made;
    };
    Node begin{Node::Kind::kLoopBegin, each.name, &each, region, body, {initial}};
    begin.results = copies(".body#");
    annotate(each, begin.results);
    const Arrays given = add(std::move(begin));
    const Computation& inside = module_.computations[at(module_.find(each.attribute("body")))];
    const Arrays made = walk(inside, {given}, body);
    if (made.size() != initial.size()) throw Refused{"the body of \"" + each.name + "\" makes another tuple"};
    Node end{Node::Kind::kLoopEnd, each.name, &each, region, body, {made}};
    end.results = copies("#");
    return add(std::move(end));
  }

  const hlo::Module& module_;
  const hlo::LoopCounts& loops_;
  const Mesh& mesh_;
  Program program_;
  std::set<std::string> unread_;
};

}  // namespace

std::optional<Program> flatten(const hlo::Module& module, const hlo::LoopCounts& loops, const Mesh& mesh,
                               std::string& problem) {
  try {
    return Flattener(module, loops, mesh).run();
  } catch (const Refused& refused) {
    problem = refused.why;
    return std::nullopt;
  }
}

}  // namespace podsim::partitioning
