// Laws of predictions for jobs that share a fabric.
#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "proto/writing/write.h"
#include "tests/prediction/scenario.h"

namespace podsim::jobs_test {
namespace {

// The one job of the scenario, written as a list of jobs.
Spec as_jobs(Spec spec) {
  spec.jobs = {{"only", 0, spec.cluster.fabric.chips, spec.job, spec.placement}};
  return spec;
}

std::string json_but_name(Report report, const std::string& name) {
  report.scenario = name;
  return report_json(report);
}

Time parts(const Report& report) {
  return report.compute + report.exposed_communication + report.pipeline_bubble + report.straggler_delay +
         report.optimizer + report.input_stall + report.offload_wait + report.skew_wait + report.evaluation;
}

TEST(PredictJobs, one_job_in_a_list_is_that_job) {
  for (const char* name : {"llama3_70b_512_h100", "llama3_70b_512_v5p", "one_slow_chip_512"}) {
    const Spec spec = testing::load(name);
    const Prediction listed = predict_step(as_jobs(spec), {});
    ASSERT_TRUE(listed.jobs && listed.jobs->jobs.size() == 1) << name;
    const JobReport& job = listed.jobs->jobs[0];
    const Report own = predict_step(spec, {}).report;
    EXPECT_EQ(json_but_name(job.alone, spec.name), report_json(own)) << name;
    EXPECT_EQ(job.together.step_time, own.step_time) << name;
    EXPECT_EQ(job.together.exposed_communication, own.exposed_communication) << name;
    EXPECT_EQ(job.slowdown(), 1) << name;
  }
}

TEST(PredictJobs, jobs_that_share_a_leaf_slow_each_other_down) {
  const Prediction prediction = predict_step(testing::load("two_jobs_oversubscribed"), {});
  ASSERT_TRUE(prediction.jobs);
  for (const JobReport& job : prediction.jobs->jobs) {
    EXPECT_GT(job.slowdown(), 1.005) << job.name;
    EXPECT_GT(job.together.exposed_communication, job.alone.exposed_communication) << job.name;
    EXPECT_EQ(job.together.compute, job.alone.compute) << job.name;
    EXPECT_GE(job.together.steps, 16) << job.name;
    EXPECT_EQ(parts(job.together), job.together.step_time) << job.name;
    EXPECT_EQ(parts(job.alone), job.alone.step_time) << job.name;
  }
}

TEST(PredictJobs, jobs_below_different_leaves_do_not) {
  const Spec spec =
      testing::load("two_jobs_oversubscribed", {{"jobs.gpt20b.first_chip", "128"},
                                                {"jobs.gpt20b.chips", "128"},
                                                {"jobs.gpt20b.job.mesh.data.size", "8"},
                                                {"jobs.gpt20b.job.global_batch_sequences", "128"}});
  const Prediction prediction = predict_step(spec, {});
  for (const JobReport& job : prediction.jobs->jobs) {
    EXPECT_EQ(job.together.step_time, job.alone.step_time) << job.name;
    EXPECT_EQ(job.together.exposed_communication, job.alone.exposed_communication) << job.name;
  }
}

TEST(PredictJobs, their_order_does_not_matter) {
  Spec spec = testing::load("two_jobs_oversubscribed");
  spec.adversities.add(Degradation::of_chip(3, 0.9));
  const JobsReport report = *predict_step(spec, {}).jobs;
  std::swap(spec.jobs[0], spec.jobs[1]);
  const JobsReport swapped = *predict_step(spec, {}).jobs;
  for (std::size_t j = 0; j < 2; ++j) {
    const JobReport &a = report.jobs[j], &b = swapped.jobs[1 - j];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(report_json(a.alone), report_json(b.alone));
    EXPECT_EQ(a.together.step_time, b.together.step_time);
    EXPECT_EQ(a.together.step_time_p99, b.together.step_time_p99);
    EXPECT_EQ(a.together.exposed_communication, b.together.exposed_communication);
    EXPECT_EQ(a.together.straggler_delay, b.together.straggler_delay);
    EXPECT_EQ(a.together.steps, b.together.steps);
  }
}

TEST(PredictJobs, a_slow_chip_is_an_adversity_of_its_own_job_alone) {
  Spec spec = testing::load("two_jobs_oversubscribed");
  spec.adversities.add(Degradation::of_chip(200, 0.5));
  const JobsReport report = *predict_step(spec, {}).jobs;
  EXPECT_EQ(report.jobs[0].alone.straggler_delay, Time{});
  EXPECT_TRUE(report.jobs[0].alone.fault_costs.empty());
  ASSERT_EQ(report.jobs[1].alone.fault_costs.size(), 1u);
  EXPECT_EQ(report.jobs[1].alone.fault_costs[0].what, "chip 200 at speed 0.5");
  EXPECT_GT(report.jobs[1].alone.straggler_delay, Time{});
}

TEST(PredictJobs, jitter_does_not_look_like_slowdown) {
  const std::string job =
      "job { model: \"llama3_8b\" stack: \"torchtitan\" mesh { name: \"fsdp\" size: 16 } sharding: \"fsdp\" "
      "sequence_tokens: 2048 global_batch_sequences: ";
  const std::string text =
      "cluster { chip: \"h100\" chips: 32 fabric: \"dgx_h100\" }\n"
      "adversity { jitter_coefficient_of_variation: 0.05 }\n"
      "jobs { name: \"a\" first_chip: 0 chips: 16 " +
      job +
      "16 } }\n"
      "jobs { name: \"b\" first_chip: 16 chips: 16 " +
      job + "32 } }\n";
  const LoadResult loaded = load_scenario("jitter.textproto", text, Catalog(), {});
  ASSERT_TRUE(loaded.spec.has_value());
  const JobsReport report = *predict_step(*loaded.spec, {}).jobs;
  for (const JobReport& each : report.jobs) {
    EXPECT_EQ(each.slowdown(), 1) << "they share no link";
    EXPECT_EQ(each.alone.steps, each.together.steps);
    EXPECT_EQ(each.alone.step_time_p99, each.together.step_time_p99);
  }
  for (const JobReport& each : report.jobs) EXPECT_EQ(each.together.steps, 16) << "it concerns nobody else";
}

TEST(PredictJobs, what_is_slow_for_a_time_does_not_look_like_slowdown) {
  const std::string job =
      "job { model: \"llama3_8b\" stack: \"torchtitan\" mesh { name: \"fsdp\" size: 16 } sharding: \"fsdp\" "
      "sequence_tokens: 2048 global_batch_sequences: 16 } }\n";
  const std::string text =
      "cluster { chip: \"h100\" chips: 32 fabric: \"dgx_h100\" }\n"
      "jobs { name: \"a\" first_chip: 0 chips: 16 " +
      job + "jobs { name: \"b\" first_chip: 16 chips: 16 " + job;
  for (const char* slow :
       {"slow { which { kind: \"chip\" index: 3 } speed_fraction: 0.3 when { window { from_s: 0 to_s: 0.3 } "
        "} }",
        "slow { which { kind: \"chip\" index: 3 } when { swing { amplitude: 0.5 period_s: 3 } } "
        "speed_fraction: 1 }",
        "nic_flap { which { kind: \"nic\" index: 3 } at_s: 0.05 down_s: 0.2 library_timeout_s: 10 }"}) {
    const LoadResult loaded =
        load_scenario("window.textproto", text + "adversity { " + slow + " }\n", Catalog(), {});
    ASSERT_TRUE(loaded.spec.has_value()) << format_problem(loaded.problems.at(0));
    const Prediction predicted = predict_step(*loaded.spec, {});
    for (const JobReport& each : predicted.jobs->jobs) {
      EXPECT_EQ(each.slowdown(), 1) << slow << ": they share no link";
    }
  }
}

// Job b takes longer, so that a has more steps together than alone: it has the same, with the same documents.
TEST(PredictJobs, documents_and_evaluations_are_the_same_alone_and_together) {
  const std::string job =
      "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"torchtitan\" "
      "mesh { name: \"fsdp\" size: 16 } sharding: \"fsdp\" ";
  const std::string text =
      "cluster { chip: \"h100\" chips: 32 fabric: \"dgx_h100\" }\n"
      "adversity { jitter_coefficient_of_variation: 0.1 }\n"
      "jobs { name: \"a\" first_chip: 0 chips: 16 " +
      job +
      "sequence_tokens: 16384 global_batch_sequences: 16 lengths: \"long_tail_32k\" } }\n"
      "jobs { name: \"b\" first_chip: 16 chips: 16 " +
      job +
      "sequence_tokens: 2048 global_batch_sequences: 512 "
      "evaluation { sequences: 512 every_steps: 1 } } }\n";
  const LoadResult loaded = load_scenario("documents.textproto", text, Catalog(), {});
  ASSERT_TRUE(loaded.spec.has_value()) << format_problem(loaded.problems.at(0));
  const JobsReport report = *predict_step(*loaded.spec, {}).jobs;
  for (const JobReport& each : report.jobs) {
    EXPECT_EQ(each.slowdown(), 1) << "they share no link";
    EXPECT_EQ(each.alone.compute, each.together.compute) << each.name;
    EXPECT_EQ(each.alone.evaluation, each.together.evaluation) << each.name;
    EXPECT_EQ(each.alone.straggler_delay, each.together.straggler_delay) << each.name;
  }
}

TEST(PredictJobs, stages_of_all_jobs_can_be_printed) {
  const Spec spec = testing::load("two_jobs_oversubscribed");
  for (const char* stage : {"program", "placement"}) {
    PredictOptions options;
    options.dump = stage;
    const std::string text = predict_step(spec, options).dump;
    EXPECT_NE(text.find("# two_jobs_oversubscribed/llama70b\n"), std::string::npos) << stage;
    EXPECT_NE(text.find("# two_jobs_oversubscribed/gpt20b\n"), std::string::npos) << stage;
  }
}

}  // namespace
}  // namespace podsim::jobs_test
