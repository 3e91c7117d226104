// Jobs that share a cluster: what loads, and where each mistake is shown.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::jobs_test {
namespace {

// A jobs block of one line; its mesh fills `chips` by fsdp and tensor 4.
std::string job(const std::string& name, int first_chip, int chips, const std::string& size = "") {
  const std::string fsdp = size.empty() ? std::to_string(chips / 4) : size;
  return "jobs { name: \"" + name + "\" first_chip: " + std::to_string(first_chip) +
         " chips: " + std::to_string(chips) +
         " job { model: \"llama3_70b\" stack: \"megatron_bridge_2025\" mesh { name: \"fsdp\" size: " + fsdp +
         " } mesh { name: \"tensor\" size: 4 } sharding: \"fsdp\" sharding: \"megatron_sp\""
         " global_batch_sequences: 512 sequence_tokens: 8192 } }\n";
}

std::string on_h100(const std::string& jobs) {
  return "cluster { chip: \"h100\" chips: 512 fabric: \"dgx_h100\" }\n" + jobs;
}

std::string on_v5p(const std::string& jobs) {
  std::string text =
      "cluster { chip: \"tpu_v5p\" slice_shape: [4, 4, 4] slices: 4 fabric: \"v5p_pod\" }\n" + jobs;
  for (std::size_t at; (at = text.find("megatron_bridge_2025")) != std::string::npos;)
    text.replace(at, std::string("megatron_bridge_2025").size(), "maxtext_2025");
  return text;
}

TEST(ResolveJobs, each_has_its_place_and_its_mesh) {
  const auto result = load(on_h100(job("a", 0, 128) + job("b", 256, 64)));
  ASSERT_EQ(problems_of(result), Lines{});
  ASSERT_EQ(result.spec->jobs.size(), 2u);
  EXPECT_EQ(result.spec->jobs[0].name, "a");
  EXPECT_EQ(result.spec->jobs[1].first_chip, 256);
  EXPECT_EQ(result.spec->jobs[1].chips, 64);
  EXPECT_EQ(result.spec->jobs[1].job.mesh.devices(), 64);
}

TEST(ResolveJobs, a_scenario_has_job_or_jobs) {
  EXPECT_EQ(
      problems_of("cluster { chip: \"h100\" chips: 512 fabric: \"dgx_h100\" }\n"),
      Lines{"1:1 job is missing | write, for example, job { model: \"llama3_70b\" ... }, or jobs { name: "
            "\"a\" ... } for several that share the cluster"});
  EXPECT_EQ(problems_of(valid_scenario() + job("a", 0, 128)),
            Lines{"17:1 the scenario has both job and jobs | write job for one on the whole cluster, or jobs "
                  "for several that share it"});
}

TEST(ResolveJobs, no_two_have_a_chip_in_common) {
  EXPECT_EQ(problems_of(on_h100(job("a", 256, 128) + job("b", 0, 512) + job("c", 384, 64))),
            (Lines{"2:18 jobs \"b\" and \"a\" both have chip 256 | \"b\" has chips 0 to 511",
                   "4:18 jobs \"b\" and \"c\" both have chip 384 | \"b\" has chips 0 to 511"}));
}

TEST(ResolveJobs, no_two_have_the_same_name) {
  EXPECT_EQ(problems_of(on_h100(job("a", 0, 128) + job("a", 128, 128))),
            Lines{"3:8 there are two jobs of the name \"a\""});
  EXPECT_EQ(problems_of(on_h100(job("", 0, 128))), Lines{"2:8 jobs[0].name must not be empty"});
}

TEST(ResolveJobs, chips_are_those_of_the_cluster) {
  EXPECT_EQ(problems_of(on_h100(job("a", 448, 128))),
            Lines{"2:34 chips 448 to 575 are not all there: the cluster has 512"});
  EXPECT_EQ(problems_of(on_h100(job("a", 512, 128))),
            Lines{"2:18 chips 512 to 639 are not all there: the cluster has 512"});
}

TEST(ResolveJobs, borders_are_those_of_domains_and_slices) {
  EXPECT_EQ(problems_of(on_h100(job("a", 4, 8))),
            Lines{"2:32 a job begins and ends at borders of NVLink domains of 8 GPUs, or lies inside one; "
                  "chips 4 to 11 do not"});
  EXPECT_EQ(problems_of(on_h100(job("a", 4, 4))), Lines{});
  EXPECT_EQ(problems_of(on_v5p(job("a", 64, 128))), Lines{});
  EXPECT_EQ(problems_of(on_v5p(job("a", 64, 32))),
            Lines{"2:33 a job has whole slices of 64 chips, not chips 64 to 95"});
}

TEST(ResolveJobs, the_mesh_fills_the_chips_of_its_job) {
  EXPECT_EQ(
      problems_of(on_h100(job("a", 0, 128, "16"))),
      Lines{"2:99 the mesh fsdp 16 x tensor 4 has 64 devices, but the job has 128 chips | fsdp 32 would "
            "make it 128"});
}

TEST(ResolveJobs, everything_a_job_needs_is_asked_for) {
  EXPECT_EQ(problems_of(on_h100("jobs { }\n")),
            (Lines{"2:1 jobs[0].name is missing | write, for example, name: \"a\"",
                   "2:1 jobs[0].first_chip is missing | write, for example, first_chip: 0",
                   "2:1 jobs[0].chips is missing | write, for example, chips: 256",
                   "2:1 jobs[0].job is missing | write, for example, job { model: \"llama3_70b\" ... }"}));
}

TEST(ResolveJobs, command_line_overrides_name_the_job) {
  const auto result = load(on_h100(job("a", 0, 128) + job("b", 256, 64)),
                           {{"jobs.b.first_chip", "128"}, {"jobs.b.job.global_batch_sequences", "64"}});
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->jobs[1].first_chip, 128);
  EXPECT_EQ(result.spec->jobs[1].job.global_batch, 64);
}

TEST(ResolveJobs, more_than_a_thousand_are_refused) {
  std::string jobs;
  for (int i = 0; i <= 1000; ++i) jobs += job(std::to_string(i), 0, 4);
  EXPECT_EQ(problems_of(on_h100(jobs)), Lines{"1002:1 a cluster has at most 1000 jobs, not 1001"});
}

}  // namespace
}  // namespace podsim::jobs_test
