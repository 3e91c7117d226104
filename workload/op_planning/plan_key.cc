// Writes out as numbers all that the plan of an operation depends on, and looks it up. Part of known_plans.h.
#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/model/apply_precision.h"
#include "workload/op_planning/known_plans.h"
#include "workload/op_planning/plan.h"

namespace podsim {
namespace {

void put_job(const Job& job, ProblemKey& key) {
  const int stages = job.mesh.find(job.pipeline_axis);
  for (std::size_t i = 0; i < job.mesh.axes.size(); ++i)
    key.put(static_cast<int>(i) == stages ? 1 : job.mesh.axes[i].size);
  key.put(job.partitioner);
  key.put(job.stack.prefetch_forward > 0 || job.stack.prefetch_backward > 0);
}

// Without its sharding and bytes.
void put_operand(const PlanContext& context, const Operand& operand, ProblemKey& key) {
  [[maybe_unused]] const auto& [name, role, dims, element_bytes, memory_bytes, cast_bytes, gradient_bytes,
                                journey, of_experts, vector, frozen, shared, constrained, read_by_modules,
                                annotation, origin] = context.tensor(operand.tensor);
  key.put(operand.letters);
  key.put(role);
  key.put(dims);
  key.put(shared_axes(context, operand.tensor));
}

void put_operation(const PlanContext& context, const Operation& op, ProblemKey& key) {
  [[maybe_unused]] const auto& [name, kind, inputs, outputs, whole, statistics, reductions, chain, normed,
                                windows, key_exchange, causal, attention_window, drops_from, passes, useful,
                                backward, saves_inputs, low_precision, recipe] = op;
  key.put(kind);
  key.put(whole);
  key.put(statistics);
  key.put(reductions);
  key.put(drops_from >= 0);
  key.put(backward);
  key.put(inputs.size());
  for (const Operand& input : inputs) {
    const Tensor& tensor = context.tensor(input.tensor);
    put_operand(context, input, key);
    key.put(wire_bytes(context.graph, op, tensor));
    const Available& available = context.available[at(input.tensor)];
    key.put(available.size());
    for (const Layout& layout : available) key.put(layout);
  }
  for (const Operand& output : outputs) {
    const Tensor& tensor = context.tensor(output.tensor);
    put_operand(context, output, key);
    key.put(tensor.element_bytes);
    key.put(tensor.constrained);
    key.put(context.charges_sums);
    if (tensor.constrained) key.put(context.ruled[at(output.tensor)]);
  }
}

}  // namespace

std::shared_ptr<const OperationPlan> KnownPlans::plan(const PlanContext& context, const Operation& op,
                                                      const std::vector<AxisList>* cut,
                                                      const std::function<OperationPlan()>& make) {
  constexpr std::size_t kMost = 4096;
  key_.clear();
  put_job(context.job, key_);
  put_operation(context, op, key_);
  key_.put(cut != nullptr);
  for (std::size_t i = 0; cut && i < cut->size(); ++i) key_.put((*cut)[i]);
  const auto known = plans_.find(key_.words());
  if (known != plans_.end()) return known->second;
  if (plans_.size() == kMost) plans_.clear();
  auto made = std::make_shared<const OperationPlan>(make());
  plans_.emplace(key_.words(), made);
  return made;
}

}  // namespace podsim
