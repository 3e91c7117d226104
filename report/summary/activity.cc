// What the mean chip does in a step, and what it draws.
#include "report/summary/activity.h"

#include <algorithm>

#include "report/summary/executed_operations.h"
#include "scheduler/question/spec.h"
#include "workload/job/chip.h"
#include "workload/job/job.h"
#include "workload/partition/op_cost.h"

namespace podsim {
namespace {

// FLOP/s that large matmuls sustain; in formats that the chip does not multiply, as in 16 bits.
double sustained(const Chip& chip, Dtype dtype) {
  const MatmulRate* rate = chip.matmul_rate(dtype);
  if (!rate) rate = chip.matmul_rate(Dtype::kBf16);
  return rate ? rate->reached().value : 0;
}

double share_of(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

// Seconds of the mean chip in a step.
struct FullRates {
  double matmul_s = 0, memory_s = 0;  // at full rate
  double operations_s = 0;            // of all operations
};

// Operations of experts are those of the most loaded device.
double mean_over_busiest(const ComputeOp& op, const Job& job) {
  const bool uneven = op.of_experts && !job.program && job.model.experts;
  return uneven ? 1 / job.model.experts->imbalance : 1;
}

void add(FullRates& work, const ExecutedOperation& executed, const Chip& chip, const Job& job) {
  const ComputeOp& op = *executed.op;
  const double times = executed.times * executed.load * mean_over_busiest(op, job);
  const double seconds = op_seconds(op, chip, job.stack);
  work.operations_s += times * seconds;
  if (op.op_class == OpClass::kMeasured) {
    work.matmul_s += times * seconds;
    return;
  }
  // Attention works in 16 bits whatever the matmuls do.
  const Dtype dtype = op.op_class == OpClass::kAttention ? Dtype::kBf16 : op.dtype;
  const double matmul = share_of(op.flops.value, sustained(chip, dtype));
  const double memory = share_of(op.hbm.value, chip.hbm.value * chip.hbm_efficiency);
  if (!(matmul + memory > 0)) return;
  const double counted = times * std::min(1.0, seconds / (matmul + memory));
  work.matmul_s += counted * matmul;
  work.memory_s += counted * memory;
}

}  // namespace

Activity activity_of(const Spec& spec, const StepProgram& program, const Ensemble& ensemble) {
  FullRates work;
  for (const ExecutedOperation& executed : executed_operations(program, mean_attention(ensemble)))
    add(work, executed, spec.cluster.chip, spec.job);
  double steps = 0;
  for (const Draw& draw : ensemble.draws) steps += draw.steps;
  const double step_s = static_cast<double>(ensemble.trained_ps()) / 1e12 / steps;
  const WaitShares shares = wait_shares(ensemble.chip_time);
  const double waiting = std::max(0.0, 1 - work.operations_s / step_s - (shares.input + shares.offload));
  return {work.matmul_s / step_s, work.memory_s / step_s, waiting, std::min(waiting, shares.communication)};
}

PowerReport power_of(const Activity& activity, const Chip& chip, int chips_per_host) {
  const double more_w = chip.power_busy_w - chip.power_idle_w;
  PowerReport power;
  power.idle_w = chip.power_idle_w;
  power.matmul_w = more_w * activity.matmul;
  power.memory_w = more_w * activity.memory;
  power.waiting_w = more_w * chip.power_waiting_share * activity.waiting;
  power.communication_w = more_w * chip.power_waiting_share * activity.communication;
  power.waiting_share = activity.waiting;
  power.chip_w = power.idle_w + power.matmul_w + power.memory_w + power.waiting_w;
  power.system_w = with_host_w(chip, power.chip_w, chips_per_host);
  return power;
}

}  // namespace podsim
