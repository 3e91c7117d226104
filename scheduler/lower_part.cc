// One piece of the model as instructions.
#include "scheduler/lower_part.h"

#include <algorithm>
#include <utility>

#include "workload/op_cost.h"

namespace podsim {
namespace {

bool gathers_weights(const ProgramOp& op) {
  const auto* collective = std::get_if<CollectiveOp>(&op);
  return collective && collective->purpose == Purpose::kParameter;
}

}  // namespace

int PartLowering::launch_gathers(int part, Pass pass) {
  int count = 0;
  for (const ProgramOp& op : blocks_.block(part, pass)) {
    if (!gathers_weights(op)) continue;
    writer_.launch(Stream::kParameter, std::get<CollectiveOp>(op));
    ++count;
  }
  return count;
}

void PartLowering::pass(int part, Pass pass, int ahead) {
  const Block& block = blocks_.block(part, pass);
  gathers_left_ = ahead + static_cast<int>(std::count_if(block.begin(), block.end(), gathers_weights));
  double device_s = 0;
  for (const ProgramOp& op : block) {
    if (const auto* other = std::get_if<CollectiveOp>(&op)) {
      collective(*other);
      continue;
    }
    const ComputeOp& work = std::get<ComputeOp>(op);
    const double seconds = writer_.seconds(work);
    device_s += seconds;
    if (work.op_class == OpClass::kMemoryBound) {
      writer_.compute(Time::seconds(seconds), Bucket::kCompute);
    } else {
      matrix_work(seconds);
    }
  }
  settle_hidden();
  if (!parts_[static_cast<std::size_t>(part)].layer) return;
  const double kernels = (pass == Pass::kForward ? stack_.kernels_per_layer : stack_.backward_kernels) *
                         blocks_.share_of_kernels(part, pass);
  writer_.compute(Time::seconds(launch_seconds(device_s, kernels, stack_)), Bucket::kCompute);
}

void PartLowering::collective(const CollectiveOp& op) {
  if (op.windows > 1) {
    rings_.push_back(&op);
    return;
  }
  switch (op.purpose) {
    case Purpose::kParameter:
      --gathers_left_;
      if (!stack_.parameters_prefetched) writer_.launch(Stream::kParameter, op);
      writer_.wait(Stream::kParameter, stack_.parameters_prefetched ? gathers_left_ : 0);
      break;
    case Purpose::kGradient:
      writer_.launch(Stream::kGradient, op);
      if (!stack_.gradients_overlapped) writer_.wait(Stream::kGradient, 0);
      break;
    case Purpose::kActivation:
      settle_hidden();
      hidden_pending_ = activation(op);
      break;
  }
}

void PartLowering::settle_hidden() {
  if (std::exchange(hidden_pending_, false)) writer_.wait(Stream::kActivation, 0);
}

void PartLowering::matrix_work(double seconds) {
  if (rings_.empty()) {
    writer_.compute(Time::seconds(seconds), Bucket::kCompute);
    return;
  }
  settle_hidden();
  rings(std::exchange(rings_, {}), Time::seconds(seconds));
}

// A computation in as many pieces as the longest ring has blocks: while one piece is computed, the block of
// the next travels.
void PartLowering::rings(const std::vector<const CollectiveOp*>& rings, Time duration) {
  int pieces = 1;
  for (const CollectiveOp* ring : rings) pieces = std::max(pieces, ring->windows);
  for (int piece = 0; piece < pieces; ++piece) {
    for (const CollectiveOp* ring : rings)
      if (piece + 1 < ring->windows) writer_.launch(Stream::kActivation, *ring);
    writer_.compute({duration.ps * (piece + 1) / pieces - duration.ps * piece / pieces}, Bucket::kCompute);
    if (piece + 1 < pieces) writer_.wait(Stream::kActivation, 0);
  }
}

// The exposed share blocks; the hidden share runs beside what follows. True when something is still under
// way.
bool PartLowering::activation(const CollectiveOp& op) {
  const double hidden = stack_.tensor_hidden;
  if (hidden < 1) {
    writer_.launch(Stream::kActivation, op, 1 - hidden);
    writer_.wait(Stream::kActivation, 0);
  }
  if (hidden <= 0) return false;
  writer_.launch(Stream::kActivation, op, hidden);
  return true;
}

}  // namespace podsim
