// Layouts a second in one process that remembers: one layout again and again, and the neighbours of one.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/load_or_exit.h"
#include "prediction/evaluator.h"
#include "scheduler/placement/place.h"
#include "workload/partition/job_validity.h"

namespace podsim {
namespace {

// No step is remembered: each evaluation simulates anew, with the system and what follows from it known.
void evaluate(benchmark::State& state, const std::string& file) {
  const Spec spec = load_or_exit(file);
  Evaluator evaluator;
  for (auto _ : state) benchmark::DoNotOptimize(evaluator.evaluate(spec).step_time);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(evaluate, megatron_22b_8_a100, "bench/scenarios/megatron_22b_8_a100");
BENCHMARK_CAPTURE(evaluate, megatron_175b_64_a100, "bench/scenarios/megatron_175b_64_a100");
BENCHMARK_CAPTURE(evaluate, megatron_530b_280_a100, "bench/scenarios/megatron_530b_280_a100");
BENCHMARK_CAPTURE(evaluate, megatron_1t_512_a100, "bench/scenarios/megatron_1t_512_a100");
BENCHMARK_CAPTURE(evaluate, llama31_405b_16384_h100, "scenarios/llama31_405b_16384_h100");
BENCHMARK_CAPTURE(evaluate, deepseek_v3_2048_h800, "scenarios/deepseek_v3_2048_h800");
BENCHMARK_CAPTURE(evaluate, moe_9216_v7, "scenarios/moe_9216_v7");

// A layout that does not fit, its pieces known.
void refuse(benchmark::State& state, const std::string& file) {
  Spec spec = load_or_exit(file);
  spec.cluster.chip.hbm_capacity = {1e9};
  Evaluator evaluator;
  for (auto _ : state) benchmark::DoNotOptimize(evaluator.evaluate(spec).needed);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(refuse, megatron_175b_64_a100, "bench/scenarios/megatron_175b_64_a100");
BENCHMARK_CAPTURE(refuse, megatron_530b_280_a100, "bench/scenarios/megatron_530b_280_a100");
BENCHMARK_CAPTURE(refuse, llama31_405b_16384_h100, "scenarios/llama31_405b_16384_h100");

// Tensor x context x pipeline x chunks x microbatch of Llama 3 70B on 64 H100, the rest data parallel.
std::vector<Spec> neighbours() {
  const Spec base = load_or_exit("bench/scenarios/neighbours_70b_64_h100");
  std::vector<Spec> specs;
  for (const int tensor : {1, 2, 4, 8})
    for (const int context : {1, 2, 4, 8})
      for (const int stages : {1, 2, 4, 8, 16})
        for (const int chunks : {1, 2, 4, 5, 10})
          for (const int microbatch : {1, 2, 4}) {
            if (64 % (tensor * context * stages) != 0 || (chunks > 1 && stages == 1)) continue;
            Spec spec = base;
            const int data = 64 / (tensor * context * stages);
            for (MeshAxis& axis : spec.job.mesh.axes)
              axis.size = axis.name == "pipeline"  ? stages
                          : axis.name == "data"    ? data
                          : axis.name == "context" ? context
                                                   : tensor;
            spec.job.schedule = chunks > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B;
            spec.job.chunks_per_stage = chunks;
            spec.job.microbatch = microbatch;
            if (explain_invalid(spec.job).empty() &&
                explain_invalid(spec.cluster.fabric, spec.job.mesh, spec.placement).empty())
              specs.push_back(std::move(spec));
          }
  return specs;
}

// All of them from the first question on.
void evaluate_neighbours(benchmark::State& state) {
  const std::vector<Spec> specs = neighbours();
  std::int64_t fit = 0;
  for (auto _ : state) {
    Evaluator evaluator;
    fit = 0;
    for (const Spec& spec : specs) fit += evaluator.evaluate(spec).fits();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(specs.size()));
  state.counters["layouts"] = static_cast<double>(specs.size());
  state.counters["fit"] = static_cast<double>(fit);
}
BENCHMARK(evaluate_neighbours);

}  // namespace
}  // namespace podsim
