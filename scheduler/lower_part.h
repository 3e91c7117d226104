// One piece of the model as instructions: weights fetched ahead, hidden shares, rings beside matmuls.
#pragma once

#include <vector>

#include "scheduler/instruction_writer.h"
#include "workload/program.h"

namespace podsim {

class PartLowering {
 public:
  PartLowering(InstructionWriter& writer, const Stack& stack) : writer_(writer), stack_(stack) {}

  // One pass over the part. `ahead` = weight gathers of later parts that are already on their stream.
  void pass(const Part& part, bool forward, int ahead);

  // Puts the weight gathers of a pass on their stream; returns how many.
  int launch_gathers(const Part& part, bool forward);

 private:
  void matrix_work(double seconds);
  void rings(const std::vector<const CollectiveOp*>& rings, Time duration);
  void collective(const CollectiveOp& op);
  bool activation(const CollectiveOp& op);
  void settle_hidden();

  InstructionWriter& writer_;
  const Stack& stack_;
  int gathers_left_ = 0;  // of this pass, not yet waited for, and `ahead`
  bool hidden_pending_ = false;
  std::vector<const CollectiveOp*> rings_;  // of the next matmul or attention
};

}  // namespace podsim
