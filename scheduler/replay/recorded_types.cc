// Looks through all rows once.
#include "scheduler/replay/recorded_types.h"

#include <algorithm>

namespace podsim {
namespace {

class TypeFinder {
 public:
  explicit TypeFinder(const RecordedTrace& trace) {
    for (const RecordedOp& op : trace.ops) {
      types_.used[static_cast<std::size_t>(op.type)] = true;
      stages_ = std::max(stages_, op.stage + 1);
      data_ranks_ = std::max(data_ranks_, op.data_rank + 1);
    }
    data_parallel_ = static_cast<std::int64_t>(data_ranks_) * trace.sequence_ranks > 1;
  }

  RecordedTypes run() {
    need(OpType::kBackwardCompute, "steps end with the forward passes");
    transfers(OpType::kForwardSend, OpType::kForwardRecv);
    transfers(OpType::kBackwardSend, OpType::kBackwardRecv);
    if (data_parallel_) {
      need(OpType::kParamsAllGather, "forward passes wait for no parameters");
      need(OpType::kGradsReduceScatter, "gradients take no time to be summed");
    }
    for (const OpType type : {OpType::kGarbageCollection, OpType::kLayernormGradsAllReduce,
                              OpType::kEmbeddingGradsAllReduce, OpType::kClip, OpType::kOptimizer})
      need(type, "steps are told without them");
    if (data_ranks_ > 1 && !meets()) types_.notes.push_back("data ranks meet at the end of a step only");
    return std::move(types_);
  }

 private:
  bool& used(OpType type) { return types_.used[static_cast<std::size_t>(type)]; }

  void need(OpType type, const std::string& consequence) {
    if (!used(type)) types_.notes.push_back("no " + std::string(to_string(type)) + " rows: " + consequence);
  }

  void transfers(OpType send, OpType receive) {
    const bool sends = used(send), receives = used(receive);
    if (stages_ > 1 && !(sends && receives)) {
      const std::string names = std::string(to_string(send)) + " and " + std::string(to_string(receive));
      types_.notes.push_back((sends      ? "no " + std::string(to_string(receive)) + " rows"
                              : receives ? "no " + std::string(to_string(send)) + " rows"
                                         : "no " + names + " rows") +
                             ": a stage hands on to the next in no time");
    }
    if (sends != receives) used(send) = used(receive) = false;
  }

  bool meets() {
    return used(OpType::kParamsAllGather) || used(OpType::kGradsReduceScatter) ||
           used(OpType::kSeparateGradsAllReduce) || used(OpType::kClip);
  }

  RecordedTypes types_;
  int stages_ = 0, data_ranks_ = 0;
  bool data_parallel_ = false;
};

}  // namespace

RecordedTypes recorded_types(const RecordedTrace& trace) { return TypeFinder(trace).run(); }

}  // namespace podsim
