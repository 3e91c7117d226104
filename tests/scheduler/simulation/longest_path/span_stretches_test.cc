// What transfers cost beside the computations of a span, against the span gone through move by move.
#include "scheduler/simulation/longest_path/span_stretches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "scheduler/simulation/loop/rehearsal.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_step.h"

namespace podsim::span_stretches_test {
namespace {

using testing::Draw;

// A stage program, a leg of its, and patterns of which the first are transfers between stages.
struct Case {
  System system;
  StageProgram program;
  std::vector<TransferEdge> edges;  // of what the leg launches
  Leg leg;
  RehearsalBuffers buffers;

  explicit Case(Draw& draw) {
    system.patterns.resize(4);
    for (std::size_t p = 0; p < 4; ++p)
      system.patterns[p].kind = p < 2 ? CollectiveKind::kSendReceive : CollectiveKind::kAllGather;
    program.interference = draw.below(4) == 0 ? 0.5 : 0.01 + draw.real();
    program.skew = draw.below(2) * 0.05 * draw.real();
    if (draw.below(2)) program.host_lead = Time{draw.below(500)};
    edges = {{{5}, {}}, {{20}, {}}};
  }

  LegOutcome rehearsed(std::span<const DrainBeside> drains) {
    LegOutcome outcome;
    rehearse(system, program, leg, drains, buffers, outcome);
    return outcome;
  }

  // Computations, calls of the host, and collectives; `apart`: each of these is waited for before anything is
  // computed.
  void write(Draw& draw, bool apart) {
    LegWriter writer;
    int under_way = 0;
    for (int steps = 1 + draw.below(12); steps > 0; --steps) {
      switch (draw.below(5)) {
        case 0:
          writer.add({.kind = LegStep::Kind::kHost, .length = Time{draw.below(100)}}, 0);
          break;
        case 1:
          writer.add({.kind = draw.below(3) ? LegStep::Kind::kPause : LegStep::Kind::kSynchronise,
                      .bucket = Bucket::kPause,
                      .length = Time{draw.below(100)}},
                     0);
          break;
        case 2:
          writer.launch({.kind = LegStep::Kind::kLaunch, .pattern = 3, .length = Time{30}, .edges = edges},
                        Stream::kActivation, 0, 0);
          ++under_way;
          break;
        default:
          break;
      }
      if (under_way > 0 && (apart || draw.below(2))) {
        writer.wait(Stream::kActivation, 0);
        under_way = 0;
      }
      writer.add({.kind = LegStep::Kind::kCompute,
                  .bucket = draw.below(2) ? Bucket::kCompute : Bucket::kOptimizer,
                  .length = Time{draw.below(200)}},
                 0);
    }
    writer.wait(Stream::kActivation, 0);
    leg = writer.take();
    leg.alone = rehearsed({});
  }
};

// One after the other in order of their begins, some of them before the span begins and some without an end.
std::vector<DrainBeside> drains_of(Draw& draw) {
  std::vector<DrainBeside> drains;
  Time at{draw.below(200) - 100};
  for (int count = 1 + draw.below(4); count > 0; --count) {
    const Time end = draw.below(10) == 0 ? Time::max() : at + Time{1 + draw.below(300)};
    drains.push_back({at, end, draw.below(4)});
    at += Time{draw.below(400)};
  }
  return drains;
}

TEST(SpanStretchesLaw, what_transfers_cost_one_by_one_is_what_they_cost_move_by_move) {
  const int wanted = testing::rounds(20000);
  int known = 0, added_up = 0, delayed = 0, with_host = 0;
  for (int round = 0; round < wanted; ++round) {
    Draw draw(static_cast<std::uint64_t>(810000 + round));
    Case random(draw);
    random.write(draw, draw.below(4) > 0);
    const std::vector<PlacedLeg> legs = {{&random.leg, 0, random.leg.instructions}};
    const SpanStretches stretches(random.program, legs);
    if (!stretches.known()) continue;
    ++known;
    const Time begin{draw.below(1000)};
    std::vector<DrainBeside> relative = drains_of(draw), drains = relative;
    for (DrainBeside& each : drains) {
      each.begin += begin;
      if (each.end < Time::max()) each.end += begin;
    }
    std::erase_if(relative, [](const DrainBeside& each) { return each.end <= Time{}; });
    SpanStretches::Slowed slowed;
    std::vector<SpanDelay> delays;
    if (!stretches.slow(random.program, begin, drains, slowed, delays)) continue;
    ++added_up;
    delayed += !delays.empty();
    const LegOutcome outcome = random.rehearsed(relative);
    with_host += outcome.host_floor != LegOutcome::kNever && !delays.empty();
    ASSERT_EQ(slowed.length, outcome.length) << "round " << round;
    ASSERT_EQ(slowed.host_floor, outcome.host_floor) << "round " << round;
    ASSERT_EQ(random.leg.alone.host_add, outcome.host_add) << "round " << round;
    std::array<Time, kBuckets> bucket = random.leg.alone.bucket;
    std::map<std::int32_t, Time> exposed(random.leg.alone.exposed.begin(), random.leg.alone.exposed.end());
    for (const SpanDelay& each : delays) {
      const bool between_stages = each.pattern < 2;
      bucket[static_cast<std::size_t>(between_stages ? Bucket::kBubble : Bucket::kCommunication)] +=
          each.lost;
      if (!between_stages) exposed[each.pattern] += each.lost;
    }
    ASSERT_EQ(bucket, outcome.bucket) << "round " << round;
    const std::map<std::int32_t, Time> found(outcome.exposed.begin(), outcome.exposed.end());
    ASSERT_EQ(exposed, found) << "round " << round;
  }
  EXPECT_GE(known, wanted / 2) << "collectives are seldom apart from computations";
  EXPECT_LE(known, wanted * 19 / 20) << "collectives are always apart from computations";
  EXPECT_GE(added_up, wanted / 4) << "transfers seldom come one by one";
  EXPECT_GE(delayed, wanted / 5) << "transfers seldom cost anything";
  EXPECT_GE(with_host, wanted / 20) << "hosts seldom meet their chips";
}

}  // namespace
}  // namespace podsim::span_stretches_test
