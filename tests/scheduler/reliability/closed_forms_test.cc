// Formulas of failures and checkpoints: published figures, hand-computed cases, where they agree.
#include "scheduler/reliability/weeks/closed_forms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace podsim::closed_forms_test {
namespace {

constexpr double kDay = 86400, kHour = 3600, kMinute = 60;
constexpr double kLlama = 54 * kDay / 419;  // seconds between the interruptions of Llama 3 405B
constexpr double kRsc1 = 6.50e-3 / kDay, kRsc2 = 2.34e-3 / kDay;  // failures per node and second

// Relative error below 1e-9.
void expect_exact(double value, double expected) { EXPECT_NEAR(value, expected, 1e-9 * std::abs(expected)); }

TEST(ClosedForms, time_between_failures_falls_with_the_number_of_nodes) {
  expect_exact(mttf_s(2048, kRsc1) / kHour, 1000.0 * 24 / (2048 * 6.5));
  EXPECT_NEAR(mttf_s(2048, kRsc1) / kHour, 1.803, 5e-4);
  EXPECT_NEAR(mttf_s(16384, kRsc1) / kHour, 0.225, 5e-4);
  EXPECT_NEAR(mttf_s(1024, kRsc2) / kHour, 10.02, 5e-3);
  EXPECT_NEAR(mttf_s(2048, kRsc2) / kHour, 5.01, 5e-3);
}

TEST(ClosedForms, the_interruptions_of_llama_3_in_all_units) {
  const double per_node_day = kDay / kLlama / 2048;
  expect_exact(mttf_s(2048, per_node_day / kDay), kLlama);
  EXPECT_NEAR(kLlama / kHour, 3.093, 5e-4);
  EXPECT_NEAR(kDay / kLlama, 7.76, 5e-3);
  EXPECT_NEAR(1000 * per_node_day, 3.789, 5e-4);
  EXPECT_NEAR(16384 * kLlama / kHour, 50'677, 0.5);
}

struct Blocking {
  double save_s, young_min;
  std::vector<double> goodput;  // in per cent, of restarts of 2, 5 and 10 minutes
};

TEST(ClosedForms, blocking_checkpoints_of_llama_3_at_youngs_interval) {
  const std::vector<Blocking> rows = {
      {10, 7.87, {94.8, 93.3, 90.8}}, {30, 13.62, {91.8, 90.4, 88.0}}, {60, 19.27, {89.0, 87.6, 85.3}}};
  for (const Blocking& row : rows) {
    const double tau = young_interval_s(row.save_s, kLlama);
    EXPECT_NEAR(tau / kMinute, row.young_min, 5e-3);
    const std::vector<double> restarts = {2 * kMinute, 5 * kMinute, 10 * kMinute};
    for (std::size_t i = 0; i < restarts.size(); ++i) {
      const double goodput = checkpointed_goodput(tau, row.save_s, restarts[i], kLlama);
      EXPECT_NEAR(100 * goodput, row.goodput[i], 0.051) << row.save_s << " " << restarts[i];
      expect_exact(goodput, tau / (kLlama * std::exp(restarts[i] / kLlama) *
                                   (std::exp((tau + row.save_s) / kLlama) - 1)));
    }
  }
  EXPECT_NEAR(best_interval_s(60, kLlama) / kMinute, 18.605, 5e-3);
}

TEST(ClosedForms, the_best_interval_beats_its_neighbours_and_solves_its_equation) {
  for (const double save_s : {0.01, 1.0, 30.0, 600.0, 20'000.0}) {
    const double best = best_interval_s(save_s, kLlama);
    expect_exact(best / kLlama, 1 - std::exp(-(best + save_s) / kLlama));
    const double goodput = checkpointed_goodput(best, save_s, 300, kLlama);
    EXPECT_GT(goodput, checkpointed_goodput(0.98 * best, save_s, 300, kLlama));
    EXPECT_GT(goodput, checkpointed_goodput(1.02 * best, save_s, 300, kLlama));
    EXPECT_GE(goodput, checkpointed_goodput(daly_interval_s(save_s, kLlama), save_s, 300, kLlama));
  }
}

TEST(ClosedForms, daly_is_close_to_the_best_where_saves_are_short_and_stops_at_the_mttf) {
  EXPECT_NEAR(daly_interval_s(30, kLlama) / best_interval_s(30, kLlama), 1, 1e-4);
  EXPECT_NEAR(young_interval_s(30, kLlama) / best_interval_s(30, kLlama), 1, 0.03);
  EXPECT_EQ(daly_interval_s(2 * kLlama, kLlama), kLlama);
}

// sqrt(2 x 8 x 400) = 80; ratio 8 / 800 = 0.01: 80 (1 + 0.1 / 3 + 0.01 / 9) - 8.
TEST(ClosedForms, daly_by_hand) { expect_exact(daly_interval_s(8, 400), 80 * (1 + 0.1 / 3 + 0.01 / 9) - 8); }

// Of e^-0.1 of them nothing fails until the checkpoint is there.
TEST(ClosedForms, a_checkpoint_that_is_written_meanwhile_is_there_with_the_probability_that_nothing_fails) {
  expect_exact(checkpointed_goodput(100, 10, 5, 500, 50) / checkpointed_goodput(100, 10, 5, 500),
               std::exp(-0.1));
}

// With none lost Daly's formula of the copies, with all that of the saves to storage, and in between what is
// between.
TEST(ClosedForms, of_copies_that_are_lost_are_those_of_the_checkpoints_that_are_left) {
  const MemoryCopies copies = {300, 7, 10, 100, 310, 400};
  const double none = goodput_with_copies(copies, kLlama, 0), all = goodput_with_copies(copies, kLlama, 1);
  expect_exact(none, checkpointed_goodput(300, 7, 310, kLlama));
  expect_exact(all, checkpointed_goodput(3000, 70, 400, kLlama, 100));
  double before = none;
  for (const double share : {1e-9, 0.1, 0.5, 0.9, 1 - 1e-9}) {
    const double some = goodput_with_copies(copies, kLlama, share);
    EXPECT_LT(some, before) << share;
    before = some;
  }
  EXPECT_NEAR(goodput_with_copies(copies, kLlama, 1e-9), none, 1e-8);
  EXPECT_NEAR(before, all, 1e-8);
}

TEST(ClosedForms, expected_ettr_at_the_best_interval_by_job_size) {
  const std::vector<double> nodes = {128, 256, 512, 1000, 2048};
  const std::vector<double> ettr_5min = {92.4, 89.3, 84.8, 78.8, 69.6}, minutes = {132, 93, 66, 47, 33};
  const std::vector<double> ettr_20s = {97.8, 96.7, 95.0, 92.5, 88.0};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double mttf = mttf_s(nodes[i], kRsc1);
    const double dt = young_interval_s(300, mttf);
    EXPECT_NEAR(dt / kMinute, minutes[i], 0.5);
    EXPECT_NEAR(100 * expected_ettr(dt, 300, 300, mttf), ettr_5min[i], 0.05);
    expect_exact(expected_ettr(dt, 300, 300, mttf), (1 - nodes[i] * kRsc1 * (300 + dt / 2)) / (1 + 300 / dt));
    EXPECT_NEAR(100 * expected_ettr(young_interval_s(20, mttf), 20, 300, mttf), ettr_20s[i], 0.05);
  }
  EXPECT_NEAR(100 * expected_ettr(kHour, 300, 300, mttf_s(2048, kRsc1)), 62.4, 0.05);
  EXPECT_EQ(expected_ettr(kHour, 300, 300, 60), 0);
}

TEST(ClosedForms, nodes_in_repair_and_spares_that_make_up_for_them) {
  EXPECT_NEAR(nodes_in_repair(2048, kRsc1, kDay), 13.3, 0.05);
  EXPECT_EQ(poisson_quantile(nodes_in_repair(2048, kRsc1, kDay), 0.99), 22);
  EXPECT_EQ(poisson_quantile(nodes_in_repair(2048, kRsc1, kDay), 0.999), 26);
  EXPECT_EQ(poisson_quantile(nodes_in_repair(512, kRsc1, 3 * kDay), 0.99), 18);
  EXPECT_EQ(poisson_quantile(nodes_in_repair(64, kRsc1, 3 * kDay), 0.99), 4);
  expect_exact(nodes_in_repair(1024, 0.0008 / kDay, kDay), 0.8192);  // of a TPU v4 pod, new ones each day
  expect_exact(nodes_in_repair(48, 0.0004 / kDay, kDay), 0.0192);
}

// P(X <= n) by its sum, which does not underflow for small means.
double poisson_cdf(double mean, std::int64_t n) {
  double term = std::exp(-mean), sum = term;
  for (std::int64_t k = 1; k <= n; ++k) sum += term *= mean / static_cast<double>(k);
  return sum;
}

TEST(ClosedForms, a_poisson_quantile_is_the_least_number_that_is_enough) {
  for (const double mean : {0.001, 0.5, 1.0, 7.25, 40.0, 300.0}) {
    for (const double probability : {0.1, 0.5, 0.9, 0.99, 0.9999}) {
      const std::int64_t n = poisson_quantile(mean, probability);
      EXPECT_GE(poisson_cdf(mean, n), probability) << mean << " " << probability;
      EXPECT_LT(n == 0 ? 0 : poisson_cdf(mean, n - 1), probability) << mean << " " << probability;
    }
  }
  EXPECT_EQ(poisson_quantile(0, 0.99), 0);
  EXPECT_NEAR(static_cast<double>(poisson_quantile(1e6, 0.99)), 1e6 + 2.3263 * 1e3, 3);
}

TEST(ClosedForms, some_of_many_hosts_is_slow) {
  for (const auto& [hosts, per_cent] : {std::pair{8.0, 3.9}, std::pair{64.0, 27.4}, std::pair{128.0, 47.4},
                                        std::pair{512.0, 92.3}, std::pair{1536.0, 99.95}})
    EXPECT_NEAR(100 * probability_of_any(hosts, 0.005), per_cent, 0.05);
}

TEST(ClosedForms, single_outages_are_poisson_whatever_their_number) {
  for (const double mean : {0.0, 0.3, 2.0, 50.0, 3000.0}) {
    const auto most = static_cast<std::int64_t>(mean + 20 * std::sqrt(mean) + 20);
    const std::vector<Outages> outages = {{1, mean / 4}, {1, mean - mean / 4}};
    const std::vector<double> p = probabilities_of_outages(outages, most);
    ASSERT_EQ(p.size(), static_cast<std::size_t>(most) + 1);
    double sum = 0, first = 0;
    for (std::size_t n = 0; n < p.size(); ++n) {
      const auto count = static_cast<double>(n);
      const double expected =
          mean > 0 ? std::exp(count * std::log(mean) - mean - std::lgamma(count + 1)) : (n == 0 ? 1.0 : 0.0);
      EXPECT_NEAR(p[n], expected, 1e-9);
      sum += p[n];
      first += count * p[n];
    }
    EXPECT_NEAR(sum, 1, 1e-9) << mean;
    EXPECT_NEAR(first, mean, 1e-6 * (mean + 1));
  }
}

TEST(ClosedForms, outages_of_several_things_take_so_many_at_once) {
  const std::vector<Outages> outages = {{2, 0.5}, {3, 0.25}};
  const std::vector<double> p = probabilities_of_outages(outages, 6);
  const double none = std::exp(-0.75);
  expect_exact(p[0], none);
  EXPECT_EQ(p[1], 0);
  expect_exact(p[2], none * 0.5);
  expect_exact(p[3], none * 0.25);
  expect_exact(p[4], none * 0.125);                     // two of two
  expect_exact(p[5], none * 0.125);                     // two and three
  expect_exact(p[6], none * (0.125 / 6 + 0.0625 / 2));  // three of two, or two of three
}

}  // namespace
}  // namespace podsim::closed_forms_test
