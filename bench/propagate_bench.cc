// Time to complete the shardings of one transformer layer with its backward operations.
#include <benchmark/benchmark.h>

#include "workload/model/autodiff.h"
#include "workload/model/transformer.h"
#include "workload/sharding/propagate_graph.h"

namespace podsim {
namespace {

Job job_over(std::vector<MeshAxis> axes) {
  Job job;
  job.model = {.name = "70b",
               .layers = 80,
               .d_model = 8192,
               .heads = 64,
               .kv_heads = 8,
               .head_dim = 128,
               .ffn = 28672,
               .gated_ffn = true,
               .vocabulary = 128256};
  job.mesh.axes = std::move(axes);
  job.microbatch = 1;
  job.sequence = 8192;
  return job;
}

void annotate(const Job& job, Graph& graph, const std::string& name, const std::string& text) {
  for (Tensor& tensor : graph.tensors) {
    if (tensor.name == name)
      tensor.annotation = parse_annotation(job.mesh, tensor.dims.size(), text).annotation;
  }
}

// Annotated input and weights, everything else open: rules of operations included.
void propagate_layer(benchmark::State& state) {
  const Job job = job_over({{"data", 8}, {"fsdp", 8}, {"tensor", 8}});
  Graph graph = layer_graph(job);
  annotate(job, graph, "layer input", "[{data,fsdp},{},{}]");
  annotate(job, graph, "qkv weight", "[{fsdp},{tensor},{}]");
  annotate(job, graph, "attention out weight", "[{tensor},{},{fsdp}]");
  annotate(job, graph, "ffn up weight", "[{fsdp},{},{tensor}]");
  annotate(job, graph, "ffn down weight", "[{tensor},{fsdp}]");
  const Backward backward = differentiate(graph, 4);
  for (auto _ : state) benchmark::DoNotOptimize(propagate_graph(job, graph, backward.operations));
  state.counters["operations"] = static_cast<double>(graph.operations.size() + backward.operations.size());
}
BENCHMARK(propagate_layer)->Unit(benchmark::kMicrosecond);

// Matmul, pointwise, sum, again and again: only the first input is annotated, or only the last output.
void propagate_chain(benchmark::State& state, bool from_end) {
  const Mesh mesh{{{"data", 8}}};
  std::vector<ShardedTensor> tensors = {{"x", {1024, 512}, unset(2)}};
  std::vector<ShardedOp> ops;
  const auto tensor = [&](std::vector<std::int64_t> dims) {
    tensors.push_back({"t", std::move(dims), unset(2)});
    return static_cast<int>(tensors.size()) - 1;
  };
  for (std::int64_t i = 0; i < state.range(0); i += 3) {
    const int x = i == 0 ? 0 : ops.back().results[0];
    const int weight = tensor({512, 512}), y = tensor({1024, 512}), z = tensor({1024, 512}),
              sum = tensor({1024, 512});
    ops.push_back({"matmul",
                   einsum_rule({"bi", "ij"}, {"bj"}, {{1024, 512}, {512, 512}}, {{1024, 512}}),
                   {x, weight},
                   {y}});
    ops.push_back({"pointwise", elementwise_rule({1024, 512}, 1), {y}, {z}});
    ops.push_back({"sum", elementwise_rule({1024, 512}, 2), {x, z}, {sum}});
  }
  tensors[static_cast<std::size_t>(from_end ? ops.back().results[0] : 0)].annotation =
      parse_annotation(mesh, 2, "[{data},{}]").annotation;
  for (auto _ : state) benchmark::DoNotOptimize(propagate(mesh, tensors, ops));
}
BENCHMARK_CAPTURE(propagate_chain, forward, false)
    ->Arg(39)
    ->Arg(390)
    ->Arg(3900)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(propagate_chain, backward, true)
    ->Arg(39)
    ->Arg(390)
    ->Arg(3900)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace podsim
