// Weights gathered ahead on two to four chips: every interval of the step, written out by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/scheduler/fixture.h"
#include "tests/scheduler/stream_spans.h"

namespace podsim::fsdp_timeline_test {
namespace {

using testing::collective;
using testing::milliseconds;
using testing::Spans;

constexpr auto kGather = CollectiveKind::kAllGather;
constexpr auto kScatter = CollectiveKind::kReduceScatter;

// Two servers of one GPU. A gather or scatter of 100 MB sends 50 MB each way, through two links of 1 us:
// 1000 + 2 us at the NIC's 50 GB/s, 5000 + 2 us at 10 GB/s.
struct TwoServers {
  Spec spec = testing::plain_spec();
  FabricSpec fabric = testing::gpu_fabric(2, 1, 2);
  StepProgram program = testing::pipeline_program({{{"fsdp", 2}}}, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);

  TwoServers(int depth, bool fast) {
    spec.job.stack.prefetch_forward = spec.job.stack.prefetch_backward = depth;
    spec.job.stack.gradients_overlapped = true;
    fabric.gpu->nic.bandwidth = {fast ? 50e9 : 10e9};
  }
  static CollectiveOp gather() { return collective(kGather, 1, 100e6, Purpose::kParameter); }
  static CollectiveOp scatter() { return collective(kScatter, 1, 100e6, Purpose::kGradient); }
  Timeline run() const { return testing::simulate_step(spec, program, build_fabric(fabric), true).timeline; }
};

// Three layers of 2 ms, forward only.
struct Forward : TwoServers {
  Forward(int depth, bool fast) : TwoServers(depth, fast) {
    program.chunks[0][0].runs = {{0, 3}};
    testing::layer_of(program).forward = {gather(), milliseconds(2)};
  }
};

void expect_spans(const Timeline& timeline, const Spans& weights, const Spans& computations) {
  for (const ChipTotals& chips : timeline.chips) {
    EXPECT_EQ(testing::spans_of(timeline, chips.representative, "weights"), weights);
    EXPECT_EQ(testing::computations(timeline, chips.representative), computations);
  }
}

TEST(FsdpTimeline, at_its_use_every_gather_is_exposed) {
  expect_spans(Forward(0, true).run(), {{0, 1002}, {3002, 4004}, {6004, 7006}},
               {{1002, 3002}, {4004, 6004}, {7006, 9006}});
  expect_spans(Forward(0, false).run(), {{0, 5002}, {7002, 12004}, {14004, 19006}},
               {{5002, 7002}, {12004, 14004}, {19006, 21006}});
}

// The first layer begins at 0 and launches the gather of the second, which does so at 3002.
TEST(FsdpTimeline, one_ahead_all_but_the_first_hide_behind_a_fast_network) {
  expect_spans(Forward(1, true).run(), {{0, 1002}, {1002, 2004}, {3002, 4004}},
               {{1002, 3002}, {3002, 5002}, {5002, 7002}});
}

TEST(FsdpTimeline, two_ahead_gathers_follow_one_another) {
  expect_spans(Forward(2, true).run(), {{0, 1002}, {1002, 2004}, {2004, 3006}},
               {{1002, 3002}, {3002, 5002}, {5002, 7002}});
}

// The network never rests, so more depth brings nothing.
TEST(FsdpTimeline, behind_a_slow_network_computation_hides_instead) {
  for (int depth : {1, 2}) {
    expect_spans(Forward(depth, false).run(), {{0, 5002}, {5002, 10004}, {10004, 15006}},
                 {{5002, 7002}, {10004, 12004}, {15006, 17006}});
  }
}

// Layers of 0.5 and 3 ms in turn: the gather of a long one takes longer than the short one before it.
struct Uneven : TwoServers {
  explicit Uneven(int depth) : TwoServers(depth, true) {
    program.parts.resize(2);
    program.parts[0].forward = {gather(), milliseconds(0.5)};
    program.parts[1].forward = {gather(), milliseconds(3)};
    program.parts[0].backward = program.parts[1].backward = {};
    program.chunks[0][0].runs = {{0, 1}, {1, 1}, {0, 1}, {1, 1}};
  }
};

TEST(FsdpTimeline, depth_two_looks_past_a_short_layer) {
  // The fourth gather is launched when the third layer begins, at 5004, and lasts 502 us longer than it.
  expect_spans(Uneven(1).run(), {{0, 1002}, {1002, 2004}, {2004, 3006}, {5004, 6006}},
               {{1002, 1502}, {2004, 5004}, {5004, 5504}, {6006, 9006}});
  // It is launched when the second begins, at 1502, and waits for its turn.
  expect_spans(Uneven(2).run(), {{0, 1002}, {1002, 2004}, {2004, 3006}, {3006, 4008}},
               {{1002, 1502}, {2004, 5004}, {5004, 5504}, {5504, 8504}});
}

// Two layers; backward 4 ms and a scatter of the gradient each.
struct BothWays : TwoServers {
  explicit BothWays(bool fast) : TwoServers(1, fast) {
    program.chunks[0][0].runs = {{0, 2}};
    testing::layer_of(program).forward = {gather(), milliseconds(2)};
    testing::layer_of(program).backward = {gather(), milliseconds(4), scatter()};
  }
};

TEST(FsdpTimeline, backward_gathers_begin_in_the_forward_pass_and_scatters_hide_but_for_the_last) {
  const Timeline timeline = BothWays(true).run();
  expect_spans(timeline, {{0, 1002}, {1002, 2004}, {3002, 4004}, {5002, 6004}},
               {{1002, 3002}, {3002, 5002}, {5002, 9002}, {9002, 13002}});
  EXPECT_EQ(testing::spans_of(timeline, 0, "gradients"), (Spans{{9002, 10004}, {13002, 14004}}));
  EXPECT_EQ(timeline.step_end.back(), Time::seconds(14004e-6));
}

// The scatter launched at 19006 meets the fourth gather, which has 1000 of its 5000 us left on the NIC: for
// 2000 us each has half, and the scatter then 4000 us alone.
TEST(FsdpTimeline, a_scatter_and_a_gather_share_the_network_they_meet_on) {
  const Timeline timeline = BothWays(false).run();
  expect_spans(timeline, {{0, 5002}, {5002, 10004}, {10004, 15006}, {15006, 21008}},
               {{5002, 7002}, {10004, 12004}, {15006, 19006}, {21008, 25008}});
  EXPECT_EQ(testing::spans_of(timeline, 0, "gradients"), (Spans{{19006, 25008}, {25008, 30010}}));
  EXPECT_EQ(timeline.step_end.back(), Time::seconds(30010e-6));
}

TEST(FsdpTimeline, prefetch_crosses_the_border_of_a_microbatch) {
  TwoServers c(1, true);
  c.program.microbatches = 2;
  testing::layer_of(c.program).forward = {TwoServers::gather(), milliseconds(2)};
  testing::layer_of(c.program).backward = {milliseconds(4)};
  expect_spans(c.run(), {{0, 1002}, {3002, 4004}}, {{1002, 3002}, {3002, 7002}, {7002, 9002}, {9002, 13002}});
}

// One layer per pass: two visits ahead is the next microbatch.
TEST(FsdpTimeline, depth_two_crosses_a_whole_backward_pass) {
  TwoServers c(2, true);
  c.program.microbatches = 3;
  testing::layer_of(c.program).forward = {TwoServers::gather(), milliseconds(2)};
  testing::layer_of(c.program).backward = {milliseconds(4)};
  expect_spans(c.run(), {{0, 1002}, {1002, 2004}, {7002, 8004}},
               {{1002, 3002}, {3002, 7002}, {7002, 9002}, {9002, 13002}, {13002, 15002}, {15002, 19002}});
}

TEST(FsdpTimeline, forward_and_backward_have_their_own_depth) {
  TwoServers c(0, true);
  c.spec.job.stack.prefetch_backward = 1;
  c.program.chunks[0][0].runs = {{0, 2}};
  testing::layer_of(c.program).forward = {TwoServers::gather(), milliseconds(2)};
  testing::layer_of(c.program).backward = {TwoServers::gather(), milliseconds(4)};
  // Behind a forward layer that gathers at its use nothing is launched before the next begins, at 6004.
  expect_spans(c.run(), {{0, 1002}, {3002, 4004}, {6004, 7006}, {7006, 8008}},
               {{1002, 3002}, {4004, 6004}, {7006, 11006}, {11006, 15006}});
}

// A transfer of 1000 us beside computation does 800 us of work where it slows by a quarter.
TEST(FsdpTimeline, transfers_slow_what_they_hide_behind) {
  Forward c(1, true);
  c.spec.job.stack.interference = 0.25;
  const Timeline timeline = c.run();
  expect_spans(timeline, {{0, 1002}, {1002, 2004}, {3202, 4204}}, {{1002, 3202}, {3202, 5402}, {5402, 7402}});
  EXPECT_EQ(timeline.chips[0].bucket[static_cast<int>(Bucket::kCommunication)], Time::seconds(1402e-6))
      << "the first gather, and what two others cost";
}

// Four chips on a ring of 50 GB/s and 1 us: a gather of 200 MB sends 75 MB each way round, 1500 + 3 us.
struct Ring {
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program({{{"fsdp", 4}}}, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);

