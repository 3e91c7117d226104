// Law: a simulation that jumps over periods gives the figures of one that goes through all of them.
#include <gtest/gtest.h>

#include "scheduler/folding/laid_job.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_step.h"
#include "workload/pipeline/pipeline.h"

namespace podsim::steady_state_random_test {
namespace {

constexpr int kSteps = testing::rounds(400);

struct LongStep {
  testing::RandomJob job;
  FabricSpec fabric;
  int steps;
};

// Many microbatches through any schedule, or accumulated on one stage.
LongStep long_step(int round) {
  testing::Draw draw(round);
  const int stages = 1 << draw.below(3), data = 1 + draw.below(3), tensor = 1 << draw.below(2);
  LongStep result{testing::random_job(draw, stages, data, tensor),
                  testing::gpu_fabric(stages * data * tensor, tensor, 2 * tensor), 1 + draw.below(5)};
  PipelineShape shape{
      stages == 1 ? PipelineSchedule::k1F1B
                  : static_cast<PipelineSchedule>(draw.below(static_cast<int>(all_schedules().size()))),
      stages, 1, 1};
  shape.chunks = stages == 1 ? 1 : schedule_traits(shape.schedule).chunks.value_or(1 + draw.below(3));
  shape.microbatches = 2 * stages * (8 + draw.below(16));
  StepProgram& program = result.job.program;
  program.schedule = shape.schedule;
  program.microbatches = shape.microbatches;
  program.chunks.assign(static_cast<std::size_t>(stages),
                        std::vector<ChunkShape>(static_cast<std::size_t>(shape.chunks), {{{0, 1}}}));
  Part& layer = testing::layer_of(program);
  layer.local_state = 1e6;
  for (ProgramOp& op : layer.backward) {
    if (auto* work = std::get_if<ComputeOp>(&op)) work->weight_gradient = draw.below(2);
    if (auto* exchange = std::get_if<CollectiveOp>(&op)) exchange->weight_gradient = draw.below(2);
  }
  Spec& spec = result.job.spec;
  if (draw.below(2)) spec.adversities = testing::random_adversities(draw, result.fabric);
  if (draw.below(2)) {
    spec.job.stack.host_launch = Time::seconds(1e-5 * draw.below(100));
    spec.job.stack.host_collective = Time::seconds(1e-5 * draw.below(100));
  }
  if (draw.below(2)) {
    for (const Degradation& slow : testing::random_slowness(draw, build_fabric(result.fabric)))
      spec.adversities.add(slow);
  }
  return result;
}

void expect_equal(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.step_end, b.step_end);
  ASSERT_EQ(a.chips.size(), b.chips.size());
  for (std::size_t c = 0; c < a.chips.size(); ++c) {
    ASSERT_EQ(a.chips[c].bucket, b.chips[c].bucket) << "chip class " << c;
    ASSERT_EQ(a.chips[c].exposed, b.chips[c].exposed) << "chip class " << c;
    ASSERT_EQ(a.chips[c].waited, b.chips[c].waited) << "chip class " << c;
    ASSERT_TRUE(a.chips[c].caused_ps == b.chips[c].caused_ps) << "chip class " << c;
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t l = 0; l < a.links.size(); ++l)
    ASSERT_EQ(a.links[l].bytes, b.links[l].bytes) << "link class " << l;
}

TEST(SteadyStateLaw, jumping_equals_simulating_everything_on_400_random_steps) {
  int jumped = 0;
  for (int round = 0; round < kSteps; ++round) {
    const LongStep step = long_step(round);
    SCOPED_TRACE("round " + std::to_string(round) + ", schedule " +
                 std::to_string(static_cast<int>(step.job.program.schedule)));
    const Fabric fabric =
        with_slow_links(build_fabric(step.fabric), slow_links(step.job.spec.adversities.degradations));
    const LaidJob job = testing::lay(step.job.spec, step.job.program, fabric, 0);
    const System system = assemble(fabric, {&job, 1}, step.job.spec.adversities, round % 4 > 0);
    SimulateOptions options;
    options.steps = step.steps;
    options.share_all_links = round % 3 == 0;
    const Timeline jumping = simulate(system, options).front();
    options.steady = false;
    const Timeline whole = simulate(system, options).front();
    expect_equal(jumping, whole);
    ASSERT_EQ(whole.periods_skipped, 0);
    ASSERT_LE(jumping.events, whole.events);
    jumped += jumping.periods_skipped > 0;
  }
  EXPECT_GT(jumped, kSteps / 2) << "jumps that never happen prove nothing";
}

TEST(SteadyStateLaw, jobs_beside_each_other_jump_together_or_not_at_all) {
  int jumped = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    testing::Draw draw(round);
    const int stages = 1 + draw.below(2), data = 1 + draw.below(2), chips = stages * data;
    testing::RandomJob job = testing::random_job(draw, stages, data, 1);
    job.program.microbatches = 4 * stages * (4 + draw.below(8));
    const Fabric fabric = build_fabric(testing::gpu_fabric(3 * chips, 1, 2));
    std::vector<LaidJob> jobs(2, testing::lay(job.spec, job.program, fabric, 0));
    if (draw.below(2)) job.program.microbatches *= 2;
    jobs[1] = testing::lay(job.spec, job.program, fabric, 2 * chips);
    const System system = assemble(fabric, jobs, {}, true);
    SimulateOptions options;
    options.steps = 3;
    const std::vector<Timeline> jumping = simulate(system, options);
    options.steady = false;
    const std::vector<Timeline> whole = simulate(system, options);
    for (std::size_t j = 0; j < jobs.size(); ++j) expect_equal(jumping[j], whole[j]);
    jumped += jumping.front().periods_skipped > 0;
  }
  EXPECT_GT(jumped, 20) << "jumps that never happen prove nothing";
}

}  // namespace
}  // namespace podsim::steady_state_random_test
