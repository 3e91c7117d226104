// One rule for each kind of instruction; what is called is analysed once.
#include "ingest/hlo/cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "ingest/hlo/convolution.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"

namespace podsim::hlo {
namespace {

constexpr std::array kFields = {&Cost::flops,       &Cost::transcendentals, &Cost::bytes,        &Cost::dot,
                                &Cost::convolution, &Cost::custom_flops,    &Cost::unknown_calls};

// Of an operand: a tuple is a table of addresses of 8 bytes.
std::int64_t operand_bytes(const Shape& shape) {
  return shape.is_tuple() ? 8 * static_cast<std::int64_t>(shape.leaves.size()) : shape.bytes();
}

class Rules {
 public:
  Rules(CostAnalysis& analysis, const Module& module, const Computation& computation,
        const Instruction& instruction)
      : analysis_(analysis),
        module_(module),
        computation_(computation),
        of_(instruction),
        opcode_(started_operation(instruction.opcode)) {}

  Cost cost() {
    if (is_free(opcode_)) return {};
    cost_.bytes = result_bytes();
    for (std::size_t i = 0; i < of_.operands.size(); ++i) cost_.bytes += operand_bytes(shape(i));
    arithmetic() || matrix() || applied() || memory() || communication();
    return cost_;
  }

 private:
  const Shape& shape(std::size_t operand) const { return computation_.operand(of_, operand).shape; }
  bool has_operands(std::size_t count) const { return of_.operands.size() >= count; }
  // Of where a slice begins XLA counts the first index alone.
  std::int64_t start_bytes(std::size_t operand) const {
    return has_operands(operand + 1) ? operand_bytes(shape(operand)) : 0;
  }

  // A start's own tuple holds inputs and contexts too.
  bool has_context() const { return of_.opcode.ends_with("-start") && of_.shape.is_tuple(); }
  std::int64_t result_bytes() const {
    if (!has_context()) return of_.shape.bytes();
    return has_operands(1) && of_.shape.leaves.size() > 1 ? of_.shape.leaves[1].bytes() : 0;
  }
  const Shape& result() const {
    return has_context() && of_.shape.leaves.size() > 1 ? of_.shape.leaves[1] : of_.shape;
  }

  bool arithmetic() {
    if (is_transcendental(opcode_)) {
      cost_.transcendentals = result().elements();
    } else if (is_elementwise(opcode_)) {
      cost_.flops = result().elements();
    } else {
      return false;
    }
    return true;
  }

  bool matrix() {
    if (opcode_ == "dot" || opcode_ == "ragged-dot" || opcode_ == "scaled-dot") {
      if (has_operands(2)) cost_.dot = dot_flops();
    } else if (opcode_ == "convolution") {
      if (has_operands(2)) cost_.convolution = convolution_flops(of_, shape(0));
    } else {
      return false;
    }
    cost_.flops = cost_.products();
    return true;
  }

  // Of a ragged dot each row belongs to one group; where groups part what is contracted, each has a result.
  std::int64_t dot_flops() const {
    std::int64_t contracted = 1, results = result().elements();
    const auto dimensions = list_of(of_.attribute("lhs_contracting_dims"));
    for (const std::int64_t d : dimensions)
      if (d < static_cast<std::int64_t>(shape(0).dimensions.size()))
        contracted *= shape(0).dimensions[static_cast<std::size_t>(d)];
    if (opcode_ == "ragged-dot" && has_operands(3) && !shape(2).dimensions.empty())
      for (const std::int64_t d : list_of(of_.attribute("lhs_ragged_dims")))
        if (std::ranges::count(dimensions, d) > 0)
          results /= std::max<std::int64_t>(1, shape(2).dimensions.back());
    return saturating_multiply(2 * results, contracted);
  }