  Ring() {
    spec.job.stack.prefetch_forward = 1;
    program.chunks[0][0].runs = {{0, 3}};
    testing::layer_of(program).forward = {collective(kGather, 1, 200e6, Purpose::kParameter),
                                          milliseconds(2)};
  }
  Timeline run() const {
    return testing::simulate_step(spec, program, build_fabric(testing::ring_fabric(4)), true).timeline;
  }
};

TEST(FsdpTimeline, four_chips_on_a_ring) {
  expect_spans(Ring().run(), {{0, 1503}, {1503, 3006}, {3503, 5006}},
               {{1503, 3503}, {3503, 5503}, {5503, 7503}});
}

// Chip 2 takes 4 ms per layer, so it launches the third gather 2 ms after the others; they wait for it.
TEST(FsdpTimeline, a_slow_chip_is_late_with_the_gathers_of_all) {
  Ring c;
  c.spec.adversities.add(Degradation::of_chip(2, 0.5));
  const Timeline timeline = c.run();
  const Spans weights = {{0, 1503}, {1503, 3006}, {5503, 7006}};
  EXPECT_EQ(testing::spans_of(timeline, 0, "weights"), weights);
  EXPECT_EQ(testing::spans_of(timeline, 2, "weights"), weights);
  EXPECT_EQ(testing::computations(timeline, 0), (Spans{{1503, 3503}, {3503, 5503}, {7006, 9006}}));
  EXPECT_EQ(testing::computations(timeline, 2), (Spans{{1503, 5503}, {5503, 9503}, {9503, 13503}}));
}

}  // namespace
}  // namespace podsim::fsdp_timeline_test
