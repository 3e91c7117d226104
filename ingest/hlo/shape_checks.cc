// One rule for each form of operation: lengths of the result from those of the operands.
#include "ingest/hlo/shape_checks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/number_text.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/hlo/scanner.h"
#include "ingest/hlo/window_checks.h"

namespace podsim::hlo {
namespace {

using Lengths = ShortList<std::int64_t, 2>;

bool in_range(const std::vector<std::int64_t>& dimensions, const Lengths& lengths) {
  return std::ranges::all_of(
      dimensions, [&](std::int64_t d) { return d >= 0 && d < static_cast<std::int64_t>(lengths.size()); });
}

// Without the dimensions named.
Lengths without(const Lengths& lengths, const std::vector<std::int64_t>& dimensions) {
  Lengths left;
  for (std::size_t d = 0; d < lengths.size(); ++d)
    if (std::ranges::count(dimensions, static_cast<std::int64_t>(d)) == 0) left.push_back(lengths[d]);
  return left;
}

Lengths at(const Lengths& lengths, const std::vector<std::int64_t>& dimensions) {
  Lengths found;
  for (const std::int64_t d : dimensions) found.push_back(lengths[static_cast<std::size_t>(d)]);
  return found;
}

class ShapeChecker {
 public:
  ShapeChecker(const std::string& file, const Module& module) : file_(file), module_(module) {}

  void check(const Computation& computation) {
    computation_ = &computation;
    for (const Instruction& each : computation.instructions) check(each);
  }

 private:
  const Shape& operand(const Instruction& each, std::size_t i) const {
    return computation_->operand(each, i).shape;
  }

  void refuse(const Instruction& each, const std::string& from) const {
    fail_in_line(
        file_, each.line,
        "\"" + each.name + "\": " + each.opcode.text() + " gives " + shape_words(each.shape) + ", " + from);
  }

  void check(const Instruction& each) {
    const std::string& opcode = each.opcode;
    if (is_elementwise(opcode) || is_transcendental(opcode)) return elementwise(each);
    if (opcode == "copy" || opcode == "reverse") return same(each);
    if (opcode == "dot") return dot(each);
    if (opcode == "broadcast") return broadcast(each);
    if (opcode == "reshape") return rearranged(each);
    if (opcode == "transpose") return transpose(each);
    if (opcode == "concatenate") return concatenate(each);
    if (opcode == "reduce") return reduce(each);
    if (opcode == "dynamic-slice") return part(each, list_of(each.attribute("dynamic_slice_sizes")));
    if (opcode == "dynamic-update-slice") return update(each);
    if (opcode == "convolution" || opcode == "reduce-window" || opcode == "slice" || opcode == "pad")
      return windows(each);
    if (opcode == "get-tuple-element") return element(each);
    if (opcode == "tuple") return tuple(each);
    if (opcode == "fusion" || opcode == "call") return call(each);
    if (opcode == "while") return loop(each);
  }

  void lengths_are(const Instruction& each, const Lengths& lengths) const {
    if (each.shape.is_tuple() || each.shape.dimensions == lengths) return;
    Shape made = each.shape;
    made.dimensions = lengths;
    refuse(each, "its operands make it " + shape_words(made));
  }

  // Bounds of a clamp and the condition of a select may be scalars; a bitcast may join or part elements.
  void elementwise(const Instruction& each) const {
    if (each.opcode == "bitcast-convert") return;
    const bool scalars = each.opcode == "clamp" || each.opcode == "select";
    for (std::size_t i = 0; i < each.operands.size(); ++i) {
      const Shape& shape = operand(each, i);
      if (shape.is_tuple() || (scalars && shape.dimensions.empty())) continue;
      lengths_are(each, shape.dimensions);
    }
  }

  void same(const Instruction& each) const {
    if (each.operands.size() == 1 && !alike(each.shape, operand(each, 0)) && !each.shape.is_tuple())
      refuse(each, "its operand is " + shape_words(operand(each, 0)));
  }