  // Operations that apply a function to elements.
  bool applied() {
    if (opcode_ == "reduce" && has_operands(1)) {
      apply("to_apply", shape(0).elements() - first_result().elements());
    } else if (opcode_ == "reduce-window" && has_operands(1)) {
      apply("to_apply", window_applications());
    } else if (opcode_ == "map") {
      apply("to_apply", of_.shape.elements());
    } else if (opcode_ == "scatter" && has_operands(3)) {
      const std::size_t arrays = of_.operands.size() / 2;  // so many, where to, and as many updates
      apply("to_apply", shape(arrays + 1).elements());
      cost_.bytes = operand_bytes(shape(arrays));
      for (std::size_t i = arrays + 1; i < of_.operands.size(); ++i)
        cost_.bytes += 3 * operand_bytes(shape(i));
    } else if (opcode_ == "select-and-scatter" && has_operands(2)) {
      const std::int64_t source = shape(1).elements();
      apply("select", saturating_multiply(source, window_size() - 1));
      apply("scatter", source);
    } else if (opcode_ == "sort" && has_operands(1)) {
      const std::int64_t n = shape(0).elements();
      if (n > 0) cost_.flops = saturating_multiply(n, std::bit_width(static_cast<std::uint64_t>(n - 1)));
    } else {
      return false;
    }
    return true;
  }

  const Shape& first_result() const { return result().is_tuple() ? result().leaves.front() : result(); }

  // Windows of nothing, and reductions to more than there was, apply it fewer times than never.
  void apply(const char* attribute, std::int64_t times) {
    times = std::max<std::int64_t>(0, times);
    const int function = module_.find(of_.attribute(attribute));
    if (function < 0) return;
    const Cost& once = analysis_.of(function);
    cost_.flops = saturating_add(cost_.flops, saturating_multiply(once.flops, times));
    cost_.transcendentals =
        saturating_add(cost_.transcendentals, saturating_multiply(once.transcendentals, times));
  }

  std::int64_t window_size() const {
    std::int64_t size = 1;
    for (const WindowDimension& dimension : window_of(of_)) size = saturating_multiply(size, dimension.size);
    return size;
  }

  // A window of 2n - 1 padded by n - 1 on one dimension reaches everything from everywhere: a reduction, and
  // a broadcast of it.
  std::int64_t window_applications() const {
    const std::int64_t result = first_result().elements();
    const std::vector<WindowDimension> window = window_of(of_);
    int wide = -1, dimensions_wide = 0;
    for (std::size_t d = 0; d < window.size(); ++d)
      if (window[d].size > 1) wide = static_cast<int>(d), ++dimensions_wide;
    if (dimensions_wide == 1 && static_cast<std::size_t>(wide) < shape(0).dimensions.size()) {
      const std::int64_t n = shape(0).dimensions[static_cast<std::size_t>(wide)];
      const WindowDimension& w = window[static_cast<std::size_t>(wide)];
      if (n > 0 && w.size == 2 * n - 1 && w.pad_low == n - 1 && w.pad_high == n - 1)
        return result / n + n - 1;
    }
    return saturating_multiply(window_size() - 1, result);
  }

  bool memory() {
    if (opcode_ == "slice") {
      cost_.bytes = 2 * result().bytes();
    } else if (opcode_ == "dynamic-slice" && has_operands(1)) {
      cost_.bytes = 2 * result().bytes() + start_bytes(1);
    } else if (opcode_ == "gather" && has_operands(2)) {
      cost_.bytes = 2 * result().bytes() + operand_bytes(shape(1));
    } else if (opcode_ == "dynamic-update-slice" && has_operands(2)) {
      cost_.bytes = 2 * operand_bytes(shape(1)) + start_bytes(2);
    } else if (opcode_ == "tuple") {
      cost_.bytes = 8 * static_cast<std::int64_t>(of_.operands.size());
    } else {
      return false;
    }
    return true;
  }

  bool communication() {
    if (opcode_ == "all-reduce" || of_.opcode == "all-reduce-start")
      for (std::size_t i = 0; i < of_.operands.size(); ++i) cost_.flops += shape(i).elements();
    return true;
  }

