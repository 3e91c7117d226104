// What the common ways of parallel training move, as consequences of the layouts of their tensors.
#pragma once

#include "workload/cases/case_plan.h"
#include "workload/cases/shard_case.h"

namespace podsim {

// A gather before a computation as a ring: the computation works on one shard after the other while shards
// are passed on. A scatter after one: partial sums are passed on and added to. The same bytes in n - 1
// permutes of a shard. REQUIRES: an all-gather or a reduce-scatter.
PlanStep as_ring(const PlanStep& step);

// Gradients are partial sums over all devices; parameters, gradients and state lie where the stage says. A
// step gathers cut parameters forward and backward, or after the update.
CasePlan plan_optimizer_step(const Mesh& mesh, const OptimizerStepQuestion& question, const CostModel& cost);

// Attention counts every key for every query, causal or not. Keys and values go round the axes of the
// sequence.
CasePlan plan_ring_attention(const Mesh& mesh, const RingAttentionQuestion& question, const CostModel& cost);

// Keys and values are gathered over the axes of their sequence; each device has its own queries.
CasePlan plan_gathered_attention(const Mesh& mesh, const GatheredAttentionQuestion& question,
                                 const CostModel& cost);

// The axes of the sequence move to the heads before attention and back after it.
CasePlan plan_ulysses_attention(const Mesh& mesh, const UlyssesQuestion& question, const CostModel& cost);

// microbatches + stages - 1 iterations, each of which shifts the buffer by one stage.
CasePlan plan_shift_pipeline(const Mesh& mesh, const ShiftPipelineQuestion& question, const CostModel& cost);

}  // namespace podsim
