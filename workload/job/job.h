// A training job as the user describes it: model, mesh, sharding, batch, precision. No chips, no times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/job/chip.h"
#include "workload/job/measured_layers.h"
#include "workload/job/sequence_lengths.h"
#include "workload/job/stack.h"
#include "workload/job/tensor_program.h"
#include "workload/mesh/mesh.h"

namespace podsim {

// Experts in place of the feed-forward block. Slots of one expert per sequence of tokens:
// ceil(tokens x experts_per_token / experts x capacity_factor x imbalance).
struct MixtureOfExperts {
  int experts = 0;
  int experts_per_token = 0;
  int expert_ffn = 0;    // hidden width of one expert
  bool gated = false;    // three matrices instead of two
  int shared_ffn = 0;    // hidden width of a dense block beside the experts; 0 = none
  int dense_layers = 0;  // the first layers have Model::ffn instead
  int every = 1;         // of the others, every n-th has experts: 2 = every other, beginning with a dense one
  double capacity_factor = 1;  // slots over the mean number of tokens; what finds no slot is dropped
  double imbalance = 1;        // without drops: tokens of the most loaded device over the mean
  bool router_bias = false;
  // The experts of a token lie in at most this many groups, and groups on NVLink domains; 0 = anywhere.
  int most_groups = 0;
};

// Multi-head latent attention: queries, and keys with values, pass through narrow latents.
struct LatentAttention {
  int query_rank = 0;  // 0 = queries are projected in one step
  int kv_rank = 0;
  int plain_dim = 0;   // of a key, without position, per head
  int rotary_dim = 0;  // of a key, with position, shared by all heads
  int value_dim = 0;
};

// BERT: an encoder that guesses masked tokens and whether the second segment follows the first.
struct MaskedLanguageModel {
  int segments = 2;
};

// T5: a second stack whose layers also attend to the output of the first.
struct Decoder {
  int layers = 0;
  int tokens = 0;  // of the target sequence; Job::sequence is that of the encoder
};

// Vision transformer: a sequence is the patches of one image and a class token; `vocabulary` = classes.
struct Vision {
  int patch = 0;  // pixels per side
  int channels = 3;
};

// A transformer: decoder, encoder, or both.
struct Model {
  std::string name;
  int layers = 0;
  int d_model = 0;
  int heads = 0;
  int kv_heads = 0;  // = heads without grouped-query attention
  int head_dim = 0;
  int ffn = 0;             // hidden width of the feed-forward block
  bool gated_ffn = false;  // three matrices (SwiGLU) instead of two
  int vocabulary = 0;
  bool tied_embedding = false;
  bool causal = true;
  bool parallel_block = false;  // attention and feed-forward read the same normalised input (PaLM)
  int learned_positions = 0;    // rows of a learned position table; 0 = rotary or none
  bool biases = false;
  bool dropout = false;          // of the embedding and of what each block adds: a mask of a byte per element
  bool rms_norm = false;         // norms have no offset even where there are biases
  bool qk_norm = false;          // queries and keys are normalised per head
  bool post_norms = false;       // what a block adds to the residual is normalised too
  int attention_window = 0;      // tokens that a query of a local layer sees; 0 = no layer is local
  int full_every = 0;            // every n-th layer is not local; 0 = all are
  bool attention_sinks = false;  // a softmax has one more term per head, which no key has (arXiv 2309.17453)
  int prediction_layers = 0;     // modules that predict one token further each (multi-token prediction)
  std::optional<MixtureOfExperts> experts = {};
  std::optional<LatentAttention> latent = {};
  std::optional<MaskedLanguageModel> masked = {};
  std::optional<Decoder> decoder = {};  // the model's own layers are then the encoder
  std::optional<Vision> vision = {};

  bool norm_offsets() const { return biases && !rms_norm; }
};

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
enum class PipelineSchedule : unsigned char {
  kGpipe,
  k1F1B,
  kInterleaved,
  kShifting,  // GSPMD: every stage computes in every iteration, then all shift their activation by one stage
  kZeroBubbleH1,  // 1F1B whose weight gradients come apart and fill the drain (arXiv 2401.10241)
  kZeroBubbleV,   // two chunks per stage that run down and up the stages (arXiv 2401.10241, section 6)
  kDualPipe,      // microbatches enter at both ends; every stage holds two pieces (arXiv 2412.19437)
};

// Forward passes over sequences that are not trained on, between training steps.
struct Evaluation {
  double sequences = 0;        // of one evaluation; 0 = none
  double every_sequences = 1;  // trained on between two of them
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
  int microbatch = 0;  // sequences per microbatch and batch shard (one pipeline pass of one replica)
  int sequence = 0;    // tokens per sequence
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
  SequenceLengths lengths;  // of the documents that sequences are packed of

  // Forward passes over a batch per training step; the last of each evaluation is filled up.
  double evaluation_passes() const;
};

}  // namespace podsim
