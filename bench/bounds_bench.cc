// Layouts bounded a second: what a search does with every layout of its space before it looks closer at any.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "planner/bounds/lighter_stems.h"
#include "planner/bounds/mesh_contexts.h"
#include "planner/bounds/pass_tables.h"
#include "planner/bounds/stem_bounds.h"
#include "planner/search/search.h"
#include "planner/space/space.h"
#include "proto/scenario/load_space.h"

namespace podsim {
namespace {

const char* const kSchedules = "gpipe,one_f_one_b,interleaved,zero_bubble_h1,zero_bubble_v";

std::string first_layers(int most) {
  std::string numbers = "0";
  for (int n = 1; n <= most; ++n) numbers += "," + std::to_string(n);
  return numbers;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

SearchQuestion question(const std::vector<Override>& space) {
  const std::string file = PODSIM_SOURCE_DIR "/scenarios/llama3_70b_512_h100.textproto";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const Catalog catalog;
  LoadSearchResult loaded = load_search(file, text.str(), catalog, space);
  for (const Problem& problem : loaded.problems) std::cerr << format_problem(problem) << '\n';
  if (!loaded.question) std::exit(2);
  return *std::move(loaded.question);
}

// Of each number of layouts once: it takes a minute.
Time tenth_best(const Space& space) {
  static std::map<std::int64_t, Time> known;
  const auto [at, is_new] = known.try_emplace(space.products());
  if (is_new) at->second = search(space, {}).best.back().figures.step_time;
  return at->second;
}

// Llama 3 70B on 512 H100, as a search does it: memory of the state and the bound of a lighter layout of all,
// then memory and time by passes of all that are not above `limit`, that of a search for the best ten.
// `with_tables`: the pieces of a mesh are timed before the clock starts.
void bound(benchmark::State& state, const std::vector<Override>& values, bool with_tables) {
  const SearchQuestion asked = question(values);
  const Bytes room = asked.spec.cluster.chip.hbm_capacity;
  const Space space(asked.spec, asked.space);
  const Fabric fabric = build_fabric(asked.spec.cluster.fabric);
  const double parameters = parameter_count(space.model());
  const Time limit = tenth_best(space);
  std::int64_t layouts = 0;
  for (auto _ : state) {
    const auto begin = cpu_seconds();
    double of_tables = 0;
    const auto apart = [&](const auto& time_pieces) {
      if (!with_tables) return;
      const auto before = cpu_seconds();
      time_pieces();
      of_tables += cpu_seconds() - before;
    };
    MeshContexts contexts(fabric);
    const LighterStems lighter(space);
    LighterTables lighter_tables(space, lighter, contexts);
    std::vector<JobLayout> left;
    for (const std::vector<JobLayout>& stems : lighter.by_mesh(space.stems()))
      for (const JobLayout& stem : stems) {
        const std::vector<JobLayout> leaves = space.leaves(stem);
        layouts += static_cast<std::int64_t>(leaves.size());
        if (leaves.empty() || least_state(asked.spec.job, stem, parameters) > room) continue;
        if (lighter.of(stem)) apart([&] { lighter_tables.times(stem); });
        if (lighter_tables.bound(stem, leaves) <= limit) left.push_back(stem);
      }
    PassTables tables(space, contexts);
    const auto timed = [&](const JobLayout& stem) { return timed_layout(space, stem); };
    for (const std::vector<JobLayout>& stems : stems_by_mesh(left, timed))
      for (const JobLayout& stem : stems) {
        apart([&] { tables.times(stem); });
        benchmark::DoNotOptimize(passes_of(tables, stem, space.leaves(stem), room));
      }
    state.SetIterationTime(cpu_seconds() - begin - of_tables);
  }
  state.SetItemsProcessed(layouts);
}
const std::vector<Override> kCore = {{"space.schedule", kSchedules}, {"space.sharding", "ddp,zero1"}};
const std::vector<Override> kMiddle = {{"space.schedule", kSchedules},
                                       {"space.sharding", "ddp,zero1,fsdp,hsdp"},
                                       {"space.recompute_layers", first_layers(79)}};
BENCHMARK_CAPTURE(bound, core, kCore, false)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(bound, core_with_tables, kCore, true)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(bound, middle, kMiddle, false)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(bound, middle_with_tables, kMiddle, true)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace podsim
