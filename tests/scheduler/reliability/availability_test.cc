// How much of a pod can be used: closed forms against hand computation, laws, and draws against closed forms.
#include "scheduler/reliability/availability/availability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/random.h"
#include "tests/rounds.h"

namespace podsim::availability_test {
namespace {

// 64 cubes of 16 hosts.
FabricSpec v4(int chips = 4096) {
  FabricSpec fabric;
  fabric.name = "v4_pod";
  fabric.chips = chips;
  fabric.torus = TorusSpec{};
  fabric.torus->cube = 4;
  fabric.chips_per_host = 4;
  return fabric;
}

FabricSpec gpus(int chips, int per_domain, int per_host) {
  FabricSpec fabric;
  fabric.name = "gpus";
  fabric.chips = chips;
  fabric.gpu = GpuClusterSpec{};
  fabric.gpu->gpus_per_domain = per_domain;
  fabric.chips_per_host = per_host;
  return fabric;
}

AvailabilityQuestion question(const FabricSpec& fabric, int slice_chips, double host, SlicePolicy policy) {
  AvailabilityQuestion asked;
  asked.pod = pod_parts(fabric);
  asked.slice_chips = {slice_chips};
  asked.host_availability = {host};
  asked.policies = {policy};
  return asked;
}

SliceAvailability one(const AvailabilityQuestion& asked) { return answer(asked).front(); }

double goodput(int slice_chips, double host, SlicePolicy policy) {
  return one(question(v4(), slice_chips, host, policy)).goodput();
}

// Of the number of slices.
double variance(const AvailabilityQuestion& asked, const SliceAvailability& row) {
  PartAvailability of = asked.parts;
  of.host = row.host_availability;
  const std::vector<double> slices = slices_there(row.pool, of);
  double squares = 0;
  for (std::size_t n = 0; n < slices.size(); ++n)
    squares += slices[n] * std::pow(static_cast<double>(n) - row.slices, 2);
  return squares;
}

// P(exactly k of n), term by term in long double.
long double term(int n, int k, long double p) {
  long double product = 1;
  for (int i = 0; i < k; ++i) product *= p * (n - i) / (k - i);
  for (int i = 0; i < n - k; ++i) product *= 1 - p;
  return product;
}

TEST(Binomial, terms_are_exact) {
  for (const auto& [n, p] : {std::pair{4, 0.5}, {64, 0.8515}, {144, 0.9347}, {1024, 0.999}, {300, 1e-3}}) {
    const std::vector<double> terms = binomial(n, p);
    ASSERT_EQ(terms.size(), static_cast<std::size_t>(n) + 1);
    for (int k = 0; k <= n; ++k) {
      const auto exact = static_cast<double>(term(n, k, p));
      if (exact < 1e-250) continue;
      EXPECT_NEAR(terms[k] / exact, 1, 1e-11) << n << " " << k;
    }
  }
}

TEST(Binomial, is_certain_at_0_and_1) {
  EXPECT_EQ(binomial(3, 1), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(binomial(3, 0), (std::vector<double>{1, 0, 0, 0}));
}

TEST(Binomial, of_a_million_neither_overflows_nor_loses_its_mean) {
  const std::vector<double> terms = binomial(1'000'000, 0.99);
  double mean = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) mean += static_cast<double>(k) * terms[k];
  EXPECT_NEAR(mean / 990'000, 1, 1e-9);
}

TEST(PodParts, of_a_v4_pod_are_those_of_its_wiring) {
  const PodParts pod = pod_parts(v4());
  EXPECT_EQ(pod.blocks, 64);
  EXPECT_EQ(pod.hosts_per_block, 16);
  EXPECT_EQ(pod.hosts(), 1024);
  EXPECT_EQ(pod.copper_cables(), 144);
  EXPECT_EQ(pod.optical_links(), 96);
  EXPECT_EQ(pod.optical_switches(), 48);
}

TEST(PodParts, of_a_pod_of_two_dimensions_are_squares) {
  FabricSpec flat = v4(64);
  flat.torus->dimensions = 2;
  const PodParts pod = pod_parts(flat);
  EXPECT_EQ(pod.blocks, 4);
  EXPECT_EQ(pod.chips_per_block(), 16);
  EXPECT_EQ(pod.copper_cables(), 24) << "four rows and four columns of three";
  EXPECT_EQ(pod.optical_links(), 16);
  EXPECT_EQ(pod.optical_switches(), 8);
  EXPECT_EQ(one(question(flat, 8, 1, SlicePolicy::kAnyCubes)).slices, 8);
  EXPECT_NE(explain_impossible(pod, 32 + 8, SlicePolicy::kAnyCubes), "");
  EXPECT_EQ(one(question(flat, 8, 1, SlicePolicy::kAnyCubes)).pool.grain.cables, 10) << "2 x 4 of a square";
}

TEST(PodParts, of_racks_are_their_hosts_and_of_small_domains_the_hosts_around_them) {
  EXPECT_EQ(pod_parts(gpus(144, 72, 4)).hosts_per_block, 18);
  EXPECT_EQ(pod_parts(gpus(144, 72, 4)).block, "NVLink domain");
  EXPECT_EQ(pod_parts(gpus(64, 1, 8)).blocks, 8);
  EXPECT_EQ(pod_parts(gpus(64, 1, 8)).block, "host");
}

TEST(PodParts, are_whole) {
  EXPECT_EQ(explain_uneven(v4(4096)), "");
  EXPECT_EQ(explain_uneven(v4(100)), "100 chips are not a whole number of cubes of 64 chips");
}

// floor(K / s) s / 64 over K up of 64 cubes with 16 hosts each.
TEST(Slices, of_any_cubes_are_counted_by_whole_slices_of_healthy_cubes) {
  for (const double host : {0.99, 0.995, 0.999}) {
    for (const int cubes : {1, 2, 4, 16, 32, 48, 64}) {
      const long double p = powl(host, 16);
      long double mean = 0;
      for (int k = 0; k <= 64; ++k) mean += term(64, k, p) * (k / cubes) * cubes / 64;
      EXPECT_NEAR(goodput(64 * cubes, host, SlicePolicy::kAnyCubes) / static_cast<double>(mean), 1, 1e-9);
    }
  }
}

TEST(Slices, of_static_partitions_need_all_their_hosts) {
  for (const double host : {0.99, 0.995, 0.999})
    for (const int cubes : {1, 2, 4, 16, 32, 48, 64})
      EXPECT_NEAR(goodput(64 * cubes, host, SlicePolicy::kStaticPartitions) /
                      (64 / cubes * cubes / 64.0 * std::pow(host, 16 * cubes)),
                  1, 1e-9);
}

TEST(Slices, of_half_a_pod_use_less_of_it_than_those_of_three_quarters) {
  EXPECT_LT(goodput(2048, 0.99, SlicePolicy::kAnyCubes), goodput(3072, 0.99, SlicePolicy::kAnyCubes));
}

TEST(Slices, of_130_of_144_cubes_are_there_with_95_percent_at_a_cube_availability_of_93_47_percent) {
  AvailabilityQuestion asked = question(v4(9216), 64, 1, SlicePolicy::kAnyCubes);
  asked.parts.block = 0.9347;
  asked.at_least_slices = {130, 145};
  const SliceAvailability row = one(asked);
  EXPECT_NEAR(row.at_least[0], 0.95, 1e-4);
  EXPECT_EQ(row.at_least[1], 0);
  EXPECT_EQ(row.slices_p5, 130);
}

TEST(Slices, of_any_nodes_leave_out_the_rest) {
  // Of 3 nodes at 0.5: P(2 or 3 up) = 0.5, one slice of 2 nodes each time.
  const SliceAvailability row = one(question(gpus(24, 8, 8), 16, 0.5, SlicePolicy::kAnyNodes));
  EXPECT_NEAR(row.slices, 0.5, 1e-15);
  EXPECT_NEAR(row.goodput(), 0.5 * 16 / 24, 1e-15);
  EXPECT_NEAR(row.any_slice, 0.5, 1e-15);
}

TEST(Slices, smaller_than_a_cube_are_the_pieces_of_cubes_that_are_there) {
  AvailabilityQuestion asked = question(v4(), 8, 0.9, SlicePolicy::kAnyCubes);
  asked.parts.block = 0.8;
  asked.parts.cable = 0.99;
  const SliceAvailability row = one(asked);
  EXPECT_EQ(row.pool.most_slices(), 512);
  EXPECT_EQ(row.pool.grain.cables, 12);  // of a box of 2 x 2 x 2
  EXPECT_NEAR(row.goodput(), 0.8 * 0.9 * 0.9 * std::pow(0.99, 12), 1e-12);
  // Cubes fail as a whole, so that the number varies more than that of independent slices.
  const double p = 0.9 * 0.9 * std::pow(0.99, 12);
  EXPECT_NEAR(variance(asked, row), 64 * (0.8 * 8 * p * (1 - p) + 0.8 * 0.2 * 64 * p * p), 1e-6);
}

TEST(Slices, stop_with_optical_parts_only_where_traffic_is_not_routed_around_them) {
  AvailabilityQuestion asked = question(v4(), 256, 1, SlicePolicy::kAnyCubes);
  asked.parts.ocs = 0.999;
  asked.parts.optical_link = 0.9999;
  EXPECT_EQ(one(asked).goodput(), 1);
  EXPECT_NEAR(one(asked).optical_bandwidth, 0.999 * 0.9999, 1e-15);
  asked.parts.optical_stops = true;
  asked.slice_chips = {4096};
  EXPECT_NEAR(one(asked).goodput(), std::pow(0.999, 48) * std::pow(0.9999, 96 * 64), 1e-12);
  EXPECT_EQ(one(asked).optical_bandwidth, 1);
}

TEST(Slices, are_refused_where_the_policy_cannot_make_them) {
  const PodParts pod = pod_parts(v4());
  EXPECT_EQ(explain_impossible(pod, 256, SlicePolicy::kAnyCubes), "");
  EXPECT_EQ(explain_impossible(pod, 8, SlicePolicy::kAnyCubes), "");
  EXPECT_EQ(explain_impossible(pod, 8192, SlicePolicy::kAnyCubes), "there are only 4096 chips");
  EXPECT_EQ(explain_impossible(pod, 6, SlicePolicy::kAnyCubes), "a slice is made of whole hosts of 4 chips");
  EXPECT_EQ(explain_impossible(pod, 96, SlicePolicy::kAnyCubes),
            "a slice is made of whole cubes of 64 chips, or is a piece that tiles one");
  EXPECT_NE(explain_impossible(pod, 256, SlicePolicy::kAnyNodes), "");
  EXPECT_NE(explain_impossible(pod_parts(gpus(64, 8, 8)), 8, SlicePolicy::kAnyCubes), "");
}

// Random questions about pods of all three kinds.
AvailabilityQuestion random_question(std::uint64_t round) {
  std::uint64_t index = 0;
  const auto below = [&](int n) {
    return static_cast<int>(random_bits(7, RandomPurpose::kTest, round, index++) % static_cast<unsigned>(n));
  };
  const double host = 0.9 + 0.099 * random_uniform(7, RandomPurpose::kTest, round, index++);
  AvailabilityQuestion asked;
  if (below(2) == 0) {
    asked = question(v4(64 * (1 + below(80))), 0, host, SlicePolicy::kAnyCubes);
    asked.parts.cable = 0.9995;
    asked.parts.optical_link = 0.9998;
    asked.parts.ocs = 0.998;
    asked.parts.optical_stops = below(2) == 0;
    asked.slice_chips = {below(3) == 0 ? 4 << below(4) : 64 * (1 + below(asked.pod.blocks))};
  } else {
    asked = question(gpus(8 * (1 + below(60)), 8, 4), 0, host, SlicePolicy::kAnyNodes);
    asked.slice_chips = {4 * (1 + below(asked.pod.hosts()))};
  }
  asked.parts.block = below(2) == 0 ? 1 : 0.97;
  asked.at_least_slices = {1 + below(4)};
  return asked;
}

TEST(Slices, are_never_more_than_the_parts_that_are_up_allow) {
  for (int round = 0; round < testing::rounds(200); ++round) {
    AvailabilityQuestion asked = random_question(static_cast<std::uint64_t>(round));
    const SliceAvailability row = one(asked);
    const PartAvailability& of = asked.parts;
    EXPECT_LE(row.goodput(), asked.host_availability[0] * of.block + 1e-12);
    EXPECT_LE(row.slices_p5, row.slices_p50);
    EXPECT_LE(row.slices_p50, row.slices_p95);
    EXPECT_LE(row.slices_p95, row.pool.most_slices());
    PartAvailability whole = of;
    whole.host = asked.host_availability[0];
    const std::vector<double> slices = slices_there(row.pool, whole);
    EXPECT_NEAR(std::accumulate(slices.begin(), slices.end(), 0.0), 1, 1e-12);
  }
}

TEST(Slices, of_any_cubes_or_nodes_are_at_least_those_of_static_partitions) {
  for (int round = 0; round < testing::rounds(200); ++round) {
    AvailabilityQuestion asked = random_question(static_cast<std::uint64_t>(round));
    asked.parts.optical_stops = false;  // static partitions do not pass switches
    const double free = one(asked).goodput();
    asked.policies = {SlicePolicy::kStaticPartitions};
    if (!explain_impossible(asked.pod, asked.slice_chips[0], asked.policies[0]).empty()) continue;
    EXPECT_GE(free, one(asked).goodput() - 1e-12);
  }
}

void expect_within(double measured, double expected, double standard_error, const std::string& what) {
  EXPECT_LE(std::abs(measured - expected), 3 * standard_error + 1e-9)
      << what << ": " << measured << " for " << expected;
}

TEST(SimulatedSlices, agree_with_the_closed_form_within_3_standard_errors) {
  for (int round = 0; round < testing::rounds(40); ++round) {
    AvailabilityQuestion asked = random_question(static_cast<std::uint64_t>(round));
    const SliceAvailability exact = one(asked);
    asked.simulate = true;
    asked.draws = 4000;
    const SliceAvailability drawn = one(asked);
    const double p = exact.at_least[0];
    expect_within(drawn.slices, exact.slices, std::sqrt(variance(asked, exact) / 4000), "slices");
    expect_within(drawn.at_least[0], p, std::sqrt(p * (1 - p) / 4000), "at least");
  }
}

TEST(SimulatedSlices, are_the_same_for_the_same_seed_only) {
  AvailabilityQuestion asked = question(v4(), 1024, 0.99, SlicePolicy::kAnyCubes);
  asked.simulate = true;
  asked.draws = 1000;
  const double first = one(asked).slices;
  EXPECT_EQ(one(asked).slices, first);
  asked.seed = 2;
  EXPECT_NE(one(asked).slices, first);
}

// One host is the pod: it fails every 24 h x 0.96 / 0.04 = 576 h.
TEST(Job, on_the_only_host_waits_for_its_repair) {
  AvailabilityQuestion asked = question(gpus(8, 8, 8), 8, 0.96, SlicePolicy::kAnyNodes);
  asked.job = QueuedJob{100, 24, 0, 2, 0};
  const JobOutlook job = *one(asked).job;
  EXPECT_NEAR(job.starts_at_once, 0.96, 1e-12);
  EXPECT_NEAR(job.wait_h, 0.04 * 24, 1e-12);
  EXPECT_NEAR(job.without_restart, std::exp(-100.0 / 576), 1e-12);
  const double restarts = std::exp(100.0 / 576) - 1;
  EXPECT_NEAR(job.restarts, restarts, 1e-12);
  EXPECT_NEAR(job.finish_h, 0.04 * 24 + restarts * (576 + 24 + 2), 1e-9);
}

// Both of two hosts: from none up 1 / 2m to one, from one (1 + f / 2m) / m to both.
TEST(Job, on_both_of_two_hosts_waits_for_the_slower_repair) {
  AvailabilityQuestion asked = question(gpus(16, 8, 8), 16, 0.8, SlicePolicy::kAnyNodes);
  asked.job = QueuedJob{10, 5, 0, 0, 0};
  const double mended = 1.0 / 5, fails = mended * 0.25;
  const double to_one = 1 / (2 * mended), to_both = (1 + fails * to_one) / mended;
  const JobOutlook job = *one(asked).job;
  EXPECT_NEAR(job.starts_at_once, 0.64, 1e-12);
  EXPECT_NEAR(job.wait_h, 0.04 * (to_one + to_both) + 0.32 * to_both, 1e-9);
}

TEST(Job, loses_only_the_work_since_its_last_checkpoint) {
  AvailabilityQuestion asked = question(v4(), 256, 0.99, SlicePolicy::kAnyCubes);
  asked.job = QueuedJob{168, 24, 0, 0.25, 50};
  const double fails = 64.0 * 0.01 / (0.99 * 24);
  const JobOutlook job = *one(asked).job;
  EXPECT_NEAR(job.restarts, 3 * std::expm1(50 * fails) + std::expm1(18 * fails), 1e-9);
  EXPECT_NEAR(job.without_restart, std::exp(-168 * fails), 1e-12);
}

TEST(Job, on_what_never_fails_takes_its_length) {
  AvailabilityQuestion asked = question(v4(), 256, 1, SlicePolicy::kAnyCubes);
  asked.job = QueuedJob{168, 24, 3, 1, 0};
  const JobOutlook job = *one(asked).job;
  EXPECT_EQ(job.finish_h, 168);
  EXPECT_EQ(job.without_restart, 1);
}

TEST(Job, has_no_outlook_where_others_hold_all_slices) {
  AvailabilityQuestion asked = question(v4(), 1024, 0.99, SlicePolicy::kAnyCubes);
  asked.job = QueuedJob{168, 24, 4, 1, 0};
  EXPECT_FALSE(one(asked).job.has_value());
}

TEST(SimulatedJob, agrees_with_the_closed_form_within_3_standard_errors) {
  for (const auto& [chips, in_use] : {std::pair{256, 11}, {1024, 1}, {2048, 0}}) {
    AvailabilityQuestion asked = question(v4(), chips, 0.995, SlicePolicy::kAnyCubes);
    asked.job = QueuedJob{168, 24, in_use, 0.25, 4};
    const JobOutlook exact = *one(asked).job;
    asked.simulate = true;
    asked.draws = 4000;
    const SliceAvailability drawn = one(asked);
    const JobOutlook &mean = *drawn.job, &error = *drawn.job_error;
    const auto spread = [](double p) { return std::sqrt(p * (1 - p) / 4000); };
    expect_within(mean.starts_at_once, exact.starts_at_once, spread(exact.starts_at_once), "starts at once");
    expect_within(mean.without_restart, exact.without_restart, spread(exact.without_restart), "no restart");
    expect_within(mean.wait_h, exact.wait_h, std::max(error.wait_h, 1e-3), "wait");
    expect_within(mean.restarts, exact.restarts, error.restarts, "restarts");
    expect_within(mean.finish_h, exact.finish_h, error.finish_h, "finish");
  }
}

TEST(SimulatedJob, waits_for_static_partitions_as_the_closed_form_says) {
  AvailabilityQuestion asked = question(v4(), 1024, 0.999, SlicePolicy::kStaticPartitions);
  asked.job = QueuedJob{24, 24, 2, 0, 1};
  const JobOutlook exact = *one(asked).job;
  asked.simulate = true;
  asked.draws = 20'000;
  const SliceAvailability drawn = one(asked);
  expect_within(drawn.job->wait_h, exact.wait_h, drawn.job_error->wait_h, "wait");
  expect_within(drawn.job->starts_at_once, exact.starts_at_once, drawn.job_error->starts_at_once, "starts");
}

}  // namespace
}  // namespace podsim::availability_test
