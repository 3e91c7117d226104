// FLOPs per token of a model, by definition: what MFU and HFU count.
#pragma once

#include "workload/job.h"

namespace podsim {

// 3 x [layers x (projections + feed-forward + attention scores) + logits], a multiply-add is two, the
// embedding lookup is not counted. Attention scores of one layer, forward: 4 x sequence x heads x head_dim;
// `causal` counts half of them in a causal model.
Flops model_flops_per_token(const Model& model, int sequence, bool causal);

// The same with full attention and what recompute does again: the forward of all layers (full), or the scores
// of unfused attention (selective). Fused kernels compute scores again in any case; by convention that is not
// counted.
Flops hardware_flops_per_token(const Job& job);

}  // namespace podsim
