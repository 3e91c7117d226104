// Rules of jobs that share a fabric: closed forms of their contention, and laws on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/lone_jobs.h"
#include "scheduler/question/degradation.h"
#include "tests/scheduler/simulation/random_step.h"

namespace podsim::jobs_test {
namespace {

using testing::collective;
using testing::milliseconds;
using testing::simulate_jobs;

// Leaves of four NICs of 50 GB/s with two NICs' worth of uplinks, no NVLink. Six chips of a job make two
// rings of three, whose chips lie two apart: with the job on chips 0 to 5 the second hop leaves the first
// leaf and the third comes back, two flows of 50 GB/s on 100 GB/s of uplinks.
struct Tree {
  Spec spec = testing::plain_spec();
  Fabric fabric;
  StepProgram program;

  explicit Tree(int chips) : program(data_parallel(3)) {
    FabricSpec servers = testing::gpu_fabric(chips, 1, 4);
    servers.gpu->tiers[0].oversubscription = 2;
    fabric = build_fabric(servers);
  }
  // Computes for 10 ms and then reduces 75 MB: a ring of three carries 2 x 2/3 x 75 MB per link, 2 ms.
  static StepProgram data_parallel(int replicas) {
    const Mesh mesh{{{"data", replicas}, {"tensor", 2}}};
    StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 4, 6);
    testing::layer_of(program).backward.push_back(
        collective(CollectiveKind::kAllReduce, 1, 75e6, Purpose::kActivation));
    return program;
  }
  LaidJob job(ChipId first) const { return testing::lay(spec, program, fabric, first); }
  Timeline alone(ChipId first) const { return simulate_jobs(fabric, {job(first)}, 1).front(); }
};

Time exposed(const Timeline& timeline) {
  return timeline.chips[0].bucket[static_cast<int>(Bucket::kCommunication)];
}

TEST(Jobs, in_phase_on_a_shared_uplink_the_transfer_of_each_takes_twice_as_long) {
  const Tree tree(12);
  const Timeline alone = tree.alone(0);
  ASSERT_EQ(alone.communication[0].algorithm, "ring");
  // Chips 4 to 7 are one leaf: chips 4 and 5 of the first job, 6 and 7 of the second send through its
  // uplinks.
  const std::vector<Timeline> together = simulate_jobs(tree.fabric, {tree.job(0), tree.job(6)}, 5);
  for (const Timeline& job : together) {
    ASSERT_EQ(job.step_end.size(), 5u);
    for (int step = 0; step < 5; ++step)
      EXPECT_EQ(job.step_end[step], (step + 1) * (alone.step_end[0] + Time::seconds(2e-3)));
    EXPECT_EQ(exposed(job), 5 * (exposed(alone) + Time::seconds(2e-3)));
  }
}

TEST(Jobs, below_different_leaves_they_do_not_meet) {
  const Tree tree(16);
  const Timeline alone = tree.alone(0);
  const std::vector<Timeline> together = simulate_jobs(tree.fabric, {tree.job(0), tree.job(8)}, 3);
  for (const Timeline& job : together) {
    EXPECT_EQ(job.step_end.back(), 3 * alone.step_end[0]);
    EXPECT_EQ(exposed(job), 3 * exposed(alone));
  }
}

TEST(Jobs, out_of_phase_a_shared_uplink_is_enough_for_both) {
  const Tree tree(12);
  StepProgram early = tree.program;
  std::rotate(testing::layer_of(early).backward.begin(), testing::layer_of(early).backward.begin() + 1,
              testing::layer_of(early).backward.end());
  testing::layer_of(early)
      .forward.clear();  // reduces for 2 ms while the other computes, and computes when that reduces
  testing::layer_of(early).backward[1] = milliseconds(10);
  const std::vector<LaidJob> jobs = {tree.job(0), testing::lay(tree.spec, early, tree.fabric, 6)};
  const std::vector<Timeline> together = simulate_jobs(tree.fabric, jobs, 4);
  EXPECT_EQ(together[0].step_end.back(), 4 * tree.alone(0).step_end[0]);
  EXPECT_EQ(together[1].step_end.back(), 4 * simulate_jobs(tree.fabric, {jobs[1]}, 1).front().step_end[0]);
}

// Computes for so long and then reduces 7.5 MB on an uplink of another job's, in 0.2 ms if alone.
StepProgram computing_for(const Tree& tree, double ms) {
  StepProgram program = tree.program;
  testing::layer_of(program).forward = {milliseconds(ms)};
  testing::layer_of(program).backward = {
      collective(CollectiveKind::kAllReduce, 1, 7.5e6, Purpose::kActivation)};
  return program;
}

TEST(Jobs, all_steps_count_that_end_while_the_slowest_job_does_its_own) {
  const Tree tree(12);
  const std::vector<Timeline> jobs =
      simulate_jobs(tree.fabric,
                    {testing::lay(tree.spec, computing_for(tree, 10), tree.fabric, 6),
                     testing::lay(tree.spec, computing_for(tree, 34), tree.fabric, 0)},
                    2);
  ASSERT_EQ(jobs[1].step_end.size(), 2u);
  ASSERT_EQ(jobs[0].step_end.size(), 6u) << "10.2 ms each, of 68.4";
  EXPECT_LE(jobs[0].step_end.back(), jobs[1].step_end.back());
}

TEST(Jobs, that_meet_nobody_end_after_their_own_steps) {
  const Tree tree(12);
  StepProgram slow = tree.program, quick = tree.program;
  testing::layer_of(slow).forward = {milliseconds(35)};
  testing::layer_of(quick).forward = {milliseconds(10)};
  testing::layer_of(slow).backward = testing::layer_of(quick).backward = {};
  const std::vector<Timeline> jobs = simulate_jobs(
      tree.fabric,
      {testing::lay(tree.spec, quick, tree.fabric, 6), testing::lay(tree.spec, slow, tree.fabric, 0)}, 2);
  EXPECT_EQ(jobs[1].step_end, (std::vector<Time>{Time::seconds(35e-3), Time::seconds(70e-3)}));
  EXPECT_EQ(jobs[0].step_end, (std::vector<Time>{Time::seconds(10e-3), Time::seconds(20e-3)}));
}

TEST(Jobs, a_step_cut_short_at_the_end_does_not_count) {
  const Tree tree(12);
  const LaidJob quick = testing::lay(tree.spec, computing_for(tree, 5), tree.fabric, 6);
  const std::vector<Timeline> jobs = simulate_jobs(tree.fabric, {tree.job(0), quick}, 1, false);
  ASSERT_GT(jobs[0].step_end.back(), Time::seconds(12e-3));
  ASSERT_LT(jobs[0].step_end.back(), Time::seconds(15e-3));
  ASSERT_EQ(jobs[1].step_end.size(), 2u);
  EXPECT_GT(jobs[1].step_end.front(), Time::seconds(5e-3));
  const auto buckets = testing::chip_time(jobs[1]);
  EXPECT_EQ(std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0}), 6 * jobs[1].step_end.back().ps);
}

