// A scenario in text format, made line by line, each with where its value is from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/imported/imported.h"

namespace podsim {

class ScenarioText {
 public:
  void comment(const std::string& words);                            // a line of its own
  void line(const std::string& text, const std::string& from = "");  // "chips: 512", "--chips"
  void open(const std::string& name, const std::string& from = "");  // "job": "job {"
  void close();
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

// Where a field is said; empty where it is not.
std::string said_of(const std::map<std::string, std::string>& from, const std::string& field);

// In quotes, as text format has it.
std::string in_quotes(const std::string& text);

// Sizes of a transformer as a configuration has them; what it does not say is missing.
struct ModelSizes {
  std::optional<std::int64_t> layers, d_model, heads, kv_heads, head_dim, ffn, vocabulary, learned_positions,
      attention_window, full_every, prediction_layers;
  bool gated_ffn = false, tied_embedding = false, biases = false, rms_norm = false, qk_norm = false,
       post_norms = false, attention_sinks = false, dropout = false;
  struct Experts {
    std::optional<std::int64_t> experts, experts_per_token, expert_ffn, shared_ffn, dense_layers, every,
        most_groups;
    std::optional<double> capacity_factor;
    bool router_bias = false;
    friend bool operator==(const Experts&, const Experts&) = default;
  };
  std::optional<Experts> experts;
  struct Latent {
    std::optional<std::int64_t> query_rank, kv_rank, plain_dim, rotary_dim, value_dim;
    friend bool operator==(const Latent&, const Latent&) = default;
  };
  std::optional<Latent> latent;
  std::map<std::string, std::string>
      from;  // [field] where it is said; others follow from the file's defaults
  friend bool operator==(const ModelSizes&, const ModelSizes&) = default;
};

// "model_override { ... }". REQUIRES: layers, d_model, heads and the vocabulary are there.
void add_model(ScenarioText& text, const std::string& name, const ModelSizes& sizes, const std::string& file);

// Of a model of the catalogue that has the sizes `known`, those that are others; no block where all are the
// same. REQUIRES: it lacks neither the experts nor the latents that `known` has.
void add_model_changes(ScenarioText& text, const ModelSizes& sizes, const ModelSizes& known);

// Chip, fabric and number of chips, from the command line.
void add_cluster(ScenarioText& text, const Stated& stated, std::int64_t chips, const std::string& chips_from,
                 std::int64_t slices, const std::string& slices_from);

// Adds what a scenario needs beside the file: chip and fabric.
void need_cluster(const Stated& stated, std::vector<Needed>& needs);

}  // namespace podsim
