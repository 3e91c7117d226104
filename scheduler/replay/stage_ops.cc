// Sorts the operations of the step from which the graph of a replay is built.
#include "scheduler/replay/stage_ops.h"

#include <algorithm>
#include <tuple>

#include "engine/check.h"

namespace podsim {

StageOps::StageOps(const RecordedTrace& trace, const RecordedTypes& types) : trace_(trace) {
  if (trace.ops.empty()) throw ReplayError("the trace has no operations");
  std::int32_t first_step = trace.ops.front().step;
  for (const RecordedOp& op : trace.ops) {
    first_step = std::min(first_step, op.step);
    stages_ = std::max(stages_, op.stage + 1);
    data_ranks_ = std::max(data_ranks_, op.data_rank + 1);
    chunks_ = std::max(chunks_, op.chunk + 1);
  }
  by_type_.resize(static_cast<std::size_t>(stages_));
  for (const RecordedOp& op : trace.ops) {
    if (op.step != first_step || op.data_rank != 0 || !types.uses(op.type)) continue;
    by_type_[static_cast<std::size_t>(op.stage)][static_cast<std::size_t>(op.type)].push_back(
        static_cast<std::int32_t>(rows_.size()));
    rows_.push_back(&op);
  }
  for (auto& of_stage : by_type_)
    for (auto& ops : of_stage)
      std::ranges::stable_sort(ops, {}, [&](std::int32_t op) { return row(op).sequence; });
}

std::vector<std::int32_t> StageOps::sorted(int stage, std::initializer_list<OpType> types) const {
  std::vector<std::int32_t> ops;
  for (const OpType type : types) ops.insert(ops.end(), of(stage, type).begin(), of(stage, type).end());
  std::ranges::stable_sort(ops, {}, [&](std::int32_t op) {
    return std::tuple(row(op).start_s, row(op).sequence, to_string(row(op).type));
  });
  return ops;
}

std::int32_t StageOps::find(int stage, OpType type, int sequence) const {
  const auto& ops = of(stage, type);
  const auto at =
      std::ranges::lower_bound(ops, sequence, {}, [&](std::int32_t op) { return row(op).sequence; });
  return at != ops.end() && row(*at).sequence == sequence ? *at : -1;
}

std::int32_t StageOps::need(int stage, OpType type, int sequence) const {
  const std::int32_t op = find(stage, type, sequence);
  if (op < 0)
    throw ReplayError("there is no " + describe({type, sequence, -1, static_cast<std::int16_t>(stage)}) +
                      " on data rank 0 in step " + std::to_string(rows_.empty() ? 0 : rows_.front()->step));
  return op;
}

std::int32_t StageOps::latest_ending(std::vector<std::int32_t> ops) const {
  PODSIM_CHECK(!ops.empty(), "of no operations none ends latest");
  std::ranges::sort(ops);
  return *std::ranges::max_element(ops, {}, [&](std::int32_t op) { return end_s(op); });
}

}  // namespace podsim
