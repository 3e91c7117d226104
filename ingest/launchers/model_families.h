// What the classes of the transformers library make of a config.json: biases, norms and defaults by model
// type.
#pragma once

#include <string>

namespace podsim {

struct ModelFamily {
  enum class Norm { kRms, kLayer, kLayerWithoutBias, kNoWeights };
  enum class QueryNorm { kNone, kPerHead, kWhole, kWholeIfAsked };
  enum class OutputBias { kNever, kAsOthers, kAlways };
  const char* model_type;
  int norms = 2;  // of a layer
  Norm norm = Norm::kRms;
  bool gated = true;
  QueryNorm query_norm = QueryNorm::kNone;
  bool attention_bias = false;  // of queries, keys and values, where the file says nothing
  OutputBias output_bias = OutputBias::kAsOthers;
  bool mlp_bias = false;       // where the file says nothing
  bool tied = false;           // where the file says nothing
  int learned_positions = -1;  // rows beyond the stated positions; -1 = none
  bool head_bias = false;      // of the output projection
  bool embedding_norm = false;
};

// Null for a type that is not known.
const ModelFamily* model_family(const std::string& model_type);

}  // namespace podsim
