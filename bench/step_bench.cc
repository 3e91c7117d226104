// Time to predict a whole step from its scenario file, start-up and loading apart.
#include <benchmark/benchmark.h>

#include "bench/load_or_exit.h"
#include "prediction/predict.h"
#include "prediction/prepare_job.h"
#include "topology/fabric.h"

namespace podsim {
namespace {

void predict(benchmark::State& state, const std::string& scenario, bool fold, double jitter) {
  Spec spec = load_or_exit("scenarios/" + scenario);
  spec.adversities.jitter.coefficient_of_variation = jitter;
  PredictOptions options;
  options.fold = fold;
  std::int64_t events = 0;
  for (auto _ : state) events = predict_step(spec, options).report.events;
  state.counters["events"] = static_cast<double>(events);
}
BENCHMARK_CAPTURE(predict, llama3_70b_512_h100, "llama3_70b_512_h100", true, 0.0)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, llama3_70b_512_h100_unfolded, "llama3_70b_512_h100", false, 0.0)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, llama3_70b_512_h100_jitter, "llama3_70b_512_h100", true, 0.02)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, llama3_70b_512_v5p, "llama3_70b_512_v5p", true, 0.0)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, llama31_405b_16384_h100, "llama31_405b_16384_h100", true, 0.0)
    ->Unit(benchmark::kMillisecond);

// Placed and partitioned by predicted time, nothing simulated. Layers are planned once however many there
// are.
void partition_only(benchmark::State& state, const std::string& scenario) {
  const Spec spec = load_or_exit("scenarios/" + scenario);
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  for (auto _ : state) benchmark::DoNotOptimize(prepare_job(spec, fabric, 0).program.parameters);
}
BENCHMARK_CAPTURE(partition_only, llama31_405b_16384_h100, "llama31_405b_16384_h100")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(partition_only, llama3_70b_512_v5p, "llama3_70b_512_v5p")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
