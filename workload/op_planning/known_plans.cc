// Writes problems out as keys, field by field, and looks them up.
#include "workload/op_planning/known_plans.h"

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace podsim {
namespace {

constexpr std::size_t kMost = 1024;

// Every struct is taken apart in full, so that a new field of one does not compile before it is in the key.
class Key {
 public:
  std::string take() { return std::move(bytes_); }

  template <class Value>
  requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
  void put(Value value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  template <class Value>
  void put(const std::vector<Value>& values) {
    put(values.size());
    for (const Value& value : values) put(value);
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  void put(const AxisRef& ref) {
    const auto& [axis, pre, size] = ref;
    all(axis, pre, size);
  }
  void put(const std::pair<AxisRef, int>& settled) { all(settled.first, settled.second); }
  void put(const Layout& layout) {
    const auto& [dims, unreduced] = layout;
    all(dims, unreduced);
  }
  void put(const DimBlock& block) {
    const auto& [size, cut] = block;
    all(size, cut);
  }
  void put(const TensorDim& dim) {
    const auto& [logical, blocks] = dim;
    all(logical, blocks);
  }
  void put(const TensorShape& shape) {
    const auto& [dims, element_bytes] = shape;
    all(dims, element_bytes);
  }
  void put(const Factor& factor) {
    const auto& [size, kind, blocked] = factor;
    all(size, kind, blocked);
  }
  void put(const Statistic& statistic) {
    const auto& [factor, count] = statistic;
    all(factor, count);
  }
  void put(const OpOperand& operand) {
    const auto& [shape, available, repeats, hidden] = operand;
    all(shape, available, repeats, hidden);
  }
  void put(const OpResult& result) {
    const auto& [shape, wanted, partial_allowed] = result;
    all(shape, wanted, partial_allowed);
  }
  // Windows come with a function, which has no key.
  void put(const OpRule& rule) {
    const auto& [factors, operands, results, rule_class, elementwise, windows, statistics] = rule;
    all(factors, operands, results, rule_class, elementwise, statistics);
  }
  void put(const OpProblem& problem) {
    const auto& [rule, operands, results, carried, flops_per_point, whole_axes, settled, prepare,
                 keep_alternatives] = problem;
    all(rule, operands, results, carried, flops_per_point, whole_axes, settled, keep_alternatives);
  }
  void put(const MeshAxis& axis) { put(axis.size); }

 private:
  template <class... Values>
  void all(const Values&... values) {
    (put(values), ...);
  }

  std::string bytes_;
};

}  // namespace

const OpPlan& KnownPlans::plan(const Mesh& mesh, const OpProblem& problem, const CostModel& cost) {
  if (problem.prepare || !problem.rule.windows.empty()) return last_ = plan_op(mesh, problem, cost);
  Key key;
  key.put(mesh.axes);
  key.put(problem);
  std::string bytes = key.take();
  const auto known = plans_.find(bytes);
  if (known != plans_.end()) return known->second;
  if (plans_.size() == kMost) plans_.clear();
  return plans_.emplace(std::move(bytes), plan_op(mesh, problem, cost)).first->second;
}

}  // namespace podsim
