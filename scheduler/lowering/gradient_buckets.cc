// Joins gradient reductions until a bucket is full.
#include "scheduler/lowering/gradient_buckets.h"

#include <algorithm>

namespace podsim {

void GradientBuckets::add(const Block& reductions) {
  for (const ProgramOp& op : reductions) {
    if (const auto* reduction = std::get_if<CollectiveOp>(&op)) join(*reduction);
    if (const auto* work = std::get_if<ComputeOp>(&op)) writer_.compute(*work, Bucket::kOptimizer);
    if (const auto* copy = std::get_if<HostCopy>(&op)) writer_.copy(*copy);
  }
  const auto full = [&](const CollectiveOp& op) { return op.bytes >= bucket_; };
  if (std::any_of(joined_.begin(), joined_.end(), full)) flush();
}

void GradientBuckets::flush() {
  writer_.host_collectives(static_cast<int>(joined_.size()));
  for (const CollectiveOp& reduction : joined_) writer_.launch(Stream::kGradient, reduction);
  joined_.clear();
}

void GradientBuckets::join(const CollectiveOp& reduction) {
  const auto same = [&](const CollectiveOp& op) {
    return op.kind == reduction.kind && op.axes == reduction.axes;
  };
  const auto found = std::find_if(joined_.begin(), joined_.end(), same);
  if (found == joined_.end()) {
    joined_.push_back(reduction);
  } else {
    found->bytes += reduction.bytes;
  }
}

}  // namespace podsim
