// A training job as the user describes it: model, mesh, sharding, batch, precision. No chips, no times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/job/measured_layers.h"
#include "workload/job/model.h"
#include "workload/job/padded_shapes.h"
#include "workload/job/pipeline_schedule.h"
#include "workload/job/sequence_lengths.h"
#include "workload/job/stack.h"
#include "workload/job/tensor_program.h"
#include "workload/mesh/mesh.h"

namespace podsim {

// "This logical tensor dimension lies on these mesh axes", as MaxText and T5X users write.
// Activation dimensions: batch, sequence, residual_sequence (between blocks), embed, heads, kv_heads,
// head_dim, ffn, vocabulary; attention_sequence and attention_heads inside attention where they differ;
// experts, expert_groups (the batch at the experts), expert_ffn. Key and value heads are cut with the query
// heads they serve, over the axes that both "heads" and "kv_heads" name. Parameter dimensions carry the
// prefix "param_": param_embed, param_heads, param_kv_heads, param_ffn, param_vocabulary, param_experts,
// param_expert_ffn. Optimizer state and master weights: "state_" + the parameter dimension, added to what the
// parameter has (ZeRO-1).
struct ShardingRule {
  std::string dimension;
  std::vector<std::string> axes;  // major to minor; empty = replicated
  friend bool operator==(const ShardingRule&, const ShardingRule&) = default;
};

// Who says how an operation runs where its tensors' shardings leave a choice.
enum class Partitioner : unsigned char {
  kDeclared,  // shardings on which two or more of its tensors agree are kept; time decides about the others
  kSearch,    // time decides about every axis of every operation
};
// What a layer keeps of its forward pass; the rest is computed again when backward needs it.
enum class Recompute : unsigned char {
  kNone,         // keeps all
  kSelective,    // all but the scores of attention, which fused kernels never keep
  kFull,         // the layer's input
  kKeepNamed,    // the input and Job::recompute_names
  kRemakeNamed,  // all but Job::recompute_names
};

// Forward passes over sequences that are not trained on, between training steps.
struct Evaluation {
  int sequences = 0;           // of one evaluation; 0 = none
  int every_steps = 0;         // between two of them, whatever the batch; 0 = by sequences
  double every_sequences = 1;  // trained on between two of them
  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

// Weights of the model are frozen; what is trained are products of two narrow matrices beside some of its
// matmuls.
struct Adapters {
  int rank = 0;
  std::vector<std::string> matmuls;  // beside which; empty = those of layers that run in Job::precision
  double frozen_bytes = 0;  // per frozen weight, in memory and on the wire; 0 = as the precision has it
  bool dropout = false;     // of what enters an adapter
  friend bool operator==(const Adapters&, const Adapters&) = default;
};

struct Job {
  Model model;
  std::optional<TensorProgram> program;    // instead of the model
  std::optional<MeasuredLayers> measured;  // instead of both
  Stack stack;
  Mesh mesh;
  std::vector<ShardingRule> rules;            // complete: presets are already expanded
  std::vector<TensorAnnotation> annotations;  // of tensors of the model; they replace rules
  std::string rest_axis;                      // takes the chips that the others leave; empty = none
  std::string pipeline_axis;                  // empty = no pipeline
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  int chunks_per_stage = 1;           // virtual stages
  std::vector<int> layers_per_chunk;  // [piece of the model, in order]; empty = dealt out evenly
  int global_batch = 0;               // sequences per step
  int microbatch = 0;        // sequences per microbatch and batch shard (one pipeline pass of one replica)
  bool all_at_once = false;  // the microbatch follows batch and mesh (follow_batch); there is no pipeline
  int sequence = 0;          // tokens per sequence
  Partitioner partitioner = Partitioner::kDeclared;
  PrecisionRecipe precision;  // of the layer matmuls; attention, logits and embeddings stay in 16 bits
  std::vector<GemmPrecision> gemm_precision;  // matmuls with a recipe of their own
  Recompute recompute = Recompute::kNone;
  std::vector<std::string> recompute_names;  // activations of layers, see retainable_names
  std::vector<std::string> offloaded;        // activations that wait on the host, whatever the policy
  bool offload_optimizer = false;            // optimizer state lives on the host
  int recompute_layers = 0;                  // only the first layers of each chunk recompute; 0 = all
  int recompute_every = 1;                   // of these, every n-th layer of the model
  double input_bytes_per_token = 4;
  Bandwidth input_rate;    // per host; zero = never limits
  Bandwidth storage_rate;  // of all hosts of the job together; zero = never limits
  int batches_ahead = 1;   // loaded, or being loaded, before the step that uses them begins; >= 1

  Evaluation evaluation;
  std::optional<Adapters> adapters;    // fine-tuning; nothing = all weights are trained
  SequenceLengths lengths;             // of the documents that sequences are packed of
  std::optional<PaddedShapes> shapes;  // documents are padded instead; the step is that of the longest

  // Forward passes over a batch per training step; the last of each evaluation is filled up.
  double evaluation_passes() const;
  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace podsim
