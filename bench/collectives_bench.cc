// Time to build a fabric and to plan a collective over all of its chips.
#include <benchmark/benchmark.h>

#include <numeric>

#include "collectives/collective.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

FabricSpec torus(int side) {
  FabricSpec spec;
  spec.name = "torus";
  spec.chips = side * side * side;
  spec.torus.emplace();
  spec.torus->shape = {side, side, side};
  spec.torus->cube = 4;
  spec.torus->ici = {{50e9}, 1, Time::seconds(1e-6)};
  return spec;
}

void torus_build(benchmark::State& state) {
  const FabricSpec spec = torus(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(build_fabric(spec).links.data());
  state.counters["chips"] = spec.chips;
}
BENCHMARK(torus_build)->Arg(8)->Arg(16)->Arg(48)->Unit(benchmark::kMillisecond);

void torus_all_reduce_plan(benchmark::State& state) {
  const Fabric fabric = build_fabric(torus(static_cast<int>(state.range(0))));
  std::vector<ChipId> group(fabric.chips);
  std::iota(group.begin(), group.end(), 0);
  const Collective reduce{CollectiveKind::kAllReduce, {67108864}};
  for (auto _ : state) {
    auto planned = plan_with(Algorithm::kTorus, fabric, reduce, group);
    benchmark::DoNotOptimize(predict(fabric, *planned).ps);
  }
  state.counters["chips"] = fabric.chips;
}
BENCHMARK(torus_all_reduce_plan)->Arg(8)->Arg(16)->Arg(48)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
