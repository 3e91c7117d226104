// Time to plan reshards and operations, by the bytes they send.
#include <benchmark/benchmark.h>

#include "workload/op_planning/op_plan.h"

namespace podsim {
namespace {

TensorShape tensor(std::initializer_list<std::int64_t> dims) {
  TensorShape shape;
  for (const std::int64_t size : dims) shape.dims.push_back({"", {{size}}});
  return shape;
}

const Mesh kMesh{{{"data", 16}, {"fsdp", 8}, {"tensor", 8}}};
const AxisList kData{{0, 1, 16}}, kFsdp{{1, 1, 8}}, kTensor{{2, 1, 8}};

void reshard(benchmark::State& state, const Layout& from, const Layout& to, AxisSplit split) {
  const TensorShape shape = tensor({512, 4096, 8192});
  const SentBytes cost;
  for (auto _ : state) benchmark::DoNotOptimize(plan_reshard(kMesh, shape, from, to, cost, split));
}
BENCHMARK_CAPTURE(reshard, gather, Layout{{{}, kFsdp, kTensor}, {}}, Layout{{{}, {}, kTensor}, {}},
                  AxisSplit::kAsLaidOut);
BENCHMARK_CAPTURE(reshard, scatter, Layout{{kData, {}, {}}, kTensor}, Layout{{kData, kTensor, {}}, {}},
                  AxisSplit::kAsLaidOut);
BENCHMARK_CAPTURE(reshard, exchange, Layout{{kData, {}, kTensor}, {}}, Layout{{kData, kTensor, {}}, {}},
                  AxisSplit::kAsLaidOut);
BENCHMARK_CAPTURE(reshard, searched_whole, Layout{{kData, kFsdp, kTensor}, {}},
                  Layout{{kTensor, kData, {}}, {}}, AxisSplit::kAsLaidOut);
BENCHMARK_CAPTURE(reshard, searched_in_pieces, Layout{{kData, kFsdp, kTensor}, {}},
                  Layout{{kTensor, kData, {}}, {}}, AxisSplit::kByFactors);

// A feed-forward matmul: activations [batch, sequence, embed], weight [embed, ffn].
void matmul(benchmark::State& state, const Layout& x, const Layout& weight, const Layout& out) {
  OpProblem problem{
      .rule = einsum_rule({"bsm", "mf"}, {"bsf"}, {{512, 4096, 8192}, {8192, 28672}}, {{512, 4096, 28672}}),
      .operands = {},
      .results = {},
      .split = AxisSplit::kAsLaidOut};
  problem.operands = {{.shape = tensor({512, 4096, 8192}), .available = {x}},
                      {.shape = tensor({8192, 28672}), .available = {weight}}};
  problem.results = {{.shape = tensor({512, 4096, 28672}), .wanted = out}};
  const SentBytes cost;
  for (auto _ : state) benchmark::DoNotOptimize(plan_op(kMesh, problem, cost));
}
const AxisList kBatch{{0, 1, 16}, {1, 1, 8}};
BENCHMARK_CAPTURE(matmul, megatron, Layout{{kBatch, {}, {}}, {}}, Layout{{{}, kTensor}, {}},
                  Layout{{kBatch, {}, kTensor}, {}});
BENCHMARK_CAPTURE(matmul, fsdp, Layout{{kBatch, {}, {}}, {}}, Layout{{kFsdp, kTensor}, {}},
                  Layout{{kBatch, {}, kTensor}, {}});
BENCHMARK_CAPTURE(matmul, fsdp_sequence, Layout{{kBatch, kTensor, {}}, {}}, Layout{{kFsdp, kTensor}, {}},
                  Layout{{kBatch, {}, kTensor}, {}});

}  // namespace
}  // namespace podsim
