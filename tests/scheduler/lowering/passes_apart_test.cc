// Rules of passes that come apart or take turns, each on a step whose exact timeline is written out.
#include <gtest/gtest.h>

#include "scheduler/lowering/interleave_passes.h"
#include "scheduler/lowering/pass_blocks.h"
#include "tests/scheduler/fixture.h"

namespace podsim::passes_apart_test {
namespace {

using testing::collective;
using testing::milliseconds;

ComputeOp weight_gradient(double ms) {
  ComputeOp op = milliseconds(ms);
  op.weight_gradient = true;
  return op;
}

TEST(PassBlocks, what_makes_weight_gradients_only_comes_apart_in_issue_order) {
  Part part;
  CollectiveOp reduction = collective(CollectiveKind::kReduceScatter, 1, 1e6, Purpose::kGradient);
  reduction.weight_gradient = true;
  part.forward = {milliseconds(1)};
  part.backward = {milliseconds(1), weight_gradient(2),
                   reduction,       collective(CollectiveKind::kAllReduce, 1, 1e6, Purpose::kActivation),
                   milliseconds(3), weight_gradient(4),
                   milliseconds(5)};
  const std::vector<Part> parts = {part};
  const PassBlocks blocks(parts);
  EXPECT_EQ(blocks.block(0, Pass::kBackward).size(), 7u);
  EXPECT_EQ(blocks.block(0, Pass::kInputGradient).size(), 4u);
  ASSERT_EQ(blocks.block(0, Pass::kWeightGradient).size(), 3u);
  EXPECT_EQ(std::get<ComputeOp>(blocks.block(0, Pass::kWeightGradient)[2]).hbm.value, 4e9);
  Stack stack;
  stack.backward_kernels = 50;
  EXPECT_DOUBLE_EQ(blocks.kernels(0, Pass::kWeightGradient, stack), 20);
  EXPECT_DOUBLE_EQ(blocks.kernels(0, Pass::kInputGradient, stack), 30);
  EXPECT_DOUBLE_EQ(blocks.kernels(0, Pass::kBackward, stack), 50);
}

Instruction compute(double ms) {
  return {Instruction::Kind::kCompute, Stream::kActivation, Bucket::kCompute, -1, 0,
          Time::seconds(ms * 1e-3)};
}
Instruction wait_on(Stream stream) {
  return {Instruction::Kind::kWait, stream, Bucket::kCommunication, -1, 0, {}};
}

TEST(InterleavePasses, each_pass_computes_while_the_other_waits_for_its_collectives) {
  const Instruction a = wait_on(Stream::kActivation), b = wait_on(Stream::kActivationBeside);
  std::vector<Instruction> out;
  interleave({{{compute(1), a, compute(2), a},
               {compute(3), wait_on(Stream::kParameter), b, compute(4), compute(5)}}},
             out);
  std::vector<double> order;  // a wait is minus its stream
  for (const Instruction& instruction : out)
    order.push_back(instruction.kind == Instruction::Kind::kWait ? -static_cast<double>(instruction.stream)
                                                                 : instruction.duration.in_seconds() * 1e3);
  const double first = -static_cast<double>(Stream::kActivation),
               second = -static_cast<double>(Stream::kActivationBeside);
  EXPECT_EQ(order, (std::vector<double>{1, 3, -static_cast<double>(Stream::kParameter), first, 2, second, 4,
                                        5, first}));
}

// Two stages of four chips. Forward and backward are 1 ms, an all-to-all, 1 ms. A transfer of 1 ms hides
// behind the other direction's computation in the pairs: of the 8 microbatches each stage runs 5 pairs.
TEST(DualPipe, collectives_of_one_direction_travel_beside_the_computation_of_the_other) {
  const Mesh mesh{{{"pipeline", 2}, {"expert", 4}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::kDualPipe, 2, 2, 8, 0, 0);
  const auto exchange = [](double bytes) {
    return collective(CollectiveKind::kAllReduce, 2, bytes, Purpose::kActivation);
  };
  const Fabric fabric = build_fabric(testing::gpu_fabric(8, 8, 8));
  const auto run = [&](double bytes) {
    Part& layer = testing::layer_of(program);
    layer.forward = {milliseconds(1), milliseconds(1)};
    layer.backward = {milliseconds(1), milliseconds(1)};
    if (bytes > 0) {
      layer.forward.insert(layer.forward.begin() + 1, exchange(bytes));
      layer.backward.insert(layer.backward.begin() + 1, exchange(bytes));
    }
    return testing::simulate_step(testing::plain_spec(), program, fabric, true).timeline;
  };
  const Timeline free = run(0), busy = run(100e6);
  const int communication = static_cast<int>(Bucket::kCommunication),
            compute = static_cast<int>(Bucket::kCompute);
  EXPECT_EQ(free.chips[0].bucket[compute], busy.chips[0].bucket[compute]);
  const double one_ms = busy.chips[0].bucket[communication].in_seconds() * 1e3 / (16 - 2 * 5);
  const std::vector<ChipId> group = {0, 1, 2, 3};
  const Collective all_reduce{CollectiveKind::kAllReduce, {100e6}};
  EXPECT_NEAR(one_ms, predict(fabric, plan(fabric, all_reduce, group)).in_seconds() * 1e3, 1e-6);
  EXPECT_LT(one_ms, 1) << "or it would not hide";
}

// Stage s holds pieces s and p - 1 - s, so stages 0 and 3 share two pieces, and so do 1 and 2.
TEST(DualPipe, gradients_of_the_two_copies_are_summed_between_mirrored_stages) {
  const Mesh mesh{{{"pipeline", 4}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::kDualPipe, 4, 2, 8, 1, 2);
  Part other = testing::layer_of(program);
  testing::layer_of(program).local_state = 25e6;
  other.local_state = 50e6;
  program.parts.push_back(other);
  program.chunks[0][0].runs = program.chunks[3][1].runs = {{1, 1}};
  const Fabric fabric = build_fabric(testing::gpu_fabric(4, 4, 8));
  Spec spec = testing::plain_spec();
  const Timeline without = [&] {
    StepProgram plain = program;
    for (Part& part : plain.parts) part.local_state = 0;
    return testing::simulate_step(spec, plain, fabric, true).timeline;
  }();
  const Timeline timeline = testing::simulate_step(spec, program, fabric, true).timeline;
  const std::vector<ChipId> pair = {0, 3};
  const auto sum = [&](double bytes) {
    return predict(fabric, plan(fabric, {CollectiveKind::kAllReduce, {bytes}}, pair));
  };
  EXPECT_EQ(timeline.step_end.back() - without.step_end.back(), sum(4 * 50e6) + sum(4 * 25e6));
}

}  // namespace
}  // namespace podsim::passes_apart_test
