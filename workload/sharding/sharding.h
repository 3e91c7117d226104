// How tensors lie on the mesh: which axes cut each dimension, and what one device then holds.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/graph.h"
#include "workload/mesh/axes.h"

namespace podsim {

struct Job;

// Axes that the rules put on a logical dimension, as a rule lists them, major to minor. Names that the mesh
// lacks and axes of size 1 are skipped. A dimension without a rule takes that of its more general name:
// attention_heads -> heads, attention_kv_heads -> kv_heads, attention_sequence -> sequence, expert_ffn ->
// ffn, param_expert_ffn -> param_ffn.
AxisList ruled_axes(const Job& job, const std::string& dimension);
// The dimension whose rule speaks for this one: itself, its more general name, or empty.
std::string ruling_dimension(const Job& job, const std::string& dimension);
AxisSet axes_on(const Job& job, const std::string& dimension);  // the same, as a set

int batch_shards(const Job& job);  // product of the axes on the "batch" rule
int microbatches(const Job& job);  // per step and replica: global_batch / (batch_shards * microbatch)
// Where a job takes the sequences of a batch shard at once, makes the microbatch as many as there now are; 1
// where the batch shards do not divide the batch.
void follow_batch(Job& job);

TensorShape shape_of(const Tensor& tensor);

// The user's annotation, else what the rules say; an axis that two dimensions claim stays with the first. The
// gradient of a parameter lies as the parameter does, and on the axes of the "gradient_" rules (ZeRO-2).
Layout ruled_layout(const Job& job, const Tensor& tensor);

// Of a parameter's optimizer state: the layout of the parameter and the axes of the "state_" rules. A vector
// without the ruled dimension is cut along its last, much as a flat buffer would be.
Layout state_layout(const Job& job, const Tensor& parameter);

}  // namespace podsim
