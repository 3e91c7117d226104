// Time of one all-reduce over all chips of a fabric: build the graph, choose and plan, cost.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "collectives/collective.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

const Collective kAllReduce{CollectiveKind::kAllReduce, {64.0 * 1024 * 1024}};

FabricSpec torus(int side) {
  FabricSpec spec;
  spec.name = "torus";
  spec.chips = side * side * side;
  spec.torus.emplace();
  spec.torus->shape = {side, side, side};
  spec.torus->cube = 4;
  spec.torus->ici = {{50e9}, 1, Time::seconds(0.5e-6)};
  return spec;
}

// Eight chips below each switch, and all of these below one tier: a leaf per rail, and spines that join
// rails.
FabricSpec switches(int chips) {
  FabricSpec spec;
  spec.name = "switches";
  spec.chips = chips;
  spec.gpu.emplace();
  spec.gpu->gpus_per_domain = 8;
  spec.gpu->nvlink = {{300e9}, 1, Time::seconds(0.5e-6)};
  spec.gpu->nic = {{50e9}, 1, Time::seconds(0.5e-6)};
  spec.gpu->tiers = {{chips / 8, 1}, {8, 1}};
  return spec;
}

std::vector<ChipId> all_chips(int chips) {
  std::vector<ChipId> group(static_cast<std::size_t>(chips));
  std::iota(group.begin(), group.end(), 0);
  return group;
}

void build(benchmark::State& state, FabricSpec (*make)(int)) {
  const FabricSpec spec = make(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(build_fabric(spec).links.stored().data());
  state.counters["chips"] = spec.chips;
}

// Fabric, plan of least time and its time.
void all_reduce(benchmark::State& state, FabricSpec (*make)(int)) {
  const FabricSpec spec = make(static_cast<int>(state.range(0)));
  if (!explain_invalid(spec).empty()) std::abort();
  Time time;
  for (auto _ : state) {
    const Fabric fabric = build_fabric(spec);
    time = predict(fabric, plan(fabric, kAllReduce, all_chips(spec.chips)));
    benchmark::DoNotOptimize(time);
  }
  state.counters["chips"] = spec.chips;
  state.counters["takes_us"] = time.in_seconds() * 1e6;
}

BENCHMARK_CAPTURE(build, torus, torus)->Arg(8)->Arg(16)->Arg(48)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_reduce, torus, torus)->Arg(8)->Arg(16)->Arg(48)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, switches, switches)->Arg(512)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_reduce, switches, switches)
    ->Arg(512)
    ->Arg(4096)
    ->Arg(32768)
    ->Unit(benchmark::kMillisecond);

// A ring through one switch, of which no dimension can be used: the flat ring of simulators without topology.
void flat_ring(benchmark::State& state) {
  FabricSpec spec = switches(static_cast<int>(state.range(0)));
  spec.gpu->gpus_per_domain = 1;
  spec.gpu->tiers = {{spec.chips, 1}};
  if (!explain_invalid(spec).empty()) std::abort();
  Time time;
  for (auto _ : state) {
    const Fabric fabric = build_fabric(spec);
    time = predict(fabric, *plan_with(Algorithm::kRing, fabric, kAllReduce, all_chips(spec.chips)));
    benchmark::DoNotOptimize(time);
  }
  state.counters["takes_us"] = time.in_seconds() * 1e6;
}
BENCHMARK(flat_ring)->Arg(512)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
