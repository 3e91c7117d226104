// FLOPs per token of a model, by definition: what MFU and HFU count.
#include "workload/model_flops.h"

#include "workload/kernels.h"

namespace podsim {
namespace {

double scores(const Model& model, int sequence) { return 4.0 * sequence * model.heads * model.head_dim; }

double layer_matmuls(const Model& model) {
  const double d = model.d_model, h = model.head_dim;
  const double attention = d * h * (model.heads + 2.0 * model.kv_heads) + d * h * model.heads;
  return 2 * (attention + (model.gated_ffn ? 3 : 2) * d * model.ffn);
}

}  // namespace

Flops model_flops_per_token(const Model& model, int sequence, bool causal) {
  const double seen = causal && model.causal ? 0.5 : 1;
  const double layer = layer_matmuls(model) + seen * scores(model, sequence);
  return Flops{3 * (model.layers * layer + 2.0 * model.d_model * model.vocabulary)};
}

Flops hardware_flops_per_token(const Job& job) {
  const Model& model = job.model;
  double again = 0;
  if (job.recompute == Recompute::kFull) again = layer_matmuls(model) + scores(model, job.sequence);
  if (job.recompute == Recompute::kSelective && !fused_attention(job.stack))
    again = scores(model, job.sequence);
  return model_flops_per_token(model, job.sequence, false) + Flops{model.layers * again};
}

}  // namespace podsim
