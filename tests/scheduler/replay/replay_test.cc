// Small traces made by hand, whose step times can be added up on paper, and what keeps a trace from being
// replayed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/what_if.h"

namespace podsim::replay_test {
namespace {

// Rows of a trace in double precision.
class Trace {
 public:
  Trace() { trace_.single_precision = false; }

  Trace& op(int rank, int stage, OpType type, int sequence, double start_s, double duration_s, int chunk = -1,
            int global_chunk = -1, int microbatch = -1) {
    trace_.ops.push_back({start_s, duration_s, 7, rank, sequence, microbatch,
                          static_cast<std::int16_t>(stage), static_cast<std::int16_t>(chunk),
                          static_cast<std::int16_t>(global_chunk), type});
    return *this;
  }

  Trace& pass(int rank, int stage, OpType type, int sequence, double start_s, double duration_s, int chunk,
              int global_chunk) {
    return op(rank, stage, type, sequence, start_s, duration_s, chunk, global_chunk, 0);
  }

  // After the last pass, which ends at `start_s`: 0.25 s for layernorm, embedding and clip, 0.5 s for the
  // optimizer; `between` s of other collectives after the embedding.
  Trace& tail(int rank, int stage, double start_s, double between = 0) {
    op(rank, stage, OpType::kGarbageCollection, 0, start_s, 0);
    op(rank, stage, OpType::kLayernormGradsAllReduce, 0, start_s, 0.25);
    op(rank, stage, OpType::kEmbeddingGradsAllReduce, 0, start_s + 0.25, 0.25);
    op(rank, stage, OpType::kClip, 0, start_s + 0.5 + between, 0.25);
    return op(rank, stage, OpType::kOptimizer, 0, start_s + 0.75 + between, 0.5);
  }

  const RecordedTrace& get() const { return trace_; }

