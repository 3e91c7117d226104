// How long a step takes at least: nonsense is told before it is simulated.
#include "workload/partition/step_bound.h"

#include <algorithm>

#include "workload/job/chip.h"
#include "workload/job/job.h"
#include "workload/job/measured_layers.h"
#include "workload/job/stack.h"
#include "workload/model/apply_precision.h"
#include "workload/partition/measured_part.h"
#include "workload/partition/model_flops.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Elements of activations that operations bound by memory read and write in the forward of all pieces.
double moved_elements(const ModelProgram& model) {
  std::vector<double> of_part;
  for (const ModelPart& part : model.parts) {
    of_part.push_back(0);
    for (const Operation& op : part.graph.operations) {
      if (op.kind == OperationKind::kReshape) continue;
      for (const auto* operands : {&op.inputs, &op.outputs}) {
        for (const Operand& operand : *operands) {
          const Tensor& tensor = part.graph.tensors[static_cast<std::size_t>(operand.tensor)];
          if (tensor.role == TensorRole::kActivation) of_part.back() += op.passes * elements(tensor);
        }
      }
    }
  }
  double sum = 0;
  for (int part : model.sequence) sum += of_part[static_cast<std::size_t>(part)];
  return sum;
}

bool sends_along(const Job& job, int axis) {
  const auto along = [&](const LayerCollective& collective) {
    return collective.bytes.value > 0 && (axes_of(job, collective) & axis_bit(axis)) != 0;
  };
  return std::any_of(job.measured->layers.begin(), job.measured->layers.end(), [&](const auto& layer) {
    return along(layer.forward_collective) || along(layer.input_gradient_collective) ||
           along(layer.weight_gradient_collective);
  });
}

}  // namespace

bool axis_used(const Job& job, const ModelProgram& model, int axis) {
  const std::string& name = job.mesh.axes[static_cast<std::size_t>(axis)].name;
  const auto in_rule = [&](const ShardingRule& rule) {
    return std::find(rule.axes.begin(), rule.axes.end(), name) != rule.axes.end();
  };
  if (name == job.pipeline_axis || std::any_of(job.rules.begin(), job.rules.end(), in_rule)) return true;
  if (job.measured) return sends_along(job, axis);
  for (const ModelPart& part : model.parts) {
    for (const Tensor& tensor : part.graph.tensors) {
      if (!tensor.annotation) continue;
      if (overlap(layout_of(*tensor.annotation).sharded(), {whole_axis(job.mesh, axis)})) return true;
    }
  }
  return false;
}

double shortest_step_s(const Job& job, const ModelProgram& model, const Chip& chip) {
  if (job.measured) return measured_seconds(job);
  double devices = 1;
  for (std::size_t axis = 0; axis < job.mesh.axes.size(); ++axis) {
    if (axis_used(job, model, static_cast<int>(axis))) devices *= job.mesh.axes[axis].size;
  }
  const double tokens = static_cast<double>(job.global_batch) * job.sequence;
  const double microbatches = static_cast<double>(job.global_batch) / (job.microbatch * batch_shards(job));
  const double matmuls = fewest_flops_per_token(job, model).value * tokens /
                         (fastest_matmuls(job, chip).value * job.stack.gemm_factor);
  const double hbm = chip.hbm.value * chip.hbm_efficiency;
  const double moved = 2 * 2 * moved_elements(model) * microbatches * job.stack.elementwise_traffic / hbm;
  const double updated = 2 * job.stack.optimizer_state_bytes * trained_parameters(model) / hbm;
  return std::max({matmuls, moved, updated}) / devices;
}

}  // namespace podsim
