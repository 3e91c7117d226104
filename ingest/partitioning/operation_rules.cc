// One rule for each form of operation.
#include "ingest/partitioning/operation_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/partitioning/indexed_rules.h"
#include "ingest/partitioning/window_rules.h"

namespace podsim::partitioning {
namespace {

using hlo::Instruction;
using hlo::Shape;
using Shapes = std::vector<Shape>;

std::vector<int> positions(std::string_view text, std::size_t rank, bool& valid) {
  std::vector<int> found;
  for (const std::int64_t d : hlo::list_of(text)) {
    valid = valid && d < static_cast<std::int64_t>(rank);
    found.push_back(static_cast<int>(d));
  }
  return found;
}

// Scalars among the operands have nothing to cut.
std::optional<OpRule> elementwise(const Shapes& operands, const Shape& result) {
  OpRule rule = same_layout(result, operands.size(), 1);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].dimensions == result.dimensions) continue;
    if (!operands[i].dimensions.empty()) return std::nullopt;
    rule.operands[i].clear();
  }
  return rule;
}

// Letters as in an einsum: batch dimensions first, then those of each side, then the contracted ones.
std::optional<OpRule> product(const Instruction& dot, const Shapes& operands, const Shape& result) {
  if (operands.size() != 2) return std::nullopt;
  const Shape &left = operands[0], &right = operands[1];
  bool valid = true;
  const auto of = [&](const char* key, const Shape& shape) {
    return positions(dot.attribute(key), shape.dimensions.size(), valid);
  };
  const std::vector<int> left_batch = of("lhs_batch_dims", left), right_batch = of("rhs_batch_dims", right),
                         left_sum = of("lhs_contracting_dims", left),
                         right_sum = of("rhs_contracting_dims", right);
  if (!valid || left_batch.size() != right_batch.size() || left_sum.size() != right_sum.size())
    return std::nullopt;
  std::string of_left(left.dimensions.size(), 0), of_right(right.dimensions.size(), 0), of_result;
  char next = 'A';
  const auto pair = [&](const std::vector<int>& lefts, const std::vector<int>& rights) {
    for (std::size_t i = 0; i < lefts.size(); ++i)
      of_left[static_cast<std::size_t>(lefts[i])] = of_right[static_cast<std::size_t>(rights[i])] = next++;
  };
  pair(left_batch, right_batch);
  for (char letter = 'A'; letter < next; ++letter) of_result += letter;
  pair(left_sum, right_sum);
  for (std::string* letters : {&of_left, &of_right})
    for (char& letter : *letters)
      if (letter == 0) of_result += letter = next++;
  if (of_result.size() != result.dimensions.size()) return std::nullopt;
  return einsum_rule({of_left, of_right}, {of_result}, {left.dimensions, right.dimensions},
                     {result.dimensions});
}

// Several arrays reduced together (the largest with its place) are no sum of parts.
std::optional<OpRule> reduction(const Instruction& reduce, const Shapes& operands, const Shapes& results) {
  const std::size_t arrays = results.size();
  if (operands.size() != 2 * arrays) return std::nullopt;
  bool valid = true;
  const std::vector<int> gone =
      positions(reduce.attribute("dimensions"), operands[0].dimensions.size(), valid);
  if (!valid) return std::nullopt;
  OpRule rule = reduce_rule(operands[0].dimensions, gone);
  if (arrays > 1)
    for (const int dimension : gone)
      rule.factors[static_cast<std::size_t>(dimension)].kind = FactorKind::kNeedReplication;
  rule.operands.assign(arrays, rule.operands.front());
  rule.operands.resize(operands.size());  // what each begins with
  rule.results.assign(arrays, rule.results.front());
  return rule;
}

std::optional<OpRule> broadcast(const Instruction& instruction, const Shape& operand, const Shape& result) {
  bool valid = true;
  const std::vector<int> to = positions(instruction.attribute("dimensions"), result.dimensions.size(), valid);
  if (!valid || to.size() != operand.dimensions.size()) return std::nullopt;
  return broadcast_rule(operand.dimensions, result.dimensions, to);
}

std::optional<OpRule> transposition(const Instruction& instruction, const Shape& operand) {
  bool valid = true;
  const std::vector<int> from =
      positions(instruction.attribute("dimensions"), operand.dimensions.size(), valid);
  if (!valid || from.size() != operand.dimensions.size()) return std::nullopt;
  return transpose_rule(operand.dimensions, from);
}

std::optional<OpRule> joined(const Instruction& instruction, const Shapes& operands) {
  const std::vector<std::int64_t> along = hlo::list_of(instruction.attribute("dimensions"));
  std::vector<std::vector<std::int64_t>> sizes;
  for (const Shape& operand : operands) sizes.push_back(operand.dimensions);
  if (along.size() != 1 || sizes.empty() || along[0] >= static_cast<std::int64_t>(sizes[0].size()))
    return std::nullopt;
  return concatenate_rule(sizes, static_cast<int>(along[0]));
}

// A dimension that is taken from where an index says is whole; those that are taken whole may be cut.
std::optional<OpRule> part(const Shapes& operands, const Shape& result) {
  const Shape& whole = operands.front();
  if (whole.dimensions.size() != result.dimensions.size()) return std::nullopt;
  OpRule rule = dynamic_slice_rule(whole.dimensions, result.dimensions);
  rule.rule_class = RuleClass::kElementwise;
  rule.operands.resize(operands.size());  // indices
  return rule;
}