  CostAnalysis& analysis_;
  const Module& module_;
  const Computation& computation_;
  const Instruction& of_;
  std::string_view opcode_;  // of what a start begins, where its start has no rule of its own
  Cost cost_;
};

}  // namespace

std::int64_t Cost::products() const { return saturating_add(dot, convolution); }

std::int64_t Cost::elementwise() const { return std::max<std::int64_t>(0, flops - products()); }

Cost& Cost::operator+=(const Cost& other) {
  for (const auto field : kFields) this->*field = saturating_add(this->*field, other.*field);
  return *this;
}

Cost operator*(const Cost& cost, std::int64_t times) {
  Cost product;
  for (const auto field : kFields) product.*field = saturating_multiply(cost.*field, times);
  return product;
}

CostAnalysis::CostAnalysis(const Module& module, const LoopCounts* loops)
    : module_(module),
      loops_(loops),
      known_(module.computations.size()),
      found_(module.computations.size()) {}

const Cost& CostAnalysis::of(int computation) {
  const auto number = static_cast<std::size_t>(computation);
  if (found_[number]) return known_[number];
  Cost sum;
  const Computation& inside = module_.computations[number];
  for (const Instruction& instruction : inside.instructions) sum += of(inside, instruction);
  found_[number] = true;
  return known_[number] = sum;
}

Cost CostAnalysis::of(const Computation& computation, const Instruction& instruction) {
  const std::string_view opcode = started_operation(instruction.opcode);
  if (opcode == "while") return loop(instruction);
  if (opcode == "call") return called(instruction, instruction.has("to_apply") ? "to_apply" : "calls");
  if (opcode == "async-start") return called(instruction, "calls");
  if (opcode == "conditional") {
    const int branch = dearer_branch(instruction);
    return branch < 0 ? Cost{} : of(branch);
  }
  if (opcode == "fusion") return fusion(instruction);
  Cost cost = Rules(*this, module_, computation, instruction).cost();
  if (opcode != "custom-call") return cost;
  const CustomCall call = custom_call(computation, instruction);
  cost.bytes = 0;
  cost.custom_flops = call.flops;
  cost.unknown_calls = call.kind == CustomCall::Kind::kUnknown ? 1 : 0;
  return cost;
}

Cost CostAnalysis::called(const Instruction& instruction, const char* attribute) {
  const int computation = module_.find(instruction.attribute(attribute));
  return computation < 0 ? Cost{} : of(computation);
}

Cost CostAnalysis::loop(const Instruction& instruction) {
  const Cost body = called(instruction, "body"), condition = called(instruction, "condition");
  TripCount count;
  if (loops_ != nullptr) count = loops_->of.at(&instruction);
  const bool once = loops_ == nullptr || count.how == TripCount::How::kUnknown;
  Cost sum = body * (once ? 1 : count.trips);
  return sum += condition * (once ? 1 : count.trips + 1);
}

int CostAnalysis::dearer_branch(const Instruction& conditional) {
  int dearest = -1;
  for (const int branch : called_by(module_, conditional)) {
    const auto weight = [&](int computation) {
      const Cost& cost = of(computation);
      return std::pair(cost.flops + cost.custom_flops, cost.bytes);
    };
    if (dearest < 0 || weight(dearest) < weight(branch)) dearest = branch;
  }
  return dearest;
}

// Its body's arithmetic; what crosses its border once: parameters, of which only slices are read where all
// that use them slice, results, of which an update in place writes only the update, and large constants.
Cost CostAnalysis::fusion(const Instruction& instruction) {
  const int number = module_.find(instruction.attribute("calls"));
  if (number < 0) return {};
  Cost cost = of(number);
  const Computation& body = module_.computations[static_cast<std::size_t>(number)];
  std::vector<std::int64_t> sliced(body.instructions.size(), 0);
  std::vector<bool> whole(body.instructions.size(), false);
  for (const Instruction& user : body.instructions)
    for (std::size_t i = 0; i < user.operands.size(); ++i) {
      const auto used = static_cast<std::size_t>(user.operands[i]);
      if (i == 0 && (user.opcode == "slice" || user.opcode == "dynamic-slice" || user.opcode == "gather"))
        sliced[used] += user.shape.bytes();
      else if (!(i == 0 && user.opcode == "dynamic-update-slice"))
        whole[used] = true;
    }
  const auto written = [&](const Instruction& result) {
    return result.opcode == "dynamic-update-slice" && result.operands.size() > 1
               ? body.operand(result, 1).shape.bytes()
               : result.shape.bytes();
  };
  const Instruction& root = body.root_instruction();
  cost.bytes = 0;
  if (root.opcode == "tuple") {
    for (std::size_t i = 0; i < root.operands.size(); ++i) cost.bytes += written(body.operand(root, i));
  } else {
    cost.bytes = written(root);
  }
  for (const int parameter : body.parameters) {
    const auto index = static_cast<std::size_t>(parameter);
    const std::int64_t all = operand_bytes(body.instructions[index].shape);
    cost.bytes += whole[index] ? all : std::min(all, sliced[index]);
  }
  for (const Instruction& each : body.instructions)
    if (each.opcode == "constant" && each.shape.elements() > 1) cost.bytes += each.shape.bytes();
  return cost;
}

}  // namespace podsim::hlo
