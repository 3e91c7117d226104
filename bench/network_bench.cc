// Speed of draining flows: stepwise rings.
#include <benchmark/benchmark.h>

#include "engine/fluid.h"

namespace podsim {
namespace {

// `steps` rounds of a ring of `ranks` through a switch: every transfer uses the link up from its sender and
// the link down to its receiver, and the next round begins when this one has ended.
void ring_stepwise(benchmark::State& state) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const auto steps = state.range(1);
  std::vector<Use> uses;
  for (std::int32_t i = 0; i < ranks; ++i) {
    uses.push_back({i, kUsageUnit});
    uses.push_back({ranks + (i + 1) % ranks, kUsageUnit});
  }
  for (auto _ : state) {
    Fluid fluid(std::vector<double>(2 * static_cast<std::size_t>(ranks), 50e9), 1e12);
    std::vector<std::int32_t> ended;
    Tick now = 0;
    for (std::int32_t i = 0; i < ranks; ++i)
      fluid.begin(now, std::span(uses).subspan(2 * static_cast<std::size_t>(i), 2), 1e6, i);
    for (std::int64_t step = 1; step <= steps; ++step) {
      now = fluid.next();
      ended.clear();
      fluid.end(now, ended);
      if (step == steps) break;
      for (const std::int32_t i : ended)
        fluid.begin(now, std::span(uses).subspan(2 * static_cast<std::size_t>(i), 2), 1e6, i);
    }
    benchmark::DoNotOptimize(now);
  }
  state.SetItemsProcessed(state.iterations() * steps * ranks);
}
BENCHMARK(ring_stepwise)->Args({512, 1022})->Args({4096, 1024})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
