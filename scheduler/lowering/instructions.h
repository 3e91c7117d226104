// Instruction streams: what each pipeline stage issues, in order, with durations of computation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.h"
#include "scheduler/lowering/bucket.h"
#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

// Streams of one chip. Operations of a stream run one after another; streams run beside each other and beside
// computation.
enum class Stream : std::uint8_t {
  kParameter,
  kActivation,
  kActivationBeside,  // of the second of two passes that take turns
  kGradient,
  kStepGather,
  kForwardNext,  // this and the next three: activations and gradients to the neighbouring stages
  kForwardPrevious,
  kBackwardNext,
  kBackwardPrevious,
  kToHost,  // this and the next: copies, which concern one chip and no link of the fabric
  kFromHost
};
inline constexpr int kStreams = 11;
inline constexpr int kNetworkStreams = 9;  // those before the copies

std::string_view to_string(Stream stream);  // "weights", "activations", ...
constexpr bool copies(Stream stream) { return static_cast<int>(stream) >= kNetworkStreams; }

// Whom a message concerns: the group of a chip along mesh axes, or the neighbouring pipeline stage.
struct Scope {
  AxisSet axes = 0;
  int neighbour = 0;  // 0: the group along `axes`; +1 or -1: from a stage to the next or previous one along
                      // the pipeline axis
  int job = 0;        // whose mesh it is
  bool mirrored = false;  // along the pipeline axis, pairs of the i-th stage and the i-th from the end

  // A transfer from each stage to a neighbour, and no collective.
  constexpr bool point_to_point() const { return neighbour != 0; }
  // Its groups are pairs of stages: transfers, and collectives of two stages each.
  constexpr bool of_pairs() const { return point_to_point() || mirrored; }
  // How many pairs `stages` along the axis make, each first member once: 0, 1, ... up to there.
  // REQUIRES: of_pairs().
  constexpr std::int64_t pairs_of(std::int64_t stages) const { return mirrored ? stages / 2 : stages; }
  // The second member of the pair whose first is `stage`. REQUIRES: of_pairs(), 0 <= stage < stages.
  constexpr std::int64_t partner_of(std::int64_t stage, std::int64_t stages) const {
    return mirrored ? stages - 1 - stage : (stage + neighbour + stages) % stages;
  }
  auto operator<=>(const Scope&) const = default;
};

// One distinct collective or transfer of the step.
struct CollectiveCall {
  Scope scope;
  CollectiveKind kind;
  Bytes bytes;
  Fanout fanout = {};
  friend bool operator==(const CollectiveCall&, const CollectiveCall&) = default;
};

// What the compute stream does next.
struct Instruction {
  enum class Kind : std::uint8_t {
    kCompute,      // for `duration`
    kLaunch,       // puts `message` at the end of `stream` and goes on
    kCopy,         // puts a copy of `duration` at the end of `stream` and goes on
    kWait,         // until at most `pending` operations of `stream` are unfinished
    kReceive,      // until the next transfer that a neighbour has sent on its `stream` has arrived
    kInput,        // until the batch of the next step is there
    kHost,         // until the host, which needs `duration` for it, has launched what came since the last one
    kSynchronise,  // the host waits for the device before it launches what comes
    kPause,        // for `duration`, whatever runs beside it
  };
  Kind kind;
  Stream stream = Stream::kActivation;
  Bucket bucket = Bucket::kCompute;
  std::int32_t message = -1;
  std::int32_t pending = 0;
  Time duration;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// Batches are loaded one after another, that of the first step before it. The load of a batch begins when
// that of the one before has ended, and not before the step `ahead` steps before its own has begun.
struct InputPipeline {
  Time load;  // of one batch
  int ahead = 1;
};

// A stage runs its segments in `order`; a segment that recurs (one microbatch of a chunk) is stored once.
struct StageProgram {
  int job = 0, stage = 0;
  PipelineShape pipeline;
  InputPipeline input;
  double interference = 0;  // computation runs 1 / (1 + this) as fast while its chip takes part in a transfer
  double skew = 0;          // wait for the slowest host, as a share of computation
  double least_factor = 0;  // of chance: with a lesser one its passes would be faster than the chip's peaks
  Time host_lead = Time::max();  // how long before the device the host may launch
  std::vector<std::vector<Instruction>> segments;
  std::vector<std::int32_t> order;
  std::vector<std::vector<double>> attention;  // [segment][window of JobPacking] share of its computation;
                                               // empty where documents have no lengths
  std::vector<PipelineTask> tasks;             // of all positions, one after the other
  std::vector<std::int32_t> tasks_before;      // [position in order]

  // Two where they take turns; none at the begin and end of the step.
  std::span<const PipelineTask> tasks_at(std::int32_t position) const {
    const auto at = static_cast<std::size_t>(position);
    const auto first = static_cast<std::size_t>(tasks_before[at]);
    const std::size_t end =
        at + 1 < tasks_before.size() ? static_cast<std::size_t>(tasks_before[at + 1]) : tasks.size();
    return std::span<const PipelineTask>(tasks).subspan(first, end - first);
  }
};

// A training step as instruction streams: the first form of it that has times.
struct LoweredStep {
  std::vector<CollectiveCall> messages;
  std::vector<StageProgram> stages;  // of one job after the other
};

// Adds the step of a further job, which becomes job number `job`.
void append(LoweredStep& all, LoweredStep step, int job);

}  // namespace podsim
