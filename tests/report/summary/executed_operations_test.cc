// How often operations run, and what documents leave of attention.
#include "report/summary/executed_operations.h"

#include <gtest/gtest.h>

#include "tests/report/example.h"

namespace podsim::executed_operations_test {
namespace {

ComputeOp attention_of(double window) {
  ComputeOp op;
  op.op_class = OpClass::kAttention;
  op.window = window;
  op.causal = true;
  return op;
}

// A matmul, attention over all keys and over 4; of each the optimizer once a step.
StepProgram program_of_three() {
  StepProgram program = example_program();
  Part part;
  part.forward = {ComputeOp{}, attention_of(0), attention_of(4)};
  part.backward = {attention_of(4)};
  part.optimizer = {ComputeOp{}};
  program.parts = {part};
  program.chunks = {{{{{0, 3}}}}};
  program.microbatches = 5;
  program.flops_per_token.scores = {{0, {}, {}, {}}, {4, {}, {}, {}}};
  return program;
}

TEST(ExecutedOperations, run_for_every_piece_and_microbatch_but_for_what_is_once_a_step) {
  const StepProgram program = program_of_three();
  const std::vector<ExecutedOperation> executed = executed_operations(program, {});
  ASSERT_EQ(executed.size(), 5u);
  for (const ExecutedOperation& each : executed) EXPECT_EQ(each.load, 1);
  for (const std::size_t i : {0, 1, 2, 3}) EXPECT_EQ(executed[i].times, 15);
  EXPECT_FALSE(executed[2].backward);
  EXPECT_TRUE(executed[3].backward);
  EXPECT_EQ(executed[4].times, 3);
}

TEST(ExecutedOperations, of_attention_shrink_with_the_documents_by_its_window) {
  const StepProgram program = program_of_three();
  const std::vector<double> attention = {0.25, 0.5, 0.75};  // all keys; 4, those before the query; 4
  const std::vector<ExecutedOperation> executed = executed_operations(program, attention);
  ASSERT_EQ(executed.size(), 5u);
  EXPECT_EQ(executed[0].load, 1) << "a matmul";
  EXPECT_EQ(executed[1].load, 0.25);
  EXPECT_EQ(executed[2].load, 0.5);
  EXPECT_EQ(executed[3].load, 0.5);
  EXPECT_EQ(executed[4].load, 1);
}

}  // namespace
}  // namespace podsim::executed_operations_test
