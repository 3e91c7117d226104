// How time and events of a prediction grow with the cluster, when every chip has the same to do.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bench/load_or_exit.h"
#include "prediction/predict.h"
#include "prediction/rescale.h"

namespace podsim {
namespace {

// The 96-layer data-parallel step on a torus of 2^`doublings` chips, as near to a cube as that goes.
Spec layers_on_torus(int doublings) {
  const std::string chips = std::to_string(1 << doublings);
  std::string shape;
  for (int d = 0; d < 3; ++d) shape += (d > 0 ? "," : "") + std::to_string(1 << (doublings + d) / 3);
  return load_or_exit(
      "scenarios/layers_96_512_torus",
      {{"cluster.slice_shape", shape}, {"job.mesh.data.size", chips}, {"job.global_batch_sequences", chips}});
}

// Llama 3 70B with more and more replicas; a chip is in as many groups on every size.
Spec llama_on_gpus(int doublings) {
  Spec spec = load_or_exit("scenarios/llama3_70b_512_h100");
  spec.cluster.fabric.gpu->tiers.back().down = 128;  // so that the tree joins as many
  const std::string problem = rescale(spec, 1 << doublings, false);
  if (!problem.empty()) {
    std::cerr << problem << '\n';
    std::exit(2);
  }
  return spec;
}

void growth(benchmark::State& state, Spec (*make)(int)) {
  const Spec spec = make(static_cast<int>(state.range(0)));
  Report report;
  for (auto _ : state) report = predict_step(spec, {}).report;
  state.counters["chips"] = report.chips;
  state.counters["events"] = static_cast<double>(report.events);
  state.counters["classes"] = report.chip_classes;
}
BENCHMARK_CAPTURE(growth, layers, layers_on_torus)->DenseRange(9, 17)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(growth, llama, llama_on_gpus)->DenseRange(9, 17)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
