// The partitioned training step: what one device computes and which collectives it joins. No chips, no times.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "collectives/collective.h"
#include "workload/job/dtype.h"
#include "workload/job/pipeline_schedule.h"
#include "workload/mesh/mesh.h"
#include "workload/pipeline/chunk_shape.h"

namespace podsim {

struct Job;

enum class OpClass : std::uint8_t { kMatmul, kAttention, kMemoryBound, kOptimizer, kMeasured };

// One local operation. All sizes are those of one device's shard.
struct ComputeOp {
  std::string name;  // "qkv", "attention", "ffn up dgrad", ...
  OpClass op_class = OpClass::kMatmul;
  Dtype dtype = Dtype::kBf16;
  double m = 0, n = 0, k = 0;  // matmul: C[m,n] += A[m,k] B[k,n]
  double repeats = 1;          // this many such matmuls
  // Of a matmul with a weight: the largest power of two, 64 at most, that divides the elements of every row
  // of its three matrices. Rows of others are taken as aligned.
  int row_alignment = 64;
  double query_length = 0, key_length = 0, heads = 0, head_dim = 0, sequences = 0;  // attention
  double window = 0;  // attention: keys that a query sees at most; 0: all of `key_length`
  bool causal = false;
  bool sinks = false;  // attention
  bool backward = false;
  bool weight_gradient = false;  // no earlier piece waits for it
  bool of_experts = false;       // routes tokens or computes on slots of experts: Stack::experts
  bool recomputed = false;       // repeats an operation of the forward pass
  double launches = 1;           // host time to launch it, of that of an ordinary operation of a layer
  Time measured;                 // kMeasured: how long it takes on a chip at full speed; it has no sizes
  Flops flops;                   // executed; a causal kernel that skips the masked half counts half
  Bytes hbm;                     // read and written
};

// Why a collective is there decides when it may run.
enum class Purpose : std::uint8_t {
  kActivation,  // the next operation needs it
  kParameter,   // a weight gather; may be fetched ahead
  kGradient,    // a weight-gradient reduction of each microbatch; needed by the optimizer only
};

struct CollectiveOp {
  std::string tensor;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  AxisSet axes = 0;
  Bytes bytes;  // in the convention of Collective::bytes, per device
  Purpose purpose = Purpose::kActivation;
  // > 1: a ring of this many blocks. kind = permute, bytes = one block; the next computation is cut into as
  // many pieces, and a block travels beside each piece but the last (collective matmul, ring attention).
  int windows = 1;
  bool weight_gradient = false;  // belongs to such an operation
  bool of_experts = false;       // takes tokens to their experts or back
  Fanout fanout = {};
};

// A tensor that moves between the memory of the chip and that of its host. Forward passes send out what
// backward passes, in the same order of operations per layer, fetch again; an optimizer fetches its state and
// sends it back.
struct HostCopy {
  std::string tensor;
  Bytes bytes;
  bool to_host = true;
};

using ProgramOp = std::variant<ComputeOp, CollectiveOp, HostCopy>;
using Block = std::vector<ProgramOp>;  // in issue order

// What a pass over one piece and microbatch leaves for its backward pass, on one device.
struct KeptActivation {
  std::string tensor;  // of the graph, or "scores" of unfused attention
  Bytes bytes;
  bool on_host = false;
};

// One piece of the model: the embedding, a kind of layer, or the head with its loss.
struct Part {
  std::string name;     // "embedding", "layer", "expert layer", "head"
  bool layer = true;    // recompute applies
  bool loss = false;    // ends in the loss
  double launches = 1;  // host time of its forward operations, of that of an ordinary layer's
  Block forward;
  Block backward;                    // includes what is recomputed, before it is needed
  Block gradient_reduce;             // once per step, after the last microbatch's backward
  Block optimizer;                   // once per step
  Block parameter_gather;            // once per step, after the optimizer
  int weights = 0;                   // tensors that the optimizer updates
  double parameters = 0;             // of the whole model's part, unsharded
  double local_parameters = 0;       // elements of one device's weight shard
  double local_weights = 0;          // bytes of one device's weight shard
  double local_gradients = 0;        // elements of one device's gradient shards
  double local_state = 0;            // elements of one device's optimizer-state shard
  Bytes output;                      // activation handed to the next part, per device and microbatch
  AxisSet output_copies = 0;         // axes along which every device has the same of it
  std::vector<KeptActivation> kept;  // in the order of forward
};

// Bytes on one device of one pipeline stage.
struct MemoryUse {
  Bytes weights, gradients, optimizer, activations, logits, buffers, fragmentation;
  Bytes total() const {
    return weights + gradients + optimizer + activations + logits + buffers + fragmentation;
  }
};

// Attention scores among what MFU and HFU count, of layers with one window.
struct ScoreFlops {
  double window = 0;  // keys that a query sees at most; 0: all
  Flops full, causal, hardware;
  friend bool operator==(const ScoreFlops&, const ScoreFlops&) = default;
};

// What MFU and HFU count: docs/theory/model.md. All are the same where layers are measured.
struct FlopsPerToken {
  Flops full;      // every position attends to every position
  Flops causal;    // half of the attention scores (equal to full for an encoder)
  Flops hardware;  // full, with recompute
  Flops without_scores, hardware_without_scores;  // full and hardware without attention scores
  std::vector<ScoreFlops> scores;                 // by ascending window
  friend bool operator==(const FlopsPerToken&, const FlopsPerToken&) = default;
};

struct StepProgram {
  Mesh mesh;
  std::vector<Part> parts;  // each kind once
  int pipeline_axis = -1;   // index in mesh, or -1
  int stages = 1;
  std::vector<std::vector<ChunkShape>> chunks;  // [stage][chunk]
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  int microbatches = 1;
  bool forward_only = false;      // an evaluation: no pass goes back
  std::vector<MemoryUse> memory;  // [stage]
  double parameters = 0;          // of the whole model
  double tokens = 0;              // per step, whole job
  FlopsPerToken flops_per_token;  // where every sequence is one document
};

class CostModel;
struct PartitionTrace;

// REQUIRES: explain_invalid(job) is empty. Collectives come from the shardings of tensors, never from the
// name of a scheme; among the plans of an operation the one of least cost is taken. `trace`, where given,
// receives what was decided and why.
StepProgram partition(const Job& job, const CostModel& cost, PartitionTrace* trace = nullptr);
StepProgram partition(const Job& job);  // no fabric: bytes sent decide

// The forward passes of a step alone, over as many sequences: nothing is kept or sent to the host for a
// backward pass, and no weight changes.
StepProgram evaluation_of(const StepProgram& training);

}  // namespace podsim
