// Builds the pieces of transformers: tensors named as sharding rules name them, and operations between them.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/graph.h"
#include "workload/job/job.h"

namespace podsim {

// What queries of one attention see.
struct AttentionSpan {
  bool causal = true;       // in a causal model
  std::int64_t window = 0;  // keys at most; 0 = all
};

// Which kind of layer of a model that has several.
struct LayerKind {
  bool experts = false;
  bool local = false;  // Model::attention_window applies
  friend bool operator==(const LayerKind&, const LayerKind&) = default;
};

// Sizes are those of one microbatch over all batch shards. Letters: b batch, s sequence, t key sequence, d
// embed, n heads (query, key and value in one block each), h and c head_dim of keys and of values, g matrices
// into the feed-forward block (2 when gated), f ffn, v vocabulary, p rows of a table, e experts, l latent.
class TransformerBuilder {
 public:
  // `tokens` = length of the sequence that the blocks work on.
  TransformerBuilder(const Job& job, std::int64_t tokens) : job_(job), model_(job.model), tokens_(tokens) {}
  explicit TransformerBuilder(const Job& job) : TransformerBuilder(job, job.sequence) {}

  static TensorDim dim(const std::string& logical, std::int64_t size) { return {logical, {{.size = size}}}; }
  TensorDim embed_rows() const { return dim("param_embed", model_.d_model); }
  TensorDim batch() const;
  TensorDim sequence() const { return dim("sequence", tokens_); }
  TensorDim residual_sequence() const { return dim("residual_sequence", tokens_); }

  // --- Tensors ---
  TensorId activation(const std::string& name, std::vector<TensorDim> dims);
  TensorId indices(const std::string& name, std::vector<TensorDim> dims);  // no gradient
  // [batch, sequence, embed] between blocks. Left unconstrained, partial sums may stay.
  TensorId residual(const std::string& name, bool constrained = true);
  TensorId matrix(const std::string& name, std::vector<TensorDim> dims);
  TensorId vector(const std::string& name, std::vector<TensorDim> dims);
  // Scale of a norm, followed by its offset where the model has offsets.
  TensorId norm_weight(const std::string& name, TensorDim width);
  // Appends a bias operand for the operation after a projection, in a model that has biases.
  void bias(std::vector<Operand>& inputs, const std::string& name, std::vector<TensorDim> dims,
            const std::string& letters);

  // --- Operations ---
  void norm(const std::string& name, TensorId x, TensorId out);
  void einsum(const std::string& name, Operand x, Operand weight, Operand out, bool low_precision = true);
  void sum(const std::string& name, std::vector<Operand> inputs, TensorId out);
  // A sum whose inputs from `drops_from` on pass dropout, in a model that has it.
  void dropped_sum(const std::string& name, std::vector<Operand> inputs, int drops_from, TensorId out);
  void attend(const std::string& name, Operand q, Operand kv, Operand context, AttentionSpan span);

  // --- Blocks: from a normalised input to a term of the residual ---
  void attention(TensorId normalised, TensorId out, AttentionSpan span);
  void latent_attention(TensorId normalised, TensorId out, AttentionSpan span);
  // Keys and values from `memory` of `memory_tokens` tokens.
  void cross_attention(TensorId normalised, TensorId memory, std::int64_t memory_tokens, TensorId out);
  void feed_forward(const std::string& name, TensorId normalised, TensorId out, int width, bool gated);
  void experts(TensorId normalised, TensorId out);

  // One layer from x to y: of a decoder or a lone encoder, of an encoder before a decoder, and of such a
  // decoder.
  void layer(TensorId x, TensorId y, LayerKind kind);
  void encoder_layer(TensorId x, TensorId y);
  void decoder_layer(TensorId x, TensorId y, TensorId memory, std::int64_t memory_tokens);

  TensorId embedding_table(bool shared);  // shared = it belongs to another piece
  // Rows of the tables for the tokens of the sequence, added.
  void look_up(std::vector<Operand> tables, TensorId out);
  // Norm, projection to the vocabulary and loss. `shared` = the output table belongs to another piece.
  void loss(TensorId x, bool shared);

  Graph graph;

 private:
  void parallel_layer(TensorId x, TensorId y, AttentionSpan span);
  // The block named `name` after its norm, added to x with the biases of its last projection.
  template <typename Block>
  void residual_block(const std::string& number, TensorId x, TensorId y, const std::string& name, bool biased,
                      Block&& block);

  TensorDim query_heads() const { return dim("heads", model_.heads); }
  TensorDim key_value_heads() const;
  KernelChain turned() const;
  TensorDim fused_heads() const;
  TensorDim param_fused_heads() const;
  TensorDim attended_key_value_heads() const;
  // As attention sees it: queries and keys may be cut otherwise than the projections around them.
  TensorId attended(const std::string& name, TensorDim heads, std::int64_t width);
  TensorId projected(const std::string& name, TensorDim heads, std::int64_t width);
  void project_out(TensorId context, std::int64_t width, TensorId out);
  TensorId travelling(TensorId id, Journey journey);
  TensorId of_experts(TensorId id);
  void expert_matmuls(TensorId slots, TensorId out, std::int64_t capacity);

  const Job& job_;
  const Model& model_;
  std::int64_t tokens_;
};

// Slots of one expert for a sequence of `tokens`.
std::int64_t expert_capacity(const MixtureOfExperts& experts, std::int64_t tokens);

}  // namespace podsim
