// A model as the user describes it: the sizes of a transformer.
#pragma once

#include <optional>
#include <string>

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
  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

// Multi-head latent attention: queries, and keys with values, pass through narrow latents.
struct LatentAttention {
  int query_rank = 0;  // 0 = queries are projected in one step
  int kv_rank = 0;
  int plain_dim = 0;   // of a key, without position, per head
  int rotary_dim = 0;  // of a key, with position, shared by all heads
  int value_dim = 0;
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

// BERT: an encoder that guesses masked tokens and whether the second segment follows the first.
struct MaskedLanguageModel {
  int segments = 2;
  friend bool operator==(const MaskedLanguageModel&, const MaskedLanguageModel&) = default;
};

// T5: a second stack whose layers also attend to the output of the first.
struct Decoder {
  int layers = 0;
  int tokens = 0;  // of the target sequence; Job::sequence is that of the encoder
  friend bool operator==(const Decoder&, const Decoder&) = default;
};

// Vision transformer: a sequence is the patches of one image and a class token; `vocabulary` = classes.
struct Vision {
  int patch = 0;  // pixels per side
  int channels = 3;
  friend bool operator==(const Vision&, const Vision&) = default;
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
  int usual_sequence = 0;        // tokens that its inputs have, whatever a job says; 0 = they are free
  int prediction_layers = 0;     // modules that predict one token further each (multi-token prediction)
  std::optional<MixtureOfExperts> experts = {};
  std::optional<LatentAttention> latent = {};
  std::optional<MaskedLanguageModel> masked = {};
  std::optional<Decoder> decoder = {};  // the model's own layers are then the encoder
  std::optional<Vision> vision = {};

  bool norm_offsets() const { return biases && !rms_norm; }
  friend bool operator==(const Model&, const Model&) = default;
};

}  // namespace podsim
