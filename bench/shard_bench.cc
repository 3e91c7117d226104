// Time to plan every shipped sharding case.
#include <benchmark/benchmark.h>

#include "proto/cases/load_shard_cases.h"
#include "workload/cases/plan_case.h"

namespace podsim {
namespace {

void shard_cases(benchmark::State& state) {
  const auto loaded =
      load_shard_cases_file(std::string(PODSIM_SOURCE_DIR) + "/scenarios/sharding/gspmd_cases.json");
  if (!loaded.cases) {
    state.SkipWithError("the shipped cases do not load");
    return;
  }
  for (auto _ : state) {
    for (const ShardCase& question : *loaded.cases)
      benchmark::DoNotOptimize(plan_case(question, SentBytes()));
  }
  state.counters["cases"] = static_cast<double>(loaded.cases->size());
}
BENCHMARK(shard_cases)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
