// FLOPs per token of a model, by definition: what MFU and HFU count.
#pragma once

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

// What chips compute for a token at least, whatever its place and its document.
Flops fewest_flops_per_token(const Job& job, const ModelProgram& model);

// The same where documents share sequences: `squares` = the sum of their squared lengths over that of full
// sequences. Attention does not cross documents.
FlopsPerToken of_documents(const FlopsPerToken& flops, double squares);

}  // namespace podsim