std::optional<OpRule> update(const Shapes& operands) {
  if (operands.size() < 2 || operands[0].dimensions.size() != operands[1].dimensions.size())
    return std::nullopt;
  OpRule rule = dynamic_update_slice_rule(operands[0].dimensions, operands[1].dimensions);
  rule.operands.resize(operands.size());
  return rule;
}

// Several arrays sorted together.
std::optional<OpRule> sorted(const Instruction& sort, const Shapes& operands, const Shapes& results) {
  bool valid = operands.size() == results.size();
  for (const Shape& operand : operands) valid = valid && operand.dimensions == operands[0].dimensions;
  const std::vector<int> along =
      positions(sort.attribute("dimensions"), operands[0].dimensions.size(), valid);
  if (!valid || along.size() > 1) return std::nullopt;
  std::vector<int> whole = along;
  if (whole.empty()) whole.push_back(static_cast<int>(operands[0].dimensions.size()) - 1);
  if (operands[0].dimensions.empty()) return std::nullopt;
  OpRule rule = whole_dim_rule(operands[0].dimensions, whole, static_cast<int>(results.size()));
  rule.operands.assign(operands.size(), rule.operands.front());
  return rule;
}

// The largest of each row: values and places, k of the last dimension.
std::optional<OpRule> largest(const Shapes& operands, const Shapes& results) {
  const std::vector<std::int64_t>& from = operands[0].dimensions;
  if (operands.size() != 1 || from.empty()) return std::nullopt;
  for (const Shape& result : results) {
    if (result.dimensions.size() != from.size()) return std::nullopt;
    if (!std::equal(from.begin(), from.end() - 1, result.dimensions.begin())) return std::nullopt;
  }
  const int last = static_cast<int>(from.size()) - 1;
  OpRule rule = whole_dim_rule(from, {last}, static_cast<int>(results.size()));
  for (FactorMap& map : rule.results) map.back().clear();
  return rule;
}

std::optional<OpRule> turned(const Instruction& reverse, const Shape& operand) {
  bool valid = true;
  const std::vector<int> along = positions(reverse.attribute("dimensions"), operand.dimensions.size(), valid);
  return valid ? std::optional(whole_dim_rule(operand.dimensions, along, 1)) : std::nullopt;
}

std::optional<OpRule> reshaped(const Shape& operand, const Shape& result) {
  if (operand.elements() != result.elements() || operand.elements() == 0) return std::nullopt;
  return reshape_rule(operand.dimensions, result.dimensions);
}

}  // namespace

OpRule same_layout(const Shape& shape, std::size_t operands, std::size_t results) {
  OpRule rule = elementwise_rule(shape.dimensions, static_cast<int>(operands));
  rule.results.assign(results, rule.results.front());
  return rule;
}

double product_flops_of(const OpRule& rule) {
  double flops = 2;
  for (const Factor& factor : rule.factors) flops *= static_cast<double>(factor.size);
  return flops;
}

bool is_annotation(const Instruction& instruction) {
  constexpr std::array<std::string_view, 5> kPassing = {
      "Sharding", "xla.sdy.FuncResultSharding", "annotate_device_placement", "MoveToHost", "MoveToDevice"};
  return instruction.opcode == "custom-call" &&
         std::ranges::count(kPassing, std::string_view(hlo::call_target(instruction))) > 0;
}

std::optional<OpRule> rule_of(const hlo::Module& module, const Instruction& instruction,
                              const Shapes& operands, const Shapes& results) {
  const std::string& opcode = instruction.opcode;
  if (results.empty() || operands.empty()) return std::nullopt;
  for (const Shapes* shapes : {&operands, &results})
    for (const Shape& shape : *shapes)
      if (shape.elements() == 0) return std::nullopt;
  const Shape &first = operands.front(), &result = results.front();
  if (opcode == "reduce") return reduction(instruction, operands, results);
  if (opcode == "sort") return sorted(instruction, operands, results);
  if (opcode == "scatter")
    return scatter_of(instruction, operands, results, is_combined(module, instruction));
  if (opcode == "topk" || (opcode == "custom-call" && hlo::call_target(instruction) == "TopK"))
    return largest(operands, results);
  if (results.size() != 1) return std::nullopt;
  if (hlo::is_elementwise(opcode) || hlo::is_transcendental(opcode) || opcode == "copy" ||
      is_annotation(instruction))
    return elementwise(operands, result);
  if (opcode == "dot") return product(instruction, operands, result);
  if (opcode == "broadcast") return broadcast(instruction, first, result);
  if (opcode == "transpose") return transposition(instruction, first);
  if (opcode == "reshape" || opcode == "bitcast") return reshaped(first, result);
  if (opcode == "concatenate") return joined(instruction, operands);
  if (opcode == "dynamic-slice") return part(operands, result);
  if (opcode == "slice") return slice_of(instruction, first, result);
  if (opcode == "pad") return pad_of(instruction, operands, result);
  if (opcode == "select-and-scatter") return select_and_scatter_of(instruction, operands, result);
  if (opcode == "dynamic-update-slice") return update(operands);
  if (opcode == "gather") return gather_of(instruction, operands, result);
  if (opcode == "convolution") return convolution_of(instruction, operands, result);
  if (opcode == "reduce-window") return windowed_reduction(instruction, operands, result);
  if (opcode == "reverse") return turned(instruction, first);
  return std::nullopt;
}

}  // namespace podsim::partitioning