struct RandomJobs {
  Fabric fabric;
  std::vector<LaidJob> jobs;
  Adversities adversities;
};

// Two or three jobs with idle chips between them: NVLink domains below a fat-tree, or slices on a DCN.
RandomJobs random_jobs(int round) {
  testing::Draw draw(round);
  const int unit = 1 << draw.below(3);  // chips of a domain, or half of a slice
  const bool slices = draw.below(3) == 0;
  std::vector<testing::RandomJob> drawn;
  std::vector<ChipId> first;
  int chips = 0;
  for (int j = 2 + draw.below(2); j > 0; --j) {
    chips += 2 * unit * draw.below(2);
    first.push_back(chips);
    drawn.push_back(testing::random_job(draw, 1 << draw.below(2), 2 * (1 + draw.below(2)), unit));
    chips += drawn.back().program.mesh.devices();
  }
  FabricSpec spec;
  if (slices) {
    spec = testing::ring_fabric(chips);
    spec.slices = chips / (2 * unit);
    spec.torus->dimensions = 2;
    spec.torus->shape = {unit, 2, 1};
    spec.chips_per_host = 2;
    spec.dcn = {{10e9}, 1, Time::seconds(5e-6)};
    spec.dcn_oversubscription = 1 + draw.below(3);
  } else {
    const bool rails = draw.below(4) == 0;
    const int domains = 3 + 2 * draw.below(2);  // below a leaf: an odd number, so that jobs share leaves
    spec = testing::gpu_fabric(chips, unit, (rails ? 1 : unit) * domains);
    spec.gpu->rail_optimised = rails;
    spec.gpu->tiers[0].oversubscription = 1 + draw.below(4);
  }
  RandomJobs result;
  result.fabric = build_fabric(spec);
  result.adversities = testing::random_adversities(draw, spec);
  for (std::size_t j = 0; j < drawn.size(); ++j)
    result.jobs.push_back(testing::lay(drawn[j].spec, drawn[j].program, result.fabric, first[j]));
  return result;
}

void expect_same(const Timeline& a, const Timeline& b, int round) {
  ASSERT_EQ(a.step_end, b.step_end) << "round " << round;
  ASSERT_EQ(testing::chip_time(a), testing::chip_time(b)) << "round " << round;
  auto a_bytes = testing::bytes_by_kind(a), b_bytes = testing::bytes_by_kind(b);
  for (auto [kind, bytes] : a_bytes)
    ASSERT_NEAR(bytes, b_bytes[kind], 1e-9 * bytes + 1e-6) << "round " << round;
}

constexpr int kRounds = 100;

