// Measured layers as blocks of operations.
#include "workload/partition/measured_part.h"

#include <algorithm>
#include <utility>

#include "workload/job/job.h"
#include "workload/job/measured_layers.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

void add_work(Block& block, const std::string& name, Time time, bool weight_gradient = false) {
  if (time.ps == 0) return;
  ComputeOp op;
  op.name = name;
  op.op_class = OpClass::kMeasured;
  op.measured = time;
  op.weight_gradient = weight_gradient;
  block.push_back(std::move(op));
}

void add_collective(Block& block, const Job& job, const std::string& name, const LayerCollective& collective,
                    Purpose purpose) {
  if (collective.bytes.value == 0) return;
  block.push_back(CollectiveOp{name, collective.kind, axes_of(job, collective), collective.bytes, purpose});
}

}  // namespace

// Axes of one device join nothing: with and without them a group is the same, and so is its communicator.
AxisSet axes_of(const Job& job, const LayerCollective& collective) {
  AxisSet axes = 0;
  for (std::size_t i = 0; i < job.mesh.axes.size(); ++i) {
    if (job.mesh.axes[i].size == 1) continue;
    const std::string& name = job.mesh.axes[i].name;
    const bool named =
        std::find(collective.axes.begin(), collective.axes.end(), name) != collective.axes.end();
    if (collective.axes.empty() ? name != job.pipeline_axis : named) axes |= axis_bit(static_cast<int>(i));
  }
  return axes;
}

Part measured_part(const Job& job, const MeasuredLayer& layer) {
  Part part;
  add_work(part.forward, layer.name, layer.forward);
  add_collective(part.forward, job, layer.name, layer.forward_collective, Purpose::kActivation);
  add_work(part.backward, layer.name + " input gradient", layer.input_gradient);
  add_collective(part.backward, job, layer.name + " input gradient", layer.input_gradient_collective,
                 Purpose::kActivation);
  add_work(part.backward, layer.name + " weight gradient", layer.weight_gradient, true);
  add_collective(part.gradient_reduce, job, layer.name + " gradients", layer.weight_gradient_collective,
                 Purpose::kGradient);
  add_work(part.optimizer, layer.name + " update", layer.update);
  part.output = layer.output;
  return part;
}

double measured_seconds(const Job& job) {
  double passes = 0, updates = job.measured->update.in_seconds();
  for (const MeasuredLayer& layer : job.measured->layers) {
    passes += layer.count * (layer.forward + layer.input_gradient + layer.weight_gradient).in_seconds();
    updates += layer.count * layer.update.in_seconds();
  }
  const int axis = job.mesh.find(job.pipeline_axis);
  const int stages = axis < 0 ? 1 : job.mesh.axes[static_cast<std::size_t>(axis)].size;
  return (passes * microbatches(job) + updates) / stages;
}

}  // namespace podsim
