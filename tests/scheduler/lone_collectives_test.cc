// Law: what is known ahead of collectives that are alone is what the fluid solver finds of them step by step.
#include "scheduler/lone_collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/rounds.h"
#include "tests/scheduler/random_step.h"

namespace podsim {
namespace {

using testing::collective;

// A job on a torus, or one or two on domains of GPUs, whose stacks overlap at random.
struct RandomSystem {
  System system;
  SimulateOptions options;
};

RandomSystem random_system(int round) {
  testing::Draw draw(1000 + round);
  const bool torus = draw.below(2);
  const int jobs = torus ? 1 : 1 + draw.below(2), stages = 1 << draw.below(3), data = 1 + draw.below(3);
  const int tensor = 1 << draw.below(3), chips = stages * data * tensor;
  FabricSpec spec;
  if (torus) {
    spec = testing::ring_fabric(chips);
    spec.torus->dimensions = 3;
    spec.torus->shape = {tensor, data, stages};
  } else {
    spec = testing::gpu_fabric(jobs * chips, tensor, tensor * (1 + draw.below(2)));
    spec.gpu->rail_optimised = false;
    spec.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  }
  if (draw.below(2)) spec.collective_launch = Time::seconds(1e-6 * draw.below(20));
  Adversities adversities = testing::random_adversities(draw, spec);
  if (draw.below(2)) adversities.jitter.coefficient_of_variation = 0.1;
  const Fabric fabric = with_slow_links(build_fabric(spec), adversities.slow_links);
  std::vector<LaidJob> laid;
  for (int j = 0; j < jobs; ++j) {
    const testing::RandomJob job = testing::random_job(draw, stages, data, tensor);
    laid.push_back(testing::lay(job.spec, job.program, fabric, j * chips));
  }
  RandomSystem result{assemble(fabric, laid, adversities, draw.below(4) > 0), {}};
  result.options.seed = static_cast<std::uint64_t>(round);
  result.options.steps = 1 + draw.below(3);
  result.options.jitter = adversities.jitter.coefficient_of_variation;
  result.options.keep_intervals = true;
  return result;
}

// Everything but the number of events; intervals in an order of their own.
auto figures(const Timeline& timeline) {
  std::vector<std::tuple<ChipId, std::vector<Time>, std::vector<Time>, Time, Time>> chips;
  for (const ChipTotals& chip : timeline.chips)
    chips.emplace_back(chip.representative, chip.bucket, chip.exposed, chip.caused, chip.waited);
  std::vector<double> bytes;
  for (const LinkTotals& link : timeline.links) bytes.push_back(link.bytes.value);
  std::vector<std::tuple<ChipId, std::string, Time, Time, std::string, std::int32_t>> intervals;
  for (const Interval& each : timeline.intervals)
    intervals.emplace_back(each.chip, each.stream, each.begin, each.end, each.what, each.position);
  std::sort(intervals.begin(), intervals.end());
  return std::tuple(timeline.step_end, chips, bytes, intervals);
}

TEST(LoneCollectivesLaw, known_ahead_equals_step_by_step_to_the_picosecond_on_500_random_systems) {
  std::int64_t events = 0, shared_events = 0;
  for (int round = 0; round < testing::rounds(500); ++round) {
    RandomSystem random = random_system(round);
    const std::vector<Timeline> ahead = simulate(random.system, random.options);
    random.options.share_all_links = true;
    const std::vector<Timeline> shared = simulate(random.system, random.options);
    for (std::size_t j = 0; j < ahead.size(); ++j)
      ASSERT_EQ(figures(ahead[j]), figures(shared[j])) << "round " << round << " job " << j;
    events += ahead.front().events;
    shared_events += shared.front().events;
  }
  EXPECT_LT(events, shared_events * 9 / 10) << "what is never alone proves nothing";
}

// Two GPUs per domain over one leaf each of 50 GB/s: both rings between the domains meet there.
TEST(LoneCollectives, one_that_is_joined_half_way_goes_on_at_half_the_rate) {
  const Spec spec = testing::plain_spec();
  FabricSpec fabric_spec = testing::gpu_fabric(4, 2, 2);
  fabric_spec.gpu->rail_optimised = false;
  fabric_spec.gpu->tiers = {{2, 2}, {2, 1}};
  const Fabric fabric = build_fabric(fabric_spec);
  const Mesh mesh{{{"data", 2}, {"other", 2}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 1, 0);
  testing::layer_of(program).forward.push_back(
      collective(CollectiveKind::kAllReduce, 1, 100e6, Purpose::kActivation));
  Adversities adversities;
  const auto end_with = [&](double speed) {
    adversities.slow_chips = {{1, speed}};
    const LaidJob job = testing::lay(spec, program, fabric, 0);
    return simulate(assemble(fabric, {&job, 1}, adversities, true), {}).front().step_end.back().in_seconds();
  };
  // Alone 100 MB take 2 ms on a ring's own 50 GB/s, both at once 4 ms. Chip 1 is a millisecond late: its ring
  // meets the other's second millisecond, and has the last millisecond of its own for itself.
  EXPECT_NEAR(end_with(1), 1e-3 + 4e-3, 20e-6);
  EXPECT_NEAR(end_with(0.5), 2e-3 + 3e-3, 20e-6);
}

}  // namespace
}  // namespace podsim
