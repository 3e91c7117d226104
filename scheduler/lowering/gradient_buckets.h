// Gradient reductions of the step, joined into buckets.
#pragma once

#include <vector>

#include "scheduler/lowering/instruction_writer.h"

namespace podsim {

// Reductions of the same kind over the same axes join until the largest has the bytes of a bucket; then all
// are launched, in the order in which their kinds first came. Reductions of one piece are never cut.
class GradientBuckets {
 public:
  // `bucket` of zero bytes: every piece has its own. REQUIRES: `writer` outlives this object.
  GradientBuckets(InstructionWriter& writer, Bytes bucket) : writer_(writer), bucket_(bucket) {}

  // The reductions of one piece. Its computations run at once.
  void add(const Block& reductions);

  // Launches what has not been launched yet.
  void flush();

 private:
  void join(const CollectiveOp& reduction);

  InstructionWriter& writer_;
  const Bytes bucket_;
  std::vector<CollectiveOp> joined_;
};

}  // namespace podsim
