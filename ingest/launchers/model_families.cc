// One row per model type, from the modeling files of transformers 4.57.
#include "ingest/launchers/model_families.h"

#include <array>

namespace podsim {
namespace {

using F = ModelFamily;
constexpr auto kRms = F::Norm::kRms;
constexpr auto kLayer = F::Norm::kLayer;
constexpr auto kNone = F::QueryNorm::kNone;
constexpr auto kPerHead = F::QueryNorm::kPerHead;
constexpr auto kWhole = F::QueryNorm::kWhole;
constexpr auto kWholeIfAsked = F::QueryNorm::kWholeIfAsked;
constexpr auto kNoOutputBias = F::OutputBias::kNever;
constexpr auto kAsOthers = F::OutputBias::kAsOthers;
constexpr auto kAlways = F::OutputBias::kAlways;

constexpr std::array kFamilies = {
    // type, norms, norm, gated, query norm, attention bias, output bias, mlp bias, tied, positions, head
    // bias,
    // norm of the embedding
    F{"llama"},
    F{"mistral", 2, kRms, true, kNone, false, kNoOutputBias},
    F{"ministral", 2, kRms, true, kNone, false, kNoOutputBias},
    F{"mixtral", 2, kRms, true, kNone, false, kNoOutputBias},
    F{"qwen2", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen2_moe", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen2_vl", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen2_vl_text", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen2_5_vl", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen2_5_vl_text", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen3_vl_text", 2, kRms, true, kPerHead},
    F{"qwen3_vl_moe_text", 2, kRms, true, kPerHead},
    F{"mimo", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"qwen3", 2, kRms, true, kPerHead},
    F{"qwen3_moe", 2, kRms, true, kPerHead},
    F{"gemma", 2, kRms, true, kNone, false, kAsOthers, false, true},
    F{"gemma2", 4, kRms, true, kNone, false, kAsOthers, false, true},
    F{"gemma3_text", 4, kRms, true, kPerHead, false, kAsOthers, false, true},
    F{"phi3", 2, kRms, true, kNone, false, kNoOutputBias},
    F{"gpt_oss", 2, kRms, true, kNone, true},
    F{"deepseek_v2"},
    F{"deepseek_v3"},
    F{"kimi_k2"},
    F{"minimax_m2", 2, kRms, true, kWhole},
    F{"llama4_text", 2, kRms, true, kNone},
    F{"glm", 2, kRms, true, kNone, false, kNoOutputBias},
    F{"glm4", 4, kRms, true, kNone, false, kNoOutputBias},
    F{"glm4_moe", 2, kRms, true, kNone, false, kNoOutputBias},
    F{"olmo", 2, F::Norm::kNoWeights},
    F{"olmo2", 2, kRms, true, kWhole},
    F{"olmo3", 2, kRms, true, kWhole},
    F{"olmoe", 2, kRms, true, kWhole},
    F{"granite"},
    F{"granitemoe"},
    F{"smollm3"},
    F{"exaone4", 2, kRms, true, kPerHead, false, kNoOutputBias},
    F{"seed_oss", 2, kRms, true, kNone, true, kNoOutputBias},
    F{"ernie4_5", 2, kRms, true, kNone, false, kAsOthers, false, true},
    F{"internlm2", 2, kRms, true, kNone, false, kAsOthers},
    F{"stablelm", 2, kLayer, true, kWholeIfAsked, false, kNoOutputBias},
    F{"cohere", 1, F::Norm::kLayerWithoutBias, true, kWholeIfAsked, false, kAsOthers, false, true},
    F{"cohere2", 1, F::Norm::kLayerWithoutBias, true, kNone, false, kAsOthers, false, true},
    F{"dbrx", 2, F::Norm::kLayerWithoutBias},
    F{"phimoe", 2, kLayer, true, kNone, false, kAsOthers, false, false, -1, true},
    F{"nemotron", 2, kLayer, false, kNone},
    F{"starcoder2", 2, kLayer, false, kNone, true, kAsOthers, true, true},
    F{"gpt2", 2, kLayer, false, kNone, true, kAsOthers, true, true, 0},
    F{"gpt_bigcode", 2, kLayer, false, kNone, true, kAsOthers, true, true, 0},
    F{"mpt", 2, F::Norm::kLayerWithoutBias, false, kNone, false, kNoOutputBias, false, true},
    F{"gpt_neox", 2, kLayer, false, kNone, true, kAsOthers, true},
    F{"gpt_neo", 2, kLayer, false, kNone, false, kAlways, true, true, 0},
    F{"gptj", 1, kLayer, false, kNone, false, kNoOutputBias, true, false, -1, true},
    F{"bloom", 2, kLayer, false, kNone, true, kAsOthers, true, true, -1, false, true},
    F{"falcon", 1, kLayer, false, kNone, false, kAsOthers, false, true},
    F{"opt", 2, kLayer, false, kNone, true, kAsOthers, true, true, 2},
    F{"phi", 1, kLayer, false, kNone, true, kAsOthers, true, false, -1, true},
};

}  // namespace

const ModelFamily* model_family(const std::string& model_type) {
  for (const ModelFamily& family : kFamilies)
    if (model_type == family.model_type) return &family;
  return nullptr;
}

}  // namespace podsim
