// What a training run recorded of its operations: the rows of a trace, without its file format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podsim {

// An operation of a worker, as the public traces of training runs name them: "forward-compute".
enum class OpType : std::uint8_t {
  kForwardCompute,
  kBackwardCompute,
  kOptimizer,
  kGarbageCollection,  // "gc"
  kForwardSend,
  kForwardRecv,
  kBackwardSend,
  kBackwardRecv,
  kParamsAllGather,
  kGradsReduceScatter,
  kSeparateGradsAllReduce,
  kLayernormGradsAllReduce,
  kEmbeddingGradsAllReduce,
  kClip,  // "optimizer-clip-main-grad"
  // Of simulated steps alone: "input", from the begin of the step until the batch of the next one is there.
  // The step ends no sooner; nothing else waits for it.
  kInput,
};
inline constexpr int kOpTypes = 15;
std::string_view to_string(OpType type);
std::optional<OpType> op_type_named(std::string_view name);
std::vector<std::string> op_type_names();

// The ideal time of a computation is a mean, that of all else a median.
constexpr bool is_computation(OpType type) { return type <= OpType::kGarbageCollection; }
constexpr bool is_communication(OpType type) { return !is_computation(type) && type != OpType::kInput; }

// One operation of one worker in one step. A worker is a data rank in one pipeline stage.
struct RecordedOp {
  double start_s = 0, duration_s = 0;
  std::int32_t step = 0;  // of the training run; those of a trace need not be consecutive
  std::int32_t data_rank = 0;
  std::int32_t sequence = 0;     // among the operations of the type, worker and step
  std::int32_t microbatch = -1;  // of a computation; -1 where it does not apply
  std::int16_t stage = 0;
  std::int16_t chunk = -1;         // of the model, within the stage; -1 where it does not apply
  std::int16_t global_chunk = -1;  // the same in the whole model
  OpType type = OpType::kForwardCompute;
};

// The rows of all workers and steps, and what the numbers of their ranks mean.
struct RecordedTrace {
  std::vector<RecordedOp> ops;
  // Times are single-precision numbers: ends, transfer times and medians of them are rounded to it, too.
  bool single_precision = true;
  int sequence_ranks = 1;  // data-parallel ranks that share each recorded one (dsp_size of the public traces)
  std::map<std::pair<int, int>, int> global_rank;  // of the worker (data rank, stage)
  // [data rank] how many data ranks it stands for; empty: each for itself.
  std::vector<std::int64_t> ranks_alike;
  std::vector<int> rank_number;  // [data rank] of the run, where it is another; empty: the same

  double rounded(double seconds) const {
    return single_precision ? static_cast<double>(static_cast<float>(seconds)) : seconds;
  }
  double end_s(const RecordedOp& op) const { return rounded(op.start_s + op.duration_s); }
};

}  // namespace podsim
