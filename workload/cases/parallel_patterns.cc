// Training patterns: layouts before and after each phase, and the cheapest way between them.
#include "workload/cases/parallel_patterns.h"

#include "engine/check.h"
#include "workload/cases/shape_plan.h"
#include "workload/sharding/factor_projection.h"

namespace podsim {
namespace {

AxisList all_axes(const Mesh& mesh) {
  AxisList axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    if (mesh.axes[a].size > 1) axes.push_back(whole_axis(mesh, static_cast<int>(a)));
  }
  return axes;
}

constexpr std::size_t kSequence = 1, kHeads = 2, kHeadDim = 3;

// Scores and their product with values: 2 FLOPs each per query, key and element of a head.
double attention_flops(const CaseTensor& q, const Layout& queries, std::int64_t keys) {
  return 4 * local_elements(shape_of(q), queries) * static_cast<double>(keys);
}

}  // namespace

PlanStep as_ring(const PlanStep& step) {
  const bool gather = step.kind == StepKind::kAllGather;
  PODSIM_CHECK(gather || step.kind == StepKind::kReduceScatter, "a gather or a scatter goes round a ring");
  const Bytes shard = gather ? step.operand : step.result;
  return {.kind = StepKind::kPermute,
          .axes = step.axes,
          .after = step.after,
          .count = shard_count(step.axes) - 1,
          .operand = shard,
          .result = shard,
          .sent = shard};
}

CasePlan plan_optimizer_step(const Mesh& mesh, const OptimizerStepQuestion& question, const CostModel& cost) {
  const AxisList axes = all_axes(mesh);
  const auto shape = [&](double bytes) {
    return shape_of({.dims = {question.parameters}, .element_bytes = bytes, .layout = {}});
  };
  const Layout whole = replicated(1);
  Layout partial = whole, cut = whole;
  partial.unreduced = canonical(axes);
  cut.dims[0] = axes;
  const auto gathered = plan_reshard(mesh, shape(question.parameter_bytes), cut, whole, cost);
  const bool cut_gradients = question.zero_stage > 0;
  CasePlan plan;
  if (question.zero_stage == 3) {
    plan.add("params", gathered);
    plan.add("params", gathered);
  }
  plan.add("grads",
           plan_reshard(mesh, shape(question.gradient_bytes), partial, cut_gradients ? cut : whole, cost));
  if (question.zero_stage == 1 || question.zero_stage == 2) plan.add("params", gathered);
  return plan;
}

CasePlan plan_ring_attention(const Mesh& mesh, const RingAttentionQuestion& question, const CostModel& cost) {
  const CaseTensor &q = question.q, &kv = question.kv;
  Layout queries = q.layout;
  queries.dims[kHeadDim].clear();
  Layout blocks = queries;
  // Devices whose query heads share a key head share it.
  blocks.dims[kHeads] = dividing_start(queries.dims[kHeads], kv.dims[kHeads]);
  Layout keys = blocks;
  keys.dims[kSequence].clear();
  // Keys and values travel together.
  TensorShape both = shape_of(kv);
  both.element_bytes *= 2;
  CasePlan plan;
  plan.add("q", plan_reshard(mesh, shape_of(q), q.layout, queries, cost));
  plan.add("kv", plan_reshard(mesh, both, kv.layout, blocks, cost));
  for (const PlanStep& step : plan_reshard(mesh, both, blocks, keys, cost)) plan.add("kv", {as_ring(step)});
  plan.add("output", {compute_step(queries)});
  plan.flops = attention_flops(q, queries, kv.dims[kSequence]);
  return plan;
}

CasePlan plan_gathered_attention(const Mesh& mesh, const GatheredAttentionQuestion& question,
                                 const CostModel& cost) {
  const CaseTensor &q = question.q, &kv = question.kv;
  Layout queries = q.layout;
  queries.dims[kHeadDim].clear();
  Layout keys = queries;
  keys.dims[kHeads] = dividing_start(queries.dims[kHeads], kv.dims[kHeads]);
  keys.dims[kSequence].clear();
  CasePlan plan;
  plan.add("q", plan_reshard(mesh, shape_of(q), q.layout, queries, cost));
  for (const char* name : {"k", "v"}) plan.add(name, plan_reshard(mesh, shape_of(kv), kv.layout, keys, cost));
  plan.add("output", {compute_step(queries)});
  plan.flops = attention_flops(q, queries, kv.dims[kSequence]);
  return plan;
}

CasePlan plan_ulysses_attention(const Mesh& mesh, const UlyssesQuestion& question, const CostModel& cost) {
  const CaseTensor &q = question.q, &kv = question.kv;
  Layout queries = q.layout;
  queries.dims[kHeadDim].clear();
  queries.dims[kHeads] = joined(queries.dims[kHeads], queries.dims[kSequence]);
  queries.dims[kSequence].clear();
  const int shards = shard_count(queries.dims[kHeads]);
  if (q.dims[kHeads] % shards != 0)
    return {.error = std::to_string(q.dims[kHeads]) + " heads cannot be dealt out to " +
                     std::to_string(shards) + " devices"};
  Layout keys = queries;
  keys.dims[kHeads] = dividing_start(queries.dims[kHeads], kv.dims[kHeads]);
  CasePlan plan;
  plan.add("q", plan_reshard(mesh, shape_of(q), q.layout, queries, cost));
  for (const char* name : {"k", "v"}) plan.add(name, plan_reshard(mesh, shape_of(kv), kv.layout, keys, cost));
  plan.add("output", {compute_step(queries)});
  plan.add("output", plan_reshard(mesh, shape_of(q), queries, q.layout, cost));
  plan.flops = attention_flops(q, queries, kv.dims[kSequence]);
  return plan;
}

CasePlan plan_shift_pipeline(const Mesh& mesh, const ShiftPipelineQuestion& question, const CostModel& cost) {
  const CaseTensor& state = question.state;
  ShiftQuestion shift{state, state, {}};
  for (std::size_t d = 0; d < state.dims.size(); ++d) {
    Window& window = shift.windows.emplace_back();
    window.dim = static_cast<int>(d);
    window.input = state.dims[d];
    window.pad_low = d == 0 ? 1 : 0;
  }
  CasePlan plan = plan_shift(mesh, shift, cost);
  const auto iterations = static_cast<int>(question.microbatches + state.dims[0] - 1);
  for (CaseStep& s : plan.steps) {
    if (s.tensor == "input") s.tensor = "state";
    s.step.count = iterations;
  }
  return plan;
}

}  // namespace podsim
