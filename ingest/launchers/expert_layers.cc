// As the classes of transformers 4.57 ask it of each layer.
#include "ingest/launchers/expert_layers.h"

#include <algorithm>
#include <set>
#include <string>

namespace podsim {

std::vector<bool> read_expert_layers(ModelKeys& keys, std::int64_t layers, ModelSizes::Experts& experts) {
  const auto numbers = [&](const char* name) {
    const std::vector<std::string> list = keys.list(name);
    return std::set<std::string>(list.begin(), list.end());
  };
  const bool listed = keys.stated("moe_layers");
  const std::set<std::string> with = numbers("moe_layers"), without = numbers("mlp_only_layers");
  // Models of DeepSeek count from the 0th layer, others have a dense one first.
  const bool from_zero = keys.stated("moe_layer_freq");
  const std::int64_t dense = keys.whole({"first_k_dense_replace"}, "dense_layers").value_or(0);
  const std::int64_t every = std::max<std::int64_t>(
      1, keys.whole({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"}, "every")
             .value_or(1));
  experts.dense_layers = dense;
  experts.every = every;
  std::vector<bool> has_experts;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string number = std::to_string(layer);
    const bool nth = from_zero ? layer % every == 0 : (layer + 1) % every == 0;
    has_experts.push_back(listed ? with.contains(number)
                                 : layer >= dense && nth && !without.contains(number));
  }
  return has_experts;
}

bool place_experts(const std::vector<bool>& has_experts, ModelSizes::Experts& experts) {
  const auto layers = static_cast<std::int64_t>(has_experts.size());
  const auto next = [&](std::int64_t layer) {
    return std::find(has_experts.begin() + layer, has_experts.end(), true) - has_experts.begin();
  };
  const std::int64_t first = next(0);
  if (first == layers) return false;
  const std::int64_t every = next(first + 1) - first, dense = first + 1 - every;
  if (dense < 0) return false;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    if (has_experts[static_cast<std::size_t>(layer)] != (layer >= dense && (layer - dense + 1) % every == 0))
      return false;
  experts.dense_layers = dense;
  experts.every = every;
  return true;
}

}  // namespace podsim
