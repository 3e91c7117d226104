// One piece of the model as instructions: weights fetched ahead, hidden shares, rings beside matmuls.
#pragma once

#include <vector>

#include "scheduler/instruction_writer.h"
#include "scheduler/pass_blocks.h"

namespace podsim {

class PartLowering {
 public:
  PartLowering(InstructionWriter& writer, const Stack& stack, const std::vector<Part>& parts)
      : writer_(writer), stack_(stack), parts_(parts), blocks_(parts) {}

  // One pass over a part. `ahead` = weight gathers of later parts that are already on their stream.
  void pass(int part, Pass pass, int ahead);

  // Puts the weight gathers of a pass on their stream; returns how many.
  int launch_gathers(int part, Pass pass);

 private:
  void matrix_work(double seconds);
  void rings(const std::vector<const CollectiveOp*>& rings, Time duration);
  void collective(const CollectiveOp& op);
  bool activation(const CollectiveOp& op);
  void settle_hidden();

  InstructionWriter& writer_;
  const Stack& stack_;
  const std::vector<Part>& parts_;
  const PassBlocks blocks_;
  int gathers_left_ = 0;  // of this pass, not yet waited for, and `ahead`
  bool hidden_pending_ = false;
  std::vector<const CollectiveOp*> rings_;  // of the next matmul or attention
};

}  // namespace podsim