  void dot(const Instruction& each) const {
    const Lengths &left = operand(each, 0).dimensions, &right = operand(each, 1).dimensions;
    const auto left_contracted = list_of(each.attribute("lhs_contracting_dims"));
    const auto right_contracted = list_of(each.attribute("rhs_contracting_dims"));
    const auto left_batch = list_of(each.attribute("lhs_batch_dims"));
    const auto right_batch = list_of(each.attribute("rhs_batch_dims"));
    const bool there = in_range(left_contracted, left) && in_range(right_contracted, right) &&
                       in_range(left_batch, left) && in_range(right_batch, right);
    const bool contracts = there && at(left, left_contracted) == at(right, right_contracted);
    if (!contracts || !(at(left, left_batch) == at(right, right_batch)))
      refuse(each, "but " + shape_words(operand(each, 0)) + " and " + shape_words(operand(each, 1)) +
                       " do not agree in what is " + (contracts ? "a batch" : "contracted"));
    if (each.has("sparsity")) return;
    Lengths made = at(left, left_batch);
    const auto add = [&](const Lengths& lengths, std::vector<std::int64_t> used,
                         const std::vector<std::int64_t>& batch) {
      used.insert(used.end(), batch.begin(), batch.end());
      for (const std::int64_t length : without(lengths, used)) made.push_back(length);
    };
    add(left, left_contracted, left_batch);
    add(right, right_contracted, right_batch);
    lengths_are(each, made);
  }

  void broadcast(const Instruction& each) const {
    const auto dimensions = list_of(each.attribute("dimensions"));
    const Lengths& lengths = operand(each, 0).dimensions;
    if (each.operands.size() == 1 && dimensions.size() == lengths.size() &&
        in_range(dimensions, each.shape.dimensions) && at(each.shape.dimensions, dimensions) == lengths)
      return;
    refuse(each, "which its operand, " + shape_words(operand(each, 0)) + ", is no part of");
  }

  void rearranged(const Instruction& each) const {
    if (each.operands.empty() || each.shape.elements() == operand(each, 0).elements()) return;
    refuse(each, "its operand has as many elements as " + shape_words(operand(each, 0)));
  }

  // Dimension d of the result is that of the operand which stands at place d.
  void transpose(const Instruction& each) const {
    rearranged(each);
    const auto from = list_of(each.attribute("dimensions"));
    if (each.operands.empty()) return;
    const Lengths& lengths = operand(each, 0).dimensions;
    const bool permutes = from.size() == lengths.size() && in_range(from, lengths) &&
                          std::set<std::int64_t>(from.begin(), from.end()).size() == from.size();
    if (!permutes)
      refuse(each,
             "but dimensions={...} names not each dimension of " + shape_words(operand(each, 0)) + " once");
    lengths_are(each, at(lengths, from));
  }

  void concatenate(const Instruction& each) const {
    const auto along = list_of(each.attribute("dimensions"));
    Lengths made = operand(each, 0).dimensions;
    if (along.size() != 1 || !in_range(along, made))
      refuse(each, "but " + shape_words(operand(each, 0)) + " has no dimension " +
                       std::string(each.attribute("dimensions")) + " to join along");
    const auto d = static_cast<std::size_t>(along[0]);
    for (std::size_t i = 1; i < each.operands.size(); ++i) {
      Lengths next = operand(each, i).dimensions;
      const bool fits = next.size() == made.size();
      const std::int64_t length = fits ? next[d] : 0;
      if (fits) next[d] = made[d];
      if (!(next == made))
        refuse(each, "but " + shape_words(operand(each, 0)) + " and " + shape_words(operand(each, i)) +
                         " differ beside dimension " + std::to_string(d));
      made[d] = saturating_add(made[d], length);
    }
    lengths_are(each, made);
  }

  void part(const Instruction& each, const std::vector<std::int64_t>& sizes) const {
    const Lengths& whole = operand(each, 0).dimensions;
    bool inside = sizes.size() == whole.size();
    for (std::size_t d = 0; inside && d < sizes.size(); ++d) inside = sizes[d] <= whole[d];
    if (!inside) refuse(each, "which is no part of " + shape_words(operand(each, 0)));
    Lengths made;
    for (const std::int64_t size : sizes) made.push_back(size);
    lengths_are(each, made);
  }

