// Collectives at two fidelities: rings transfer by transfer, and whole pods as fluid plans.
#include <benchmark/benchmark.h>

#include <numeric>

#include "collectives/collective.h"
#include "collectives/steps.h"
#include "scheduler/network/stepwise.h"

namespace podsim {
namespace {

Fabric torus(std::array<int, 3> shape, Routing routing) {
  FabricSpec spec;
  spec.name = "torus";
  spec.chips = shape[0] * shape[1] * shape[2];
  spec.torus.emplace();
  spec.torus->shape = shape;
  spec.torus->cube = 4;
  spec.torus->ici = {{50e9}, 1, Time::seconds(1e-6)};
  spec.routing = routing;
  return build_fabric(spec);
}

// 16 hosts to a leaf, no oversubscription.
Fabric fat_tree(int hosts) {
  FabricSpec spec;
  spec.name = "fat_tree";
  spec.chips = hosts;
  spec.gpu.emplace();
  spec.gpu->gpus_per_domain = 1;
  spec.gpu->nic = {{50e9}, 1, Time::seconds(1e-6)};
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers = {{.down = 16}, {.down = 16}, {.down = 16}};
  return build_fabric(spec);
}

std::vector<ChipId> all_chips(const Fabric& fabric) {
  std::vector<ChipId> chips(fabric.chips);
  std::iota(chips.begin(), chips.end(), 0);
  return chips;
}

constexpr Collective kAllReduceOfAGigabyte = {CollectiveKind::kAllReduce, {1e9}};

// From the plan to the end: 2 (N - 1) N transfers.
void stepwise_ring(benchmark::State& state, const Fabric& fabric) {
  const auto group = all_chips(fabric);
  Time time;
  std::int64_t transfers = 0;
  for (auto _ : state) {
    const auto plan = plan_steps(Algorithm::kRing, fabric, kAllReduceOfAGigabyte, group);
    time = simulate_steps(fabric, *plan);
    transfers = plan->transfers();
  }
  state.counters["transfers"] = static_cast<double>(transfers);
  state.counters["simulated_us"] = time.in_seconds() * 1e6;
}
BENCHMARK_CAPTURE(stepwise_ring, torus_512, torus({8, 8, 8}, Routing::kDimensionOrder))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stepwise_ring, fat_tree_512, fat_tree(512))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stepwise_ring, torus_4096, torus({16, 16, 16}, Routing::kDimensionOrder))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(stepwise_ring, fat_tree_4096, fat_tree(4096))->Unit(benchmark::kMillisecond)->Iterations(1);

void fluid_plan(benchmark::State& state, const Fabric& fabric, CollectiveKind kind,
                std::optional<Algorithm> algorithm) {
  const auto group = all_chips(fabric);
  const Collective collective = {kind, {1073741824.0}};
  Time time;
  for (auto _ : state) {
    const CollectivePlan made =
        algorithm ? *plan_with(*algorithm, fabric, collective, group) : plan(fabric, collective, group);
    time = predict(fabric, made);
  }
  state.counters["simulated_us"] = time.in_seconds() * 1e6;
}
BENCHMARK_CAPTURE(fluid_plan, ring_torus_512, torus({8, 8, 8}, Routing::kDimensionOrder),
                  CollectiveKind::kAllReduce, Algorithm::kRing)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fluid_plan, ring_fat_tree_512, fat_tree(512), CollectiveKind::kAllReduce, Algorithm::kRing)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fluid_plan, all_to_all_torus_512, torus({8, 8, 8}, Routing::kAdaptive),
                  CollectiveKind::kAllToAll, std::nullopt)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fluid_plan, all_reduce_pod_9216, torus({16, 24, 24}, Routing::kAdaptive),
                  CollectiveKind::kAllReduce, std::nullopt)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fluid_plan, all_to_all_pod_9216, torus({16, 24, 24}, Routing::kAdaptive),
                  CollectiveKind::kAllToAll, std::nullopt)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
