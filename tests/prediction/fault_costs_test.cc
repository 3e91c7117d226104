// What adversities cost, one by one: which are told as one, and what is left out for each.
#include "prediction/fault_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "prediction/predict.h"
#include "report/answer/report.h"
#include "tests/prediction/scenario.h"

namespace podsim::fault_costs_test {
namespace {

constexpr int kChipsOfHost = 8;  // of dgx_h100

Spec spec_with(const std::vector<Degradation>& slow) {
  Spec spec = testing::load("llama3_70b_512_h100");
  for (const Degradation& each : slow) spec.adversities.add(each);
  return spec;
}

Time step_of(const Spec& spec) { return predict_step(spec, {}).report.step_time; }

// One chip on each of so many hosts, every one slower than the one before.
std::vector<Degradation> slower_and_slower(int hosts) {
  std::vector<Degradation> slow;
  slow.reserve(static_cast<std::size_t>(hosts));
  for (int h = 0; h < hosts; ++h) slow.push_back(Degradation::of_chip(h * kChipsOfHost, 0.9 - 0.03 * h));
  return slow;
}

int adversities_of(const std::vector<FaultCost>& costs) {
  return std::accumulate(costs.begin(), costs.end(), 0,
                         [](int sum, const FaultCost& each) { return sum + each.adversities; });
}

TEST(FaultCosts, slow_chips_of_one_host_are_one_adversity) {
  const Degradation first = Degradation::of_chip(136, 0.8), second = Degradation::of_chip(137, 0.8);
  const Report host = predict_step(spec_with({first, second}), {}).report;
  ASSERT_EQ(host.fault_costs.size(), 1u);
  EXPECT_EQ(host.fault_costs[0].what, "2 chips of host 17 at speed 0.8");
  EXPECT_EQ(host.fault_costs[0].cost, host.straggler_delay);
  EXPECT_GT(host.straggler_delay.ps, 0);

  const Degradation third = Degradation::of_chip(143, 0.7), elsewhere = Degradation::of_chip(144, 0.9);
  const Report two = predict_step(spec_with({first, third, elsewhere}), {}).report;
  ASSERT_EQ(two.fault_costs.size(), 2u);
  EXPECT_EQ(two.fault_costs[0].what, "2 chips of host 17 at speeds 0.7 to 0.8");
  EXPECT_EQ(two.fault_costs[0].cost, two.step_time - step_of(spec_with({elsewhere})));
  EXPECT_EQ(two.fault_costs[1].what, "chip 144 at speed 0.9");
  EXPECT_EQ(two.fault_costs[1].cost, two.step_time - step_of(spec_with({first, third})));
}

TEST(FaultCosts, a_chip_of_several_entries_counts_once_and_their_speeds_multiply) {
  const Degradation half = Degradation::of_chip(136, 0.5);
  EXPECT_EQ(predict_step(spec_with({half, half}), {}).report.fault_costs.at(0).what,
            "chip 136 at speed 0.25");
  std::vector<Degradation> slow = {half};
  for (int chip = 136; chip < 144; ++chip) slow.push_back(Degradation::of_chip(chip, 0.8));
  EXPECT_EQ(predict_step(spec_with(slow), {}).report.fault_costs.at(0).what,
            "8 chips of host 17 at speeds 0.4 to 0.8");
  const Degradation nic = Degradation::of_link(136, LinkKind::kNic, 0.5);
  EXPECT_EQ(predict_step(spec_with({nic, nic}), {}).report.fault_costs.at(0).what,
            "nic of chip 136 at speed 0.25");
}

TEST(FaultCosts, slow_links_of_a_host_are_one_for_each_kind_and_apart_from_its_chips) {
  const Degradation chip = Degradation::of_chip(137, 0.8);
  const std::vector<Degradation> nics = {Degradation::of_link(136, LinkKind::kNic, 0.5),
                                         Degradation::of_link(137, LinkKind::kNic, 0.5)};
  const Degradation nvlink = Degradation::of_link(137, LinkKind::kNvlink, 0.5);
  const Report report = predict_step(spec_with({chip, nics[0], nics[1], nvlink}), {}).report;
  ASSERT_EQ(report.fault_costs.size(), 3u);
  const auto of_nics =
      std::ranges::find(report.fault_costs, "nic of 2 chips of host 17 at speed 0.5", &FaultCost::what);
  ASSERT_NE(of_nics, report.fault_costs.end());
  EXPECT_EQ(of_nics->cost, report.step_time - step_of(spec_with({chip, nvlink})));
}

TEST(FaultCosts, of_more_than_eight_the_gravest_are_told_apart_and_the_others_together) {
  const std::vector<Degradation> eight = slower_and_slower(8), ten = slower_and_slower(10);
  EXPECT_EQ(predict_step(spec_with(eight), {}).report.fault_costs.size(), 8u);
  const Spec spec = spec_with(ten);
  const Report report = predict_step(spec, {}).report;
  ASSERT_EQ(report.fault_costs.size(), 8u);
  EXPECT_EQ(adversities_of(report.fault_costs), 10);
  EXPECT_EQ(fault_runs(spec.adversities, spec.cluster.fabric), 8u);
  const auto together =
      std::ranges::find(report.fault_costs, "3 slighter adversities together", &FaultCost::what);
  ASSERT_NE(together, report.fault_costs.end());
  EXPECT_EQ(together->cost, report.step_time - step_of(spec_with({ten.begin() + 3, ten.end()})));
  EXPECT_EQ(report.fault_costs[0].what, "chip 72 at speed 0.63");
}

TEST(FaultCosts, a_list_of_more_than_64_is_told_as_one) {
  Spec spec = testing::load("llama3_70b_512_v5p");  // whose hosts have four chips
  for (int host = 0; host < 65; ++host) spec.adversities.add(Degradation::of_chip(4 * host, 0.9));
  const Report report = predict_step(spec, {}).report;
  ASSERT_EQ(report.fault_costs.size(), 1u);
  EXPECT_EQ(report.fault_costs[0].what, "65 adversities together");
  EXPECT_EQ(report.fault_costs[0].cost, report.straggler_delay);
  EXPECT_EQ(fault_runs(spec.adversities, spec.cluster.fabric), 0u);
}

TEST(FaultCosts, sources_of_chance_are_told_apart_before_slight_slowness) {
  Spec spec = spec_with(slower_and_slower(8));
  spec.adversities.jitter = {0.05};
  const Report report = predict_step(spec, {}).report;
  ASSERT_EQ(report.fault_costs.size(), 8u);
  EXPECT_EQ(adversities_of(report.fault_costs), 9);
  const auto jitter = std::ranges::find(report.fault_costs, "jitter of operations", &FaultCost::what);
  ASSERT_NE(jitter, report.fault_costs.end());
  EXPECT_GT(jitter->cost.ps, 0);
  spec.seeds = 2;
  EXPECT_EQ(drawn_fault_runs(spec), 7u);
}

}  // namespace
}  // namespace podsim::fault_costs_test