  void update(const Instruction& each) const {
    const Lengths &whole = operand(each, 0).dimensions, &written = operand(each, 1).dimensions;
    bool inside = written.size() == whole.size();
    for (std::size_t d = 0; inside && d < written.size(); ++d) inside = written[d] <= whole[d];
    if (!inside)
      refuse(each,
             "but " + shape_words(operand(each, 1)) + " is no part of " + shape_words(operand(each, 0)));
    lengths_are(each, whole);
  }

  void windows(const Instruction& each) const {
    std::string problem;
    const auto made = shape_of_windows(*computation_, each, problem);
    if (!problem.empty()) refuse(each, problem);
    if (made) lengths_are(each, made->dimensions);
  }

  void reduce(const Instruction& each) const {
    const auto dimensions = list_of(each.attribute("dimensions"));
    const Lengths& lengths = operand(each, 0).dimensions;
    if (!in_range(dimensions, lengths) ||
        std::set<std::int64_t>(dimensions.begin(), dimensions.end()).size() != dimensions.size())
      refuse(each, "but " + shape_words(operand(each, 0)) + " lacks a dimension that is reduced");
    lengths_are(each, without(lengths, dimensions));
  }

  void element(const Instruction& each) const {
    const Shape& whole = operand(each, 0);
    const auto index = whole_text_as<std::int64_t>(each.attribute("index"));
    const bool there =
        whole.is_tuple() && index && *index >= 0 && *index < static_cast<std::int64_t>(whole.leaves.size());
    if (!there) refuse(each, "but its operand has no element " + std::string(each.attribute("index")));
    const Shape& leaf = whole.leaves[static_cast<std::size_t>(*index)];
    if (!alike(leaf, each.shape)) refuse(each, "but that element is " + shape_words(leaf));
  }

  void tuple(const Instruction& each) const {
    bool same = each.operands.size() == each.shape.leaves.size();
    for (std::size_t i = 0; same && i < each.operands.size(); ++i)
      same = alike(each.shape.leaves[i], operand(each, i));
    if (!same) refuse(each, "but its operands are others");
  }

  void call(const Instruction& each) const {
    const int called = module_.find(each.attribute(each.has("to_apply") ? "to_apply" : "calls"));
    if (called < 0) refuse(each, "but calls nothing");
    const Computation& inner = module_.computations[static_cast<std::size_t>(called)];
    if (inner.parameters.size() != each.operands.size())
      refuse(each, "with " + std::to_string(each.operands.size()) + " operands, but " + inner.name + " has " +
                       std::to_string(inner.parameters.size()) + " parameters");
    for (std::size_t i = 0; i < each.operands.size(); ++i) {
      const Shape& parameter = inner.instructions[static_cast<std::size_t>(inner.parameters[i])].shape;
      if (!alike(parameter, operand(each, i)))
        refuse(each, "but operand " + std::to_string(i) + " is " + shape_words(operand(each, i)) + " and " +
                         inner.name + " expects " + shape_words(parameter));
    }
    if (!alike(inner.root_instruction().shape, each.shape))
      refuse(each, "but " + inner.name + " gives " + shape_words(inner.root_instruction().shape));
  }

  void loop(const Instruction& each) const {
    const Computation& body =
        module_.computations[static_cast<std::size_t>(module_.find(each.attribute("body")))];
    if (!alike(each.shape, operand(each, 0)) || !alike(body.root_instruction().shape, each.shape))
      refuse(each, "but it begins with " + shape_words(operand(each, 0)) + " and its body gives " +
                       shape_words(body.root_instruction().shape) + " or other elements");
  }

  const std::string& file_;
  const Module& module_;
  const Computation* computation_ = nullptr;
};

}  // namespace

void check_shapes(const std::string& file, const Module& module) {
  ShapeChecker checker(file, module);
  for (const Computation& computation : module.computations) checker.check(computation);
}

}  // namespace podsim::hlo
