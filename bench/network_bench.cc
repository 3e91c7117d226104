// Speed of simulating flows: all-to-alls and permutations with their routes, transfers of a ring through the
// fluid engine.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <numeric>

#include "engine/fluid.h"
#include "engine/random.h"
#include "scheduler/network/flows.h"

namespace podsim {
namespace {

constexpr double kLinkBytesPerS = 50e9;

void report(benchmark::State& state, const FlowCase& flows, const FlowsResult& result) {
  if (!result.problem.empty()) std::abort();
  state.counters["flows"] = static_cast<double>(flows.flows.size());
  state.counters["uses"] = static_cast<double>(flows.uses.size());
  state.counters["makespan_ms"] = result.makespan_s * 1e3;
  state.counters["solves"] = static_cast<double>(result.solves);
}

// 16 hosts per leaf, 32 leaves, 16 spines; the spine is the destination modulo 16. Edges: up from the hosts,
// down to them, leaves up, spines down.
FlowCase fat_tree_all_to_all() {
  constexpr std::int32_t kHosts = 512, kPerLeaf = 16, kSpines = 16, kLeaves = kHosts / kPerLeaf;
  FlowCase flows;
  flows.nodes = kHosts + kLeaves + kSpines;
  const auto leaf = [](std::int32_t host) { return kHosts + host / kPerLeaf; };
  for (std::int32_t h = 0; h < kHosts; ++h) flows.edges.push_back({h, leaf(h), kLinkBytesPerS, 0});
  for (std::int32_t h = 0; h < kHosts; ++h) flows.edges.push_back({leaf(h), h, kLinkBytesPerS, 0});
  for (std::int32_t l = 0; l < kLeaves; ++l)
    for (std::int32_t s = 0; s < kSpines; ++s)
      flows.edges.push_back({kHosts + l, kHosts + kLeaves + s, kLinkBytesPerS, 0});
  for (std::int32_t l = 0; l < kLeaves; ++l)
    for (std::int32_t s = 0; s < kSpines; ++s)
      flows.edges.push_back({kHosts + kLeaves + s, kHosts + l, kLinkBytesPerS, 0});
  flows.flows.reserve(kHosts * (kHosts - 1));
  flows.uses.reserve(4 * kHosts * (kHosts - 1));
  for (std::int32_t from = 0; from < kHosts; ++from) {
    for (std::int32_t to = 0; to < kHosts; ++to) {
      if (from == to) continue;
      const auto first = static_cast<std::int32_t>(flows.uses.size());
      flows.uses.push_back({from, kUsageUnit});
      if (from / kPerLeaf != to / kPerLeaf) {
        const std::int32_t up = 2 * kHosts, down = up + kLeaves * kSpines;
        flows.uses.push_back({up + from / kPerLeaf * kSpines + to % kSpines, kUsageUnit});
        flows.uses.push_back({down + to / kPerLeaf * kSpines + to % kSpines, kUsageUnit});
      }
      flows.uses.push_back({kHosts + to, kUsageUnit});
      flows.flows.push_back(
          {from, to, 1e6, 0, 1, {first, static_cast<std::int32_t>(flows.uses.size()) - first}, {}});
    }
  }
  return flows;
}

// A torus of side^3 nodes; the edges of node v are 6 v + 2 d for the + direction of dimension d, and one more
// for the - direction.
FlowCase torus_flows(std::int32_t side) {
  FlowCase flows;
  flows.nodes = side * side * side;
  for (std::int32_t v = 0; v < flows.nodes; ++v) {
    for (std::int32_t d = 0, stride = 1; d < 3; ++d, stride *= side) {
      const std::int32_t x = v / stride % side, base = v - x * stride;
      flows.edges.push_back({v, base + (x + 1) % side * stride, kLinkBytesPerS, 0});
      flows.edges.push_back({v, base + (x + side - 1) % side * stride, kLinkBytesPerS, 0});
    }
  }
  return flows;
}

// One dimension after the other, the shorter way round; half way round + from even coordinates, - from odd.
void add_dimension_order(FlowCase& flows, std::int32_t side, std::int32_t from, std::int32_t to,
                         double bytes) {
  const auto first = static_cast<std::int32_t>(flows.uses.size());
  std::int32_t at = from;
  for (std::int32_t d = 0, stride = 1; d < 3; ++d, stride *= side) {
    const std::int32_t x = at / stride % side, target = to / stride % side;
    const std::int32_t up = (target - x + side) % side;
    const bool plus = 2 * up < side || (2 * up == side && x % 2 == 0);
    for (std::int32_t hop = plus ? up : side - up; hop > 0; --hop) {
      const std::int32_t edge = 6 * at + 2 * d + (plus ? 0 : 1);
      flows.uses.push_back({edge, kUsageUnit});
      at = flows.edges[edge].to;
    }
  }
  flows.flows.push_back(
      {from, to, bytes, 0, 1, {first, static_cast<std::int32_t>(flows.uses.size()) - first}, {}});
}

FlowCase torus_all_to_all(std::int32_t side) {
  FlowCase flows = torus_flows(side);
  const auto pairs = static_cast<std::size_t>(flows.nodes) * (flows.nodes - 1);
  flows.flows.reserve(pairs);
  flows.uses.reserve(pairs * 3 * side / 4);
  for (std::int32_t from = 0; from < flows.nodes; ++from)
    for (std::int32_t to = 0; to < flows.nodes; ++to)
      if (from != to) add_dimension_order(flows, side, from, to, 1e6);
  return flows;
}

FlowCase torus_all_to_all_ecmp(std::int32_t side) {
  FlowCase flows = torus_flows(side);
  add_all_to_all(flows, 1e6);
  route_minimal_ecmp(flows, INT32_MAX);
  return flows;
}

// Every node sends to one other: 1 MB, or between 0 and 2 MB.
FlowCase torus_permutation(std::int32_t side, bool random_sizes) {
  FlowCase flows = torus_flows(side);
  std::vector<std::int32_t> to(flows.nodes);
  std::iota(to.begin(), to.end(), 0);
  for (std::int32_t i = flows.nodes - 1; i > 0; --i)
    std::swap(to[i], to[random_bits(1, RandomPurpose::kTest, 0, i) % (i + 1)]);
  for (std::int32_t from = 0; from < flows.nodes; ++from) {
    const double bytes = random_sizes ? 2e6 * random_uniform(1, RandomPurpose::kTest, 1, from) : 1e6;
    add_dimension_order(flows, side, from, to[from], bytes);
  }
  return flows;
}

// Routes and simulation together.
template <class Build>
void simulate(benchmark::State& state, Build build) {
  for (auto _ : state) {
    const FlowCase flows = build();
    report(state, flows, simulate_flows(flows, LatencyConvention::kAfter));
  }
}
BENCHMARK_CAPTURE(simulate, fat_tree_512_all_to_all, fat_tree_all_to_all)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, torus_512_all_to_all, [] {
  return torus_all_to_all(8);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, torus_512_all_to_all_ecmp, [] {
  return torus_all_to_all_ecmp(8);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, torus_4096_permutation, [] {
  return torus_permutation(16, false);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, torus_4096_permutation_random_sizes, [] {
  return torus_permutation(16, true);
})->Unit(benchmark::kMillisecond);

// `steps` rounds of a ring of `ranks` through a switch: every transfer uses the link up from its sender and
// the link down to its receiver, and the next round begins when this one has ended.
void drain_ring(benchmark::State& state) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const auto steps = state.range(1);
  std::vector<Use> uses;
  for (std::int32_t i = 0; i < ranks; ++i) {
    uses.push_back({i, kUsageUnit});
    uses.push_back({ranks + (i + 1) % ranks, kUsageUnit});
  }
  for (auto _ : state) {
    Fluid fluid(std::vector<double>(2 * static_cast<std::size_t>(ranks), kLinkBytesPerS), 1e12);
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
BENCHMARK(drain_ring)->Args({512, 1022})->Args({4096, 8190})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