 private:
  RecordedTrace trace_;
};

// Two stages, one microbatch, one data rank.
Trace two_stages(double second_forward_s) {
  const double f = second_forward_s;
  Trace trace;
  trace.pass(0, 0, OpType::kForwardCompute, 0, 0, 1, 0, 0)
      .op(0, 0, OpType::kForwardSend, 0, 1, 0.5)
      .op(0, 1, OpType::kForwardRecv, 0, 0, 1.5)
      .pass(0, 1, OpType::kForwardCompute, 0, 1.5, f, 0, 1)
      .pass(0, 1, OpType::kBackwardCompute, 0, 1.5 + f, 2, 0, 1)
      .op(0, 1, OpType::kBackwardSend, 0, 3.5 + f, 0.25)
      .op(0, 0, OpType::kBackwardRecv, 0, 1, 2.75 + f)
      .pass(0, 0, OpType::kBackwardCompute, 0, 3.75 + f, 2, 0, 0)
      .tail(0, 0, 5.75 + f)
      .tail(0, 1, 5.75 + f);
  return trace;
}

TEST(Replay, without_data_parallelism_passes_and_transfers_between_stages_add_up) {
  const WhatIf result = what_if(two_stages(2).get(), {});
  EXPECT_DOUBLE_EQ(result.T_s, 1 + 0.5 + 2 + 2 + 0.25 + 2 + 1.25);
  EXPECT_DOUBLE_EQ(result.T_ideal_s, result.T_s);  // two forward passes at their mean
  EXPECT_DOUBLE_EQ(result.by_stage[0].mean, (result.T_s - 0.5) / result.T_s);
  EXPECT_DOUBLE_EQ(result.by_stage[1].mean, (result.T_s + 0.5) / result.T_s);
  EXPECT_DOUBLE_EQ(result.recorded_s[0], result.T_s);
  EXPECT_FALSE(result.last_stage.gained);  // nothing is lost
}

TEST(Replay, waiting_inside_a_collective_is_no_part_of_its_transfer_time) {
  Trace trace;  // one stage, two data ranks; the second begins 0.5 s late and computes 1 s longer
  for (const int rank : {0, 1}) {
    trace.op(rank, 0, OpType::kParamsAllGather, 0, 0.5 * rank, 1 - 0.5 * rank, 0)
        .pass(rank, 0, OpType::kForwardCompute, 0, 1, 1 + rank, 0, 0)
        .pass(rank, 0, OpType::kBackwardCompute, 0, 2 + rank, 2, 0, 0)
        .op(rank, 0, OpType::kGradsReduceScatter, 0, 4.5 + rank, 1.5 - rank, 0)
        .tail(rank, 0, 4 + rank, 1.5 - rank);
  }
  const WhatIf result = what_if(trace.get(), {});
  const double rest = 0.5 + 2 + 0.5 + 1.25;  // gather, backward, scatter, tail
  EXPECT_DOUBLE_EQ(result.T_s, rest + 2);
  EXPECT_DOUBLE_EQ(result.T_ideal_s, rest + 1.5);
  EXPECT_DOUBLE_EQ(result.by_data_rank[0].mean, 1);
  EXPECT_DOUBLE_EQ(result.by_data_rank[1].mean, result.S.mean);
  EXPECT_DOUBLE_EQ(result.few_workers.gained.value(), 1);
  EXPECT_EQ(result.likely_cause, "few workers");
  ASSERT_EQ(result.culprits.size(), 1u);
  EXPECT_EQ(result.culprits[0].worker.data_rank, 1);
  ASSERT_EQ(result.waits.size(), 1u);  // in the scatter
  EXPECT_EQ(result.waits[0].waiter.data_rank, 0);
  EXPECT_DOUBLE_EQ(result.waits[0].per_step_s, 1);
}

// One stage of two chunks on two data ranks alike; passes 0, 1 forward and 1, 0 backward.
Trace two_chunks(bool overlapped) {
  Trace trace;
  for (const int rank : {0, 1}) {
    trace.op(rank, 0, OpType::kParamsAllGather, 0, 0, 0.5, 0)
        .op(rank, 0, OpType::kParamsAllGather, 1, 0.5, 0.5, 1)
        .pass(rank, 0, OpType::kForwardCompute, 0, 0.5, 1, 0, 0)
        .pass(rank, 0, OpType::kForwardCompute, 1, 1.5, 1, 1, 1)
        .pass(rank, 0, OpType::kBackwardCompute, 0, 2.5, 2, 1, 1)
        .pass(rank, 0, OpType::kBackwardCompute, 1, 4.5, 2, 0, 0)
        .op(rank, 0, OpType::kGradsReduceScatter, 0, overlapped ? 4.5 : 7, 0.5, 1)
        .op(rank, 0, OpType::kGradsReduceScatter, 1, overlapped ? 6.5 : 7.5, 0.5, 0)
        .tail(rank, 0, overlapped ? 7 : 6.5, overlapped ? 0.25 : 1);
    if (overlapped) trace.op(rank, 0, OpType::kSeparateGradsAllReduce, 0, 7.5, 0.25);
  }
  return trace;
}

TEST(Replay, without_overlap_gradients_are_scattered_after_the_last_pass) {
  EXPECT_DOUBLE_EQ(what_if(two_chunks(false).get(), {}).T_s, 0.5 + 6 + 0.5 + 2 * 0.5 + 0.25 + 0.5);
}

TEST(Replay, overlapped_gradients_of_a_chunk_are_scattered_after_its_last_pass) {
  const WhatIf result = what_if(two_chunks(true).get(), {});
  EXPECT_DOUBLE_EQ(result.T_s, 0.5 + 6 + 0.5 + 0.5 + 0.25 + 0.25 + 0.5);  // one scatter is hidden
  EXPECT_DOUBLE_EQ(result.recorded_s[0], result.T_s);
}

TEST(Replay, parameters_of_a_chunk_are_awaited_by_its_first_pass_only) {
  RecordedTrace trace = two_chunks(true).get();
  for (RecordedOp& op : trace.ops)
    if (op.type == OpType::kParamsAllGather && op.sequence == 1) op.duration_s = 0.75;
  EXPECT_DOUBLE_EQ(what_if(trace, {}).T_s, 8.5);  // gathered while chunk 0 computes
  for (RecordedOp& op : trace.ops)
    if (op.type == OpType::kParamsAllGather && op.sequence == 1) op.duration_s = 1.75;
  EXPECT_DOUBLE_EQ(what_if(trace, {}).T_s, 8.5 + 0.75);
}

// Two stages of two chunks, one microbatch: it passes stages 0, 1, 0, 1 and back.
Trace interleaved() {
  Trace trace;
  trace.pass(0, 0, OpType::kForwardCompute, 0, 0, 1, 0, 0)
      .op(0, 0, OpType::kForwardSend, 0, 1, 0.25)
      .op(0, 1, OpType::kForwardRecv, 0, 0, 1.25)
      .pass(0, 1, OpType::kForwardCompute, 0, 1.25, 1, 0, 1)
      .op(0, 1, OpType::kForwardSend, 0, 2.25, 0.25)
      .op(0, 0, OpType::kForwardRecv, 0, 1, 1.5)  // the first chunk receives nothing
      .pass(0, 0, OpType::kForwardCompute, 1, 2.5, 1, 1, 2)
      .op(0, 0, OpType::kForwardSend, 1, 3.5, 0.25)
      .op(0, 1, OpType::kForwardRecv, 1, 2.25, 1.5)
      .pass(0, 1, OpType::kForwardCompute, 1, 3.75, 1, 1, 3)
      .op(0, 1, OpType::kForwardSend, 1, 4.75, 0)  // recorded, though nobody receives it
      .pass(0, 1, OpType::kBackwardCompute, 0, 4.75, 2, 1, 3)
      .op(0, 1, OpType::kBackwardSend, 0, 6.75, 0.25)
      .op(0, 0, OpType::kBackwardRecv, 0, 3.5, 3.5)
      .pass(0, 0, OpType::kBackwardCompute, 0, 7, 2, 1, 2)
      .op(0, 0, OpType::kBackwardSend, 0, 9, 0.25)
      .op(0, 1, OpType::kBackwardRecv, 0, 6.75, 2.5)
      .pass(0, 1, OpType::kBackwardCompute, 1, 9.25, 2, 0, 1)
      .op(0, 1, OpType::kBackwardSend, 1, 11.25, 0.25)
      .op(0, 0, OpType::kBackwardRecv, 1, 9, 2.5)
      .pass(0, 0, OpType::kBackwardCompute, 1, 11.5, 2, 0, 0)
      .tail(0, 0, 13.5)
      .tail(0, 1, 13.5);
  return trace;
}

TEST(Replay, the_last_stage_sends_to_the_first_for_the_next_chunk) {
  const WhatIf result = what_if(interleaved().get(), {});
  EXPECT_DOUBLE_EQ(result.T_s, 4 * 1 + 4 * 2 + 6 * 0.25 + 1.25);
  EXPECT_DOUBLE_EQ(result.recorded_s[0], result.T_s);
  RecordedTrace slow = interleaved().get();
  for (RecordedOp& op : slow.ops)
    if (op.type == OpType::kForwardCompute && op.global_chunk == 2) op.duration_s += 0.5;
  EXPECT_DOUBLE_EQ(what_if(slow, {}).T_s, result.T_s + 0.5);
}

TEST(Replay, a_transfer_beyond_the_last_chunk_is_a_no_op) {
  const ReplayGraph graph = build_replay_graph(interleaved().get());
  int no_ops = 0;
  for (const ReplayOp& op : graph.ops) {
    if (!op.no_op) continue;
    ++no_ops;
    EXPECT_EQ(describe(op), "forward-send 1 of stage 1");
  }
  EXPECT_EQ(no_ops, 1);
}

TEST(Replay, only_the_steps_asked_for_count) {
  RecordedTrace trace = two_stages(1).get();
  const Trace longer = two_stages(3);
  for (RecordedOp op : longer.get().ops) {
    op.step = 9;
    trace.ops.push_back(op);
  }
  EXPECT_DOUBLE_EQ(what_if(trace, {}).T_s, 9);
  const WhatIf second = what_if(trace, std::vector<std::int32_t>{9});
  EXPECT_EQ(second.steps, std::vector<std::int32_t>{9});
  EXPECT_DOUBLE_EQ(second.T_s, 10);
}

TEST(Replay, data_ranks_alike_count_as_many) {
  // Three of four data ranks are alike; as one row set of three, and each for itself.
  const auto ranks = [](int count) {
    Trace trace;
    for (int rank = 0; rank < count; ++rank) {
      const double slow = rank == 0 ? 0.5 : 0;
      trace.op(rank, 0, OpType::kParamsAllGather, 0, 0, 0.5, 0)
          .pass(rank, 0, OpType::kForwardCompute, 0, 0.5, 1 + slow, 0, 0)
          .pass(rank, 0, OpType::kBackwardCompute, 0, 1.5 + slow, 2, 0, 0)
          .op(rank, 0, OpType::kGradsReduceScatter, 0, 4, 1, 0)
          .tail(rank, 0, 3.5 + slow, 1);
    }
    return trace.get();
  };
  RecordedTrace folded = ranks(2);
  folded.ranks_alike = {1, 3};
  const WhatIf few = what_if(folded, {}), all = what_if(ranks(4), {});
  EXPECT_DOUBLE_EQ(few.T_ideal_s, all.T_ideal_s);
  EXPECT_DOUBLE_EQ(few.S.mean, all.S.mean);
  EXPECT_DOUBLE_EQ(few.few_workers.gained.value(), all.few_workers.gained.value());
  EXPECT_DOUBLE_EQ(few.by_data_rank[1].mean, all.by_data_rank[3].mean);
}

// Empty where it can be replayed.
std::string failure_of(const RecordedTrace& trace) {
  try {
    what_if(trace, {});
  } catch (const ReplayError& error) {
    return error.what();
  }
  return "";
}

TEST(Replay, what_keeps_a_trace_from_being_replayed_is_named) {
  EXPECT_EQ(failure_of({}), "the trace has no operations");
  const auto without = [](OpType type, int stage) {
    RecordedTrace trace = interleaved().get();
    std::erase_if(trace.ops, [&](const RecordedOp& op) {
      return op.type == type && op.stage == stage && (type != OpType::kForwardRecv || op.sequence == 1);
    });
    return failure_of(trace);
  };
  EXPECT_EQ(without(OpType::kOptimizer, 0), "there is no optimizer 0 of stage 0 on data rank 0 in step 7");
  EXPECT_EQ(without(OpType::kBackwardCompute, 1), "stage 1 has no backward-compute on data rank 0");
  EXPECT_EQ(without(OpType::kForwardRecv, 1),
            "stage 0 has 2 forward-send, stage 1 1 forward-recv: they do not pair");
  RecordedTrace unequal = two_chunks(true).get();
  unequal.ops.pop_back();
  EXPECT_EQ(failure_of(unequal),
            "separate-grads-all-reduce 0 of stage 0 is missing on data rank 1 in step 7");
  unequal = two_chunks(true).get();
  unequal.ops.push_back(unequal.ops.back());
  EXPECT_EQ(failure_of(unequal), "separate-grads-all-reduce 0 of stage 0 is twice on data rank 1 in step 7");
}

RecordedTrace without(const Trace& whole, const std::vector<OpType>& types) {
  RecordedTrace trace = whole.get();
  std::erase_if(trace.ops,
                [&](const RecordedOp& op) { return std::ranges::find(types, op.type) != types.end(); });
  return trace;
}
const std::vector<OpType> kTransfers = {OpType::kForwardSend, OpType::kForwardRecv, OpType::kBackwardSend,
                                        OpType::kBackwardRecv};

TEST(Replay, without_transfers_a_pass_waits_for_that_of_the_chunk_before_it) {
  const WhatIf plain = what_if(without(two_stages(2), kTransfers), {});
  EXPECT_DOUBLE_EQ(plain.T_s, what_if(two_stages(2).get(), {}).T_s - 0.5 - 0.25);
  EXPECT_EQ(plain.notes,
            (std::vector<std::string>{
                "no forward-send and forward-recv rows: a stage hands on to the next in no time",
                "no backward-send and backward-recv rows: a stage hands on to the next in no time"}));
  RecordedTrace chunks = without(interleaved(), kTransfers);
  EXPECT_DOUBLE_EQ(what_if(chunks, {}).T_s, 4 * 1 + 4 * 2 + 1.25);
  for (RecordedOp& op : chunks.ops)
    if (op.type == OpType::kForwardCompute && op.global_chunk == 2) op.duration_s += 0.5;
  EXPECT_DOUBLE_EQ(what_if(chunks, {}).T_s, 4 * 1 + 4 * 2 + 1.25 + 0.5);
}

TEST(Replay, sends_without_receives_are_not_used) {
  const WhatIf result = what_if(without(two_stages(2), {OpType::kForwardRecv}), {});
  EXPECT_DOUBLE_EQ(result.T_s, what_if(two_stages(2).get(), {}).T_s - 0.5);
  EXPECT_EQ(result.notes,
            std::vector<std::string>{"no forward-recv rows: a stage hands on to the next in no time"});
}

TEST(Replay, a_type_that_is_nowhere_is_left_out_of_the_step) {
  const double whole = what_if(two_stages(2).get(), {}).T_s;
  const WhatIf result = what_if(without(two_stages(2), {OpType::kOptimizer, OpType::kClip}), {});
  EXPECT_DOUBLE_EQ(result.T_s, whole - 0.25 - 0.5);
  EXPECT_EQ(result.notes,
            (std::vector<std::string>{"no optimizer-clip-main-grad rows: steps are told without them",
                                      "no optimizer rows: steps are told without them"}));
  EXPECT_DOUBLE_EQ(what_if(without(two_stages(2), {OpType::kGarbageCollection}), {}).T_s, whole);
  EXPECT_DOUBLE_EQ(what_if(without(two_stages(2), {OpType::kLayernormGradsAllReduce}), {}).T_s, whole - 0.25);
  EXPECT_DOUBLE_EQ(what_if(without(two_stages(2),
                                   {OpType::kBackwardCompute, OpType::kBackwardSend, OpType::kBackwardRecv}),
                           {})
                       .T_s,
                   1 + 0.5 + 2 + 1.25);
  EXPECT_TRUE(what_if(two_stages(2).get(), {}).notes.empty());
}

TEST(Replay, data_ranks_without_collectives_meet_at_the_end_of_the_step) {
  Trace trace;
  for (const int rank : {0, 1})
    trace.pass(rank, 0, OpType::kForwardCompute, 0, 0, 1 + rank, 0, 0)
        .pass(rank, 0, OpType::kBackwardCompute, 0, 1 + rank, 2, 0, 0)
        .op(rank, 0, OpType::kOptimizer, 0, 3 + rank, 0.5);
  const WhatIf result = what_if(trace.get(), {});
  EXPECT_DOUBLE_EQ(result.T_s, 2 + 2 + 0.5);
  EXPECT_DOUBLE_EQ(result.T_ideal_s, 1.5 + 2 + 0.5);
  EXPECT_EQ(result.likely_cause, "few workers");
  EXPECT_EQ(result.notes.back(), "data ranks meet at the end of a step only");
}

TEST(Replay, operations_that_wait_for_each_other_are_told) {
  RecordedTrace trace = interleaved().get();
  for (RecordedOp& op : trace.ops)  // stage 1 claims to compute its second chunk first
    if (op.stage == 1 && op.type == OpType::kForwardCompute) op.start_s = 5 - op.start_s;
  EXPECT_NE(failure_of(trace).find("wait for each other in a circle"), std::string::npos)
      << failure_of(trace);
}

TEST(Replay, of_a_loss_that_is_rounding_there_are_no_shares) {
  for (const double more : {1e-15, 1e-9, -1e-9}) {
    RecordedTrace trace = two_stages(2).get();
    trace.ops.front().duration_s += more;  // the mean of both is ideal, and the second waits for the first
    for (RecordedOp& op : trace.ops)
      if (op.type == OpType::kOptimizer && op.stage == 1) op.duration_s += more;
    const WhatIf result = what_if(trace, {});
    EXPECT_FALSE(result.few_workers.gained || result.few_workers.caused) << more;
    EXPECT_FALSE(result.last_stage.gained || result.last_stage.caused) << more;
    EXPECT_EQ(result.likely_cause, "none");
  }
  RecordedTrace trace = two_stages(2).get();
  trace.ops.back().duration_s += 0.01;
  EXPECT_TRUE(what_if(trace, {}).few_workers.gained);
}

// Two stages alike, whose step takes 8 s, and a batch for each of them.
RecordedTrace with_input(double batch_s, double slower_s = 0) {
  Trace trace = two_stages(1);
  for (const int stage : {0, 1}) trace.op(0, stage, OpType::kInput, 0, 0, batch_s);
  RecordedTrace with = trace.get();
  for (RecordedOp& op : with.ops)
    if (op.type == OpType::kOptimizer && op.stage == 1) op.duration_s += slower_s;
  return with;
}

TEST(Replay, a_step_ends_no_sooner_than_the_next_batch_is_there) {
  const double whole = what_if(two_stages(1).get(), {}).T_s;
  EXPECT_DOUBLE_EQ(what_if(with_input(whole - 1), {}).T_s, whole);
  const WhatIf hidden = what_if(with_input(whole + 2, 1), {});
  EXPECT_DOUBLE_EQ(hidden.T_s, whole + 2);
  EXPECT_DOUBLE_EQ(hidden.S.mean, 1) << "who is slow costs nothing";
  EXPECT_EQ(hidden.likely_cause, "none");
}

TEST(Replay, a_stall_of_input_makes_no_worker_slow) {
  const double whole = what_if(two_stages(1).get(), {}).T_s;
  RecordedTrace trace;
  trace.single_precision = false;
  for (int step = 0; step < 3; ++step) {
    const RecordedTrace one = with_input(step == 2 ? 2 * whole : 1);
    for (RecordedOp op : one.ops) {
      op.step = step;
      trace.ops.push_back(op);
    }
  }
  const WhatIf result = what_if(trace, {});
  EXPECT_DOUBLE_EQ(result.S.mean, 4.0 / 3);
  for (const Slowdown& stage : result.by_stage) EXPECT_DOUBLE_EQ(stage.mean, 1);
  for (const Slowdown& rank : result.by_data_rank) EXPECT_DOUBLE_EQ(rank.mean, 1);
  EXPECT_DOUBLE_EQ(result.few_workers.gained.value(), 0);
  EXPECT_TRUE(result.culprits.empty());
  EXPECT_EQ(result.likely_cause, "stalls of input");
  for (const TypeSlowdown& type : result.by_type)
    EXPECT_DOUBLE_EQ(type.slowdown.mean, type.type == "input" ? 4.0 / 3 : 1) << type.type;
}

}  // namespace
}  // namespace podsim::replay_test
