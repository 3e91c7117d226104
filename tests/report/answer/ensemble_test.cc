// Draws added up: what the sample says of the step time, by hand.
#include "report/answer/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/summary/summarize.h"
#include "report/tables/ensemble_text.h"
#include "report/tables/write.h"
#include "tests/report/example.h"

namespace podsim::ensemble_test {
namespace {

// The example with steps of these lengths in seconds; each chip computes for the rest of its time.
Timeline draw(const std::vector<double>& steps) {
  Timeline timeline = example_timeline();
  const Time before = timeline.step_end.back();
  timeline.step_end.clear();
  Time end;
  for (const double step : steps) timeline.step_end.push_back(end += Time::seconds(step));
  timeline.chips[0].bucket[static_cast<std::size_t>(Bucket::kCompute)] += end - before;
  timeline.chips[0].busy += end - before;
  return timeline;
}

Ensemble draws(const std::vector<std::vector<double>>& all) {
  Ensemble ensemble;
  for (const std::vector<double>& steps : all) add_draw(ensemble, draw(steps), {});
  return ensemble;
}

Report report_of(const Ensemble& ensemble) {
  Spec spec = example_spec();
  spec.adversities.jitter.coefficient_of_variation = 0.1;
  return summarize(spec, example_program(), ensemble, one_draw(example_timeline()));
}

TEST(Ensemble, of_one_draw_has_no_spread) { EXPECT_FALSE(report_of(draws({{10, 11}})).ensemble); }

TEST(Ensemble, steps_of_all_draws_are_the_sample) {
  const Report report = report_of(draws({{10, 12}, {11, 13}, {14, 12}}));
  EXPECT_EQ(report.steps, 6);
  EXPECT_EQ(report.step_time, Time::seconds(12));
  EXPECT_EQ(report.step_time_p50, Time::seconds(12));
  EXPECT_EQ(report.step_time_p99, Time::seconds(14));
  const EnsembleReport& ensemble = *report.ensemble;
  EXPECT_EQ(ensemble.seeds, 3);
  EXPECT_EQ(ensemble.shortest, Time::seconds(10));
  EXPECT_EQ(ensemble.longest, Time::seconds(14));
  EXPECT_EQ(ensemble.standard_deviation, Time::seconds(std::sqrt(10.0 / 5)));
  EXPECT_NEAR(ensemble.coefficient_of_variation, std::sqrt(2.0) / 12, 1e-12);
}

TEST(Ensemble, interval_of_the_mean_takes_the_steps_of_a_draw_as_one) {
  // Means of the draws 11, 12, 13: s = 1, t(2) = 4.302653, 3 draws.
  const EnsembleReport report = describe(draws({{10, 12}, {11, 13}, {14, 12}}));
  EXPECT_NEAR(report.mean.low.in_seconds(), 12 - 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(report.mean.high.in_seconds(), 12 + 4.302653 / std::sqrt(3.0), 1e-6);
  const EnsembleReport single = describe(draws({{11}, {12}, {13}}));
  EXPECT_EQ(single.mean.low, report.mean.low);
  EXPECT_EQ(single.mean.high, report.mean.high);
}

TEST(Ensemble, interval_of_a_quantile_is_between_ordered_steps_when_the_draws_are_enough) {
  std::vector<std::vector<double>> singles, twice;
  for (int k = 1; k <= 100; ++k) {
    singles.push_back({10 + 0.01 * k});
    twice.push_back({10 + 0.01 * k, 10 + 0.01 * k});
  }
  for (const auto& sample : {singles, twice}) {
    const EnsembleReport report = describe(draws(sample));
    EXPECT_EQ(report.p50->low, Time::seconds(10.40));
    EXPECT_EQ(report.p50->high, Time::seconds(10.61));
    EXPECT_FALSE(report.p99);
  }
  EXPECT_FALSE(describe(draws({{10}, {11}, {12}, {13}, {14}})).p50);
}

TEST(Ensemble, mean_is_rounded_once_and_the_buckets_still_sum_to_it) {
  // 10 s and 10 s + 1 ps + 1 ps: the mean of three is 10 s and two thirds of a picosecond.
  Ensemble ensemble;
  for (const std::int64_t excess : {0, 1, 1}) {
    Timeline timeline = example_timeline();
    timeline.step_end.back().ps += excess;
    timeline.chips[0].bucket[static_cast<std::size_t>(Bucket::kCompute)].ps += excess;
    add_draw(ensemble, timeline, {});
  }
  const Report report = report_of(ensemble);
  EXPECT_EQ(report.step_time, Time::seconds(10) + Time{1});
  EXPECT_EQ(report.straggler_delay, Time{1});
  EXPECT_EQ(report.compute + report.exposed_communication + report.pipeline_bubble + report.straggler_delay +
                report.optimizer + report.input_stall + report.offload_wait + report.skew_wait,
            report.step_time);
}

TEST(Ensemble, evaluations_of_a_draw_lengthen_its_steps) {
  Ensemble ensemble;
  add_draw(ensemble, draw({10, 12}), Time::seconds(1));
  add_draw(ensemble, draw({10}), Time::seconds(3));
  EXPECT_EQ(mean_step_time(ensemble), Time::seconds((11 + 13 + 13) / 3.0));
  EXPECT_EQ(ensemble.step_times,
            (std::vector<Time>{Time::seconds(11), Time::seconds(13), Time::seconds(13)}));
}

TEST(Ensemble, link_use_is_over_the_time_of_all_draws) {
  const Report one = report_of(draws({{10, 14}})), two = report_of(draws({{10}, {14}}));
  EXPECT_NEAR(two.link_use[0].mean_utilisation, 2 * one.link_use[0].mean_utilisation, 2e-9)
      << "each carried as much; the share has nine decimals";
  EXPECT_EQ(two.events, 2 * one.events);
}

TEST(Ensemble, chips_that_wait_for_months_in_all_do_not_overflow) {
  Ensemble ensemble;
  Timeline timeline = example_timeline();
  timeline.chips[0].waited = Time::seconds(5e6);
  timeline.chips[0].caused_ps = timeline.chips[0].waited.ps;
  for (int k = 0; k < 5; ++k) add_draw(ensemble, timeline, {});
  const Report report = report_of(ensemble);
  ASSERT_EQ(report.slow_parties.size(), 1u);
  EXPECT_EQ(report.slow_parties[0].caused_chip_s, 5e6);
  EXPECT_EQ(report.slow_parties[0].waited_chip_s, 4 * 5e6);
}

TEST(EnsembleText, shows_the_intervals_or_a_dash) {
  Report report = report_of(draws({{10, 12}, {11, 13}, {14, 12}}));
  report.seed = 5;
  EXPECT_EQ(seeds_text(report), "seeds 5 to 7");
  const std::string table = report_table(report);
  EXPECT_NE(table.find("step time over 3 seeds        s     95 % confidence\n"
                       "mean                    12.0000  9.51586 to 14.4841\n"
                       "median                  12.0000                   -\n"
                       "p99                     14.0000                   -\n"
                       "shortest                10.0000\n"
                       "longest                 14.0000\n"
                       "standard deviation      1.41421   11.8% of the mean\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("Chance leaves the mean step time between 9.51586 and 14.4841 s (95 % confidence, 3 "
                       "seeds)."),
            std::string::npos);
}

TEST(EnsembleText, comparisons_and_spreadsheets_have_it_where_a_report_has) {
  const std::vector<Report> plain = {example_report(), example_report()};
  EXPECT_EQ(compare_table(plain).find("seeds"), std::string::npos);
  EXPECT_EQ(report_csv(plain).find("ensemble"), std::string::npos);
  const std::vector<Report> mixed = {example_report(), report_of(draws({{10}, {14}}))};
  EXPECT_NE(compare_table(mixed).find("95 % confidence, s"), std::string::npos);
  EXPECT_NE(report_csv(mixed).find(",ensemble.seeds,ensemble.step_time_min_s,"), std::string::npos);
}

TEST(Ensemble, of_a_flap_keeps_the_longest_standstill_of_all_draws) {
  const auto seconds = [](double value) { return Time::seconds(value); };
  const std::vector<std::vector<Standstill>> all = {
      {}, {{3, seconds(1), seconds(2)}}, {{5, seconds(1), seconds(9)}, {3, seconds(4), seconds(6.5)}}, {}};
  Ensemble ensemble;
  for (const std::vector<Standstill>& of_draw : all) {
    Timeline timeline = example_timeline();
    timeline.standstills = of_draw;
    add_draw(ensemble, timeline, {});
  }
  ASSERT_EQ(ensemble.standstills.size(), 2u);
  EXPECT_EQ(ensemble.standstills[0].entry, 3);
  EXPECT_EQ(ensemble.standstills[0].begin, seconds(4));
  EXPECT_EQ(ensemble.standstills[0].end, seconds(6.5));
  EXPECT_EQ(ensemble.standstills[1].entry, 5);
}

}  // namespace
}  // namespace podsim::ensemble_test