TEST(JobsLaw, folded_equals_unfolded_to_the_picosecond) {
  int smaller = 0;
  for (int round = 0; round < kRounds; ++round) {
    const RandomJobs random = random_jobs(round);
    const auto folded = simulate_jobs(random.fabric, random.jobs, 2, true, random.adversities);
    const auto whole = simulate_jobs(random.fabric, random.jobs, 2, false, random.adversities);
    for (std::size_t j = 0; j < random.jobs.size(); ++j) {
      ASSERT_NO_FATAL_FAILURE(expect_same(folded[j], whole[j], round));
      smaller += folded[j].chips.size() < whole[j].chips.size();
    }
  }
  EXPECT_GT(smaller, kRounds) << "folding that never folds proves nothing";
}

TEST(JobsLaw, the_order_of_the_jobs_does_not_matter) {
  for (int round = 0; round < kRounds; ++round) {
    RandomJobs random = random_jobs(round);
    const auto forwards = simulate_jobs(random.fabric, random.jobs, 2, true, random.adversities);
    std::reverse(random.jobs.begin(), random.jobs.end());
    const auto backwards = simulate_jobs(random.fabric, random.jobs, 2, true, random.adversities);
    for (std::size_t j = 0; j < forwards.size(); ++j)
      ASSERT_NO_FATAL_FAILURE(expect_same(forwards[j], backwards[forwards.size() - 1 - j], round));
  }
}

TEST(JobsLaw, every_picosecond_of_every_chip_is_in_a_bucket_of_its_job) {
  int slowed = 0;
  for (int round = 0; round < kRounds; ++round) {
    const RandomJobs random = random_jobs(round);
    const auto together = simulate_jobs(random.fabric, random.jobs, 3, true, random.adversities);
    for (std::size_t j = 0; j < random.jobs.size(); ++j) {
      ASSERT_GE(together[j].step_end.size(), 3u);
      std::int64_t chips = 0;
      for (const ChipTotals& chip : together[j].chips) {
        Time total;
        for (const Time bucket : chip.bucket) total += bucket;
        ASSERT_EQ(total, together[j].step_end.back()) << "round " << round;
        chips += chip.chips;
      }
      ASSERT_EQ(chips, random.jobs[j].program.mesh.devices());
      const Timeline alone =
          simulate_jobs(random.fabric, {random.jobs[j]}, 1, true, random.adversities).front();
      const auto steps = static_cast<std::int64_t>(together[j].step_end.size());
      slowed += together[j].step_end.back() > steps * alone.step_end[0];
    }
  }
  EXPECT_GT(slowed, kRounds / 10) << "jobs that never meet prove nothing";
}

TEST(JobsLaw, the_definition_and_the_loops_make_the_same_steps) {
  for (int round = 0; round < kRounds; ++round) {
    const RandomJobs random = random_jobs(round);
    const Fabric slowed = with_slow_links(random.fabric, slow_links(random.adversities.degradations));
    const System system = assemble(slowed, random.jobs, random.adversities, true);
    SimulateOptions options;
    options.steps = 3;
    options.draw(random.adversities);
    options.loop = Loop::kReference;
    const std::vector<Timeline> defined = simulate(system, options);
    for (const Loop loop : {Loop::kOrdered, Loop::kFast}) {
      options.loop = loop;
      const std::vector<Timeline> made = simulate(system, options);
      for (std::size_t j = 0; j < random.jobs.size(); ++j)
        ASSERT_NO_FATAL_FAILURE(expect_same(defined[j], made[j], round));
    }
  }
}

TEST(JobsLaw, who_meets_nobody_makes_the_steps_that_it_makes_alone) {
  int lone = 0, all = 0;
  for (int round = 0; round < kRounds; ++round) {
    const RandomJobs random = random_jobs(round);
    const Fabric slowed = with_slow_links(random.fabric, slow_links(random.adversities.degradations));
    const std::vector<bool> meets_nobody = lone_jobs(assemble(slowed, random.jobs, random.adversities, true));
    ASSERT_EQ(meets_nobody, lone_jobs(assemble(slowed, random.jobs, random.adversities, false)));
    const auto together = simulate_jobs(random.fabric, random.jobs, 3, true, random.adversities);
    for (std::size_t j = 0; j < random.jobs.size(); ++j) {
      ++all;
      if (!meets_nobody[j]) continue;
      ++lone;
      const auto alone = simulate_jobs(random.fabric, {random.jobs[j]}, 3, true, random.adversities);
      ASSERT_EQ(together[j].step_end, alone.front().step_end) << "round " << round;
      ASSERT_EQ(testing::chip_time(together[j]), testing::chip_time(alone.front())) << "round " << round;
    }
  }
  EXPECT_GT(lone, all / 10);
  EXPECT_LT(lone, all - all / 10);
}

}  // namespace
}  // namespace podsim::jobs_test
