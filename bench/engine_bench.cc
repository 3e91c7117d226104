// Speed of the event queue and of max-min sharing.
#include <benchmark/benchmark.h>

#include "engine/event_queue.h"
#include "engine/random.h"
#include "engine/sharing.h"

namespace podsim {
namespace {

struct SmallEvent {
  std::int32_t kind, index;
};

// One pop and one push with `live` events pending.
void event_queue(benchmark::State& state) {
  const auto live = static_cast<std::uint64_t>(state.range(0));
  EventQueue<SmallEvent> queue;
  std::uint64_t draw = 0;
  auto later = [&] {
    return static_cast<std::int64_t>(random_bits(1, RandomPurpose::kTest, 0, draw++) & 0xfffff);
  };
  for (std::uint64_t i = 0; i < live; ++i) queue.push({later()}, {0, 0});
  for (auto _ : state) {
    Time now = queue.next_time();
    SmallEvent event = queue.pop();
    queue.push(now + Time{later()}, event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(event_queue)->Arg(4096)->Arg(65536);

// All flows of a permutation of n hosts through one switch, solved once.
void sharing_permutation(benchmark::State& state) {
  const auto hosts = static_cast<std::int32_t>(state.range(0));
  std::vector<std::vector<Use>> uses;
  for (std::int32_t h = 0; h < hosts; ++h)
    uses.push_back({{h, kUsageUnit}, {hosts + (h * 7 + 3) % hosts, kUsageUnit}});
  for (auto _ : state) {
    Sharing sharing(std::vector<double>(2 * static_cast<std::size_t>(hosts), 50e9));
    for (const auto& use : uses) sharing.add(use);
    std::vector<ActivityId> changed;
    sharing.solve(changed);
    benchmark::DoNotOptimize(changed.data());
  }
  state.SetItemsProcessed(state.iterations() * hosts);
}
BENCHMARK(sharing_permutation)->Arg(512)->Arg(4096);

}  // namespace
}  // namespace podsim
