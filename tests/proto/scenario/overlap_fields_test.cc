// What a scenario says of overlap, launches and batches: units, defaults, and values that are refused.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::overlap_fields_test {
namespace {

std::string with(const std::string& fields) {
  return valid_but("  sequence_tokens: 8192\n", "  sequence_tokens: 8192\n  " + fields + "\n");
}

Job job_of(const std::string& fields) {
  const auto result = load(with(fields));
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec.value_or(Spec{}).job;
}

Stack stack_of(const std::string& fields) { return job_of("stack_override { " + fields + " }").stack; }

TEST(OverlapFields, have_units) {
  const Stack stack = stack_of(
      "prefetch_forward: 0 prefetch_backward: 3 host_copies: 2 send_exposed: 0.24 tensor_chunks: 4 "
      "gradient_bucket_mb: 25 graphs_captured: true graph_launch_share: 0.25 host_collective_us: 24 "
      "loss_kernels: 58");
  EXPECT_EQ(stack.prefetch_forward, 0);
  EXPECT_EQ(stack.prefetch_backward, 3);
  EXPECT_EQ(stack.host_copies, 2);
  EXPECT_EQ(stack.send_exposed, 0.24);
  EXPECT_EQ(stack.tensor_chunks, 4);
  EXPECT_EQ(stack.gradient_bucket, Bytes{25e6});
  EXPECT_TRUE(stack.graphs_captured);
  EXPECT_EQ(stack.graph_launch_share, 0.25);
  EXPECT_EQ(stack.host_collective, Time::seconds(24e-6));
  EXPECT_EQ(stack.loss_kernels, 58);
}

TEST(OverlapFields, of_a_host_that_reads_count_by_the_slowest_of_disk_cores_and_rate) {
  EXPECT_EQ(job_of("input_rate_mb_per_s: 500 input_disk_mb_per_s: 300").input_rate, Bandwidth{300e6});
  EXPECT_EQ(job_of("input_disk_mb_per_s: 300 input_core_mb_per_s: 8 input_cores: 16").input_rate,
            Bandwidth{128e6});
  EXPECT_EQ(job_of("input_core_mb_per_s: 8").input_rate, Bandwidth{8e6}) << "of one core";
}

TEST(OverlapFields, of_batches_say_rates_and_depth) {
  const Job job = job_of("input_rate_mb_per_s: 500 storage_rate_gb_per_s: 2 input_batches_ahead: 4");
  EXPECT_EQ(job.input_rate, Bandwidth{500e6});
  EXPECT_EQ(job.storage_rate, Bandwidth{2e9});
  EXPECT_EQ(job.batches_ahead, 4);
  const Job plain = job_of("");
  EXPECT_EQ(plain.storage_rate, Bandwidth{});
  EXPECT_EQ(plain.batches_ahead, 1);
}

TEST(EvaluationFields, count_steps_or_sequences) {
  const Evaluation by_steps = job_of("evaluation { sequences: 1000 every_steps: 10 }").evaluation;
  EXPECT_EQ(by_steps.sequences, 1000);
  EXPECT_EQ(by_steps.every_steps, 10);
  EXPECT_EQ(job_of("evaluation { sequences: 1000 every_steps: 10 }").evaluation_passes(), 2 / 10.0);
  EXPECT_EQ(job_of("evaluation { sequences: 1000 every_sequences: 2560 }").evaluation_passes(), 2 * 0.2);
  EXPECT_EQ(job_of("").evaluation_passes(), 0);
}

TEST(EvaluationFields, say_how_often_in_one_way) {
  const Lines problem = {
      "16:3 how often the job is evaluated must be said in one way | give every_sequences or every_steps"};
  EXPECT_EQ(problems_of(with("evaluation { sequences: 9 }")), problem);
  EXPECT_EQ(problems_of(with("evaluation { sequences: 9 every_steps: 1 every_sequences: 1 }")), problem);
  EXPECT_EQ(problems_of(with("evaluation { every_steps: 0 }")).size(), 2u) << "nothing to evaluate, never";
}

TEST(OverlapFields, out_of_range_are_told) {
  EXPECT_EQ(problems_of(with("input_batches_ahead: 0 storage_rate_gb_per_s: -1")),
            (Lines{"16:3 job.input_batches_ahead must be from 1 to 100,000, not 0",
                   "16:26 job.storage_rate_gb_per_s must be from 1e-06 to 1,000,000,000, not -1"}));
  EXPECT_EQ(problems_of(with("stack_override { prefetch_forward: -1 send_exposed: 2 tensor_chunks: 0 }")),
            (Lines{"16:20 job.stack_override.prefetch_forward must be from 0 to 1,000, not -1",
                   "16:41 job.stack_override.send_exposed must be from 0 to 1, not 2 | a share: 2 % is 0.02",
                   "16:57 job.stack_override.tensor_chunks must be from 1 to 1,000, not 0"}));
}

TEST(OverlapFields, of_what_scale_and_little_memory_cost) {
  const Stack stack =
      stack_of("skew_per_doubling: 0.013 network_share: 0.125 retry_free_share: 0.037 retry_stall: 0.8");
  EXPECT_EQ(stack.skew_per_doubling, 0.013);
  EXPECT_EQ(stack.network_share, 0.125);
  EXPECT_EQ(stack.retry_free_share, 0.037);
  EXPECT_EQ(stack.retry_stall, 0.8);
  EXPECT_EQ(
      problems_of(with("stack_override { skew_per_doubling: 2 network_share: 0 retry_free_share: -1 }")),
      (Lines{"16:20 job.stack_override.skew_per_doubling must be from 0 to 1, not 2 | a share: 2 % is 0.02",
             "16:41 job.stack_override.network_share must be above 0 and at most 1, not 0",
             "16:58 job.stack_override.retry_free_share must be from 0 to 1, not -1"}));
}

TEST(OverlapFields, of_launches_out_of_range_are_told) {
  EXPECT_EQ(
      problems_of(with("stack_override { host_collective_us: -1 loss_kernels: -2 }")),
      (Lines{"16:20 job.stack_override.host_collective_us must be at least 0 and below 1,000,000, not -1",
             "16:43 job.stack_override.loss_kernels must be from 0 to 100,000, not -2"}));
}

TEST(OverlapFields, names_of_before_are_unknown) {
  EXPECT_EQ(problems_of(with("stack_override { sends_overlapped: true }")).size(), 1u);
}

}  // namespace
}  // namespace podsim::overlap_fields_test
