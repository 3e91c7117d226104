// Steps along their longest paths where stages share a server, so that their transfers load links of tensor
// collectives.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "scheduler/simulation/longest_path/longest_path_loop.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_overlap.h"

namespace podsim::between_transfers_test {
namespace {

// Servers hold two stages, or all of them.
System stages_of_a_server(int round) {
  testing::Draw draw(static_cast<std::uint64_t>(70'000 + round));
  const int stages = 2 * (1 + draw.below(2)), data = 1 + draw.below(2), tensor = 2 << draw.below(2);
  const int chips = stages * data * tensor, server = draw.below(2) ? chips : 2 * data * tensor;
  testing::RandomJob job = testing::random_job(draw, stages, data, tensor);
  job.program.microbatches = stages * (1 + draw.below(12));
  job.spec.job.stack.host_copies = 0;
  const FabricSpec spec = testing::gpu_fabric(chips, server, chips);
  const Adversities adversities =
      draw.below(4) == 0 ? testing::random_adversities(draw, spec) : Adversities{};
  const Fabric fabric = with_slow_links(build_fabric(spec), slow_links(adversities.degradations));
  const LaidJob laid = testing::lay(job.spec, job.program, fabric, 0);
  return assemble(fabric, {&laid, 1}, adversities, true);
}

TEST(BetweenTransfersLaw, steps_of_stages_that_share_a_server_have_the_figures_of_the_definition) {
  const int wanted = testing::rounds(1000, 4);
  int between_transfers = 0, cut_off = 0, jumped = 0, undisturbed = 0;
  for (int round = 0; round < wanted; ++round) {
    const System system = stages_of_a_server(round);
    SimulateOptions options;
    options.loop = Loop::kReference;
    const testing::Figures defined = testing::figures(simulate(system, options).front());
    options.loop = Loop::kFast;
    SystemTables tables(system);
    if (!LongestPathLoop::knows(tables, options)) continue;
    PathPrograms programs(tables);
    LongestPathLoop loop(tables, programs, options);
    const std::optional<std::vector<Timeline>> found = loop.run();
    if (!found) continue;
    ASSERT_EQ(testing::difference(defined, testing::figures(found->front())), "") << "round " << round;
    between_transfers += loop.spans_between_transfers() > 0;
    cut_off += loop.spans_cut_off() > 0;
    undisturbed += loop.operations_undisturbed() > 0;
    jumped += loop.spans_between_transfers() > 0 && found->front().periods_skipped > 0;
  }
  EXPECT_GE(between_transfers, wanted / 6) << "transfers seldom load links of collectives";
  EXPECT_GE(cut_off, wanted / 40) << "transfers seldom cut spans off";
  EXPECT_GE(undisturbed, wanted / 8) << "operations seldom have their links for themselves";
  EXPECT_GE(jumped, wanted / 40) << "loops are seldom periodic";
}

}  // namespace
}  // namespace podsim::between_transfers_test
