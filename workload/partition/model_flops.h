// FLOPs per token of a model, by definition: what MFU and HFU count.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "workload/job/sequence_lengths.h"
#include "workload/model/model_program.h"
#include "workload/partition/program.h"

namespace podsim {

struct Job;

// full: 3 x the forward FLOPs of every matmul and of attention scores, counted from the graphs without
// padding, recompute or unused slots of experts; a multiply-add is two, the embedding lookup is not counted.
// Scores of one layer: 2 x keys seen x heads x (width of a key + width of a value). A query sees the whole
// sequence, or its window. causal: in a causal model, only what lies before it: half a whole sequence.
// hardware: full, and what the recompute policy does again, operation by operation: a full recompute that
// stops early leaves out the last projection of a layer. Backward kernels of fused attention compute scores
// again in any case; by convention that is not counted.
FlopsPerToken flops_per_token(const Job& job, const ModelProgram& model);

// Of a forward pass, without attention scores.
Flops forward_flops_without_scores(const Job& job, const ModelProgram& model);

// What chips compute for a token at least, whatever its place and its document.
Flops fewest_flops_per_token(const Job& job, const ModelProgram& model);

// Windows of all that is counted and computed, causal and not.
std::vector<KeyWindow> key_windows(const FlopsPerToken& flops);

// Where attention with this window is among them. REQUIRES: it is.
std::size_t place_of(const KeyWindow& window, std::span<const KeyWindow> windows);

// The same where documents share sequences: attention does not cross documents. `attention` as
// MicrobatchLoad has it, by key_windows(flops).
FlopsPerToken of_documents(const FlopsPerToken& flops, std::span<const double> attention);

}  // namespace podsim
