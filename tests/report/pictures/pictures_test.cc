// Pictures: what they show is what the report says, and SVG draws it to scale and harmlessly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "report/pictures/plot_scale.h"
#include "report/pictures/roles.h"
#include "report/pictures/run_pictures.h"
#include "report/pictures/svg.h"
#include "tests/report/example.h"

namespace podsim::pictures_test {
namespace {

Picture breakdown_of(const Report& report) {
  const NamedReport one{"step", &report, ""};
  return breakdown_picture({&one, 1});
}

// What the boxes of a row add up to, in picoseconds.
std::int64_t sum_ps(const Picture& picture, double row) {
  std::int64_t sum = 0;
  for (const PictureSeries& series : picture.series)
    for (const PictureMark& mark : series.marks)
      if (mark.y == row) sum += std::llround(mark.extent * 1e12);
  return sum;
}

// Widths of the rectangles of a series of an SVG.
std::vector<double> widths(const std::string& svg, const std::string& series) {
  const std::size_t begin = svg.find("data-series=\"" + series + "\"");
  if (begin == std::string::npos) return {};
  const std::string group = svg.substr(begin, svg.find("</g>", begin) - begin);
  static const std::regex width("<rect[^>]* width=\"([0-9.]+)\"");
  std::vector<double> found;
  for (std::sregex_iterator at(group.begin(), group.end(), width), end; at != end; ++at)
    found.push_back(std::stod((*at)[1]));
  return found;
}

TEST(Pictures, the_parts_of_a_bar_add_up_to_the_step_to_the_picosecond) {
  const Report report = example_report();
  EXPECT_EQ(sum_ps(breakdown_of(report), 0), report.step_time.ps);
  Report slower = report;
  slower.step_time += Time{123456789};
  slower.straggler_delay = Time{123456789};
  const std::vector<NamedReport> both = {{"a", &report, "[0]."}, {"b", &slower, "[1]."}};
  const Picture picture = breakdown_picture(both);
  EXPECT_EQ(sum_ps(picture, 0), report.step_time.ps);
  EXPECT_EQ(sum_ps(picture, 1), slower.step_time.ps);
}

TEST(Pictures, bars_are_as_long_as_their_seconds_within_a_hundredth_of_a_pixel) {
  const std::string svg = svg_file(breakdown_of(example_report()));
  const std::vector<double> compute = widths(svg, "compute"), scatter = widths(svg, "data reduce-scatter");
  ASSERT_EQ(compute.size(), 1u);
  ASSERT_EQ(scatter.size(), 1u);
  EXPECT_NEAR(compute[0] / scatter[0], 6.0 / 2.0, 0.0002);
}

TEST(Pictures, every_mark_of_a_figure_names_its_key_in_json) {
  for (const PictureSeries& series : breakdown_of(example_report()).series)
    for (const PictureMark& mark : series.marks) EXPECT_NE(mark.key, "") << series.name;
  const Picture memory = memory_picture(example_report());
  ASSERT_FALSE(memory.series.empty());
  EXPECT_EQ(memory.series.front().marks.at(1).key, "memory_by_stage_gib[1].weights");
  EXPECT_EQ(links_picture(example_report()).series.at(1).marks.at(1).key, "link_utilisation.nic.max");
}

TEST(Pictures, use_of_links_is_always_shown_from_none_to_all) {
  const Picture links = links_picture(example_report());
  EXPECT_EQ(links.x.low, 0);
  EXPECT_EQ(links.x.high, 100);
}

TEST(Pictures, every_series_has_a_role_with_colours) {
  std::set<std::string_view> known;
  for (const Role& role : kRoles) EXPECT_TRUE(known.insert(role.name).second) << role.name;
  for (const std::string& name : run_picture_names()) {
    const auto picture = run_picture(name, example_report(), nullptr);
    if (!picture) continue;
    for (const PictureSeries& series : picture->series)
      EXPECT_EQ(known.count(series.role), 1u) << series.role;
  }
  for (const char* axes : {"tensor", "data+fsdp", "expert", "context", "pipeline", "x"})
    EXPECT_EQ(known.count(role_of_axes(axes)), 1u) << axes;
  EXPECT_EQ(role_of_axes("tensor+data"), "tensor");
  EXPECT_EQ(role_of_axes("data+tensor"), "data");
}

TEST(Pictures, a_picture_of_what_a_report_lacks_is_not_drawn) {
  EXPECT_FALSE(run_picture("heat", example_report(), nullptr));
  EXPECT_FALSE(run_picture("schedule", example_report(), nullptr));
  EXPECT_TRUE(run_picture("breakdown", example_report(), nullptr));
}

TEST(Pictures, that_need_a_step_show_what_it_did) {
  StepDetail detail;
  detail.step = Time::seconds(10);
  const auto span = [](double begin, double end, Pass pass, int microbatch) {
    return PassSpan{Time::seconds(begin),
                    Time::seconds(end),
                    {{pass, microbatch, 0}},
                    {{Time::seconds(begin), Time::seconds(end)}}};
  };
  detail.stages = {{0, 0, 2, {span(0, 2, Pass::kForward, 0), span(5, 9, Pass::kBackward, 0)}},
                   {1, 2, 2, {span(2, 3, Pass::kForward, 0), span(3, 5, Pass::kBackward, 0)}}};
  const Picture schedule = schedule_picture(detail);
  ASSERT_EQ(schedule.series.size(), 3u);
  EXPECT_EQ(schedule.series[1].name, "forward");
  EXPECT_EQ(schedule.series[1].marks.at(1).x, 2);
  EXPECT_EQ(schedule.series[2].marks.at(0).extent, 4);
  EXPECT_NE(schedule.summary.find("45.0%"), std::string::npos) << schedule.summary;
  detail.held = {{{}, 0}, {Time::seconds(2), 1}, {Time::seconds(9), 0}};
  detail.fullest = 1;
  const Picture memory = memory_over_step_picture(example_report(), detail);
  EXPECT_EQ(memory.series.back().name, "activations");
  EXPECT_EQ(memory.series.back().marks.at(1).extent, 15);
}

TEST(Pictures, of_long_steps_show_begin_one_period_and_end) {
  StepDetail detail;
  constexpr int kPasses = 2000;
  detail.step = Time::seconds(kPasses);
  detail.stages.push_back({});
  for (int i = 0; i < kPasses; ++i) {
    const Time begin = Time::seconds(i), end = Time::seconds(i + 0.9);
    detail.stages[0].spans.push_back(
        {begin, end, {{i % 2 == 0 ? Pass::kForward : Pass::kBackward, i / 2, 0}}, {{begin, end}}});
  }
  const Picture picture = schedule_picture(detail);
  ASSERT_EQ(picture.x.windows.size(), 3u);
  EXPECT_EQ(picture.x.windows[0].low, 0);
  EXPECT_EQ(picture.x.windows[1].high - picture.x.windows[1].low, 8);
  EXPECT_EQ(picture.x.windows[2].high, kPasses);
  EXPECT_NE(picture.breaks.at(0).text.find("one period of 238 that are alike"), std::string::npos)
      << picture.breaks.at(0).text;
  std::size_t marks = 0;
  for (const PictureSeries& series : picture.series) marks += series.marks.size();
  EXPECT_LT(marks, 200u);
}

TEST(Pictures, of_more_workers_than_can_be_told_apart_show_the_slowest_of_neighbours_and_say_so) {
  constexpr int kRanks = 1030, kStages = 70;
  WhatIf what_if;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int stage = 0; stage < kStages; ++stage) {
      what_if.workers.push_back({rank, rank, stage, rank * kStages + stage, 1});
      what_if.by_worker.push_back(rank == 1029 && stage == 69 ? 1.5 : 1);
    }
    what_if.by_data_rank.push_back({1, {}});
    what_if.ranks_alike.push_back(1);
  }
  what_if.by_stage.resize(kStages);
  const Picture heat = heat_picture(what_if);
  EXPECT_EQ(heat.y.names.size(), 344u);
  EXPECT_EQ(heat.x.names.size(), 35u);
  EXPECT_EQ(heat.y.names.front(), "0 to 2");
  EXPECT_EQ(heat.y.names.back(), "1029");
  const PictureMark& last = heat.series.at(0).marks.back();
  EXPECT_EQ(last.extent, 1.5);
  EXPECT_EQ(last.row, "data rank 1029 stage 69");
  EXPECT_NE(heat.summary.find("the slowest of 3 data ranks and 2 stages"), std::string::npos) << heat.summary;
}

TEST(Pictures, of_several_steps_have_a_bar_each_and_of_many_the_share_that_is_no_longer) {
  StepDetail detail;
  for (int i = 1; i <= 4; ++i) detail.steps.push_back(Time::seconds(i));
  const Picture few = steps_picture(example_report(), detail);
  ASSERT_EQ(few.series.at(0).marks.size(), 4u);
  EXPECT_EQ(few.series[0].marks[2].extent, 3);
  for (int i = 5; i <= 200; ++i) detail.steps.push_back(Time::seconds(i));
  const Picture many = steps_picture(example_report(), detail);
  EXPECT_EQ(many.series.at(0).shape, MarkShape::kLine);
  EXPECT_EQ(many.series[0].marks.back().y, 100);
  detail.steps.resize(1);
  EXPECT_FALSE(run_picture("steps", example_report(), &detail));
}

TEST(Pictures, of_measured_runs_lie_where_the_step_would_be_if_it_erred_as_they_did) {
  StepDetail detail;
  detail.near = {{"a", 0.9}, {"b", 1.2}};
  Report report = example_report();
  report.band = StepTimeBand{Time::seconds(9), Time::seconds(11), "same chip", 2};
  const Picture picture = certainty_picture(report, detail);
  EXPECT_NEAR(picture.series.at(0).marks.at(1).x, 1.2 * report.step_time.in_seconds(), 1e-12);
  EXPECT_EQ(picture.lines.size(), 3u);
}

TEST(PlotScale, ticks_are_round_and_lie_at_their_values) {
  PictureAxis axis{"time", "s"};
  const PlotScale scale(axis, {0, 6.5}, 100, 750);
  const std::vector<AxisTick> ticks = scale.ticks(9);
  ASSERT_EQ(ticks.size(), 7u);
  EXPECT_EQ(ticks[3].text, "3");
  EXPECT_DOUBLE_EQ(ticks[3].at, 400);
  axis.logarithmic = true;
  const PlotScale decades(axis, {1, 1e4}, 0, 400);
  EXPECT_DOUBLE_EQ(decades.at(100), 200);
}

TEST(PlotScale, windows_lie_side_by_side_with_cuts_between_them) {
  PictureAxis axis{"time", "s"};
  axis.windows = {{0, 10}, {90, 100}};
  const PlotScale scale(axis, {0, 100}, 0, 222);
  EXPECT_DOUBLE_EQ(scale.at(10), 100);
  EXPECT_DOUBLE_EQ(scale.at(90), 122);
  EXPECT_EQ(scale.cuts(), std::vector<double>{111});
}

TEST(PlotScale, large_numbers_have_prefixes) {
  EXPECT_EQ(with_prefix(1.5e6), "1.5 M");
  EXPECT_EQ(with_prefix(989e12), "989 T");
  EXPECT_EQ(with_prefix(1000), "1 k");
  EXPECT_EQ(with_prefix(12), "12");
}

TEST(Svg, names_of_scenarios_are_harmless) {
  EXPECT_EQ(escaped("</script><img onerror='x'>&\""),
            "&lt;/script&gt;&lt;img onerror=&#39;x&#39;&gt;&amp;&quot;");
  EXPECT_EQ(escaped("\xff\x01"), "\uFFFD\uFFFD");
  Report report = example_report();
  report.exposed.at(0).axes = "</svg><script>alert(1)</script>";
  report.link_use.at(0).kind = "\"><img src=x onerror=alert(1)>";
  for (const char* name : {"breakdown", "links"}) {
    const std::string svg = svg_file(*run_picture(name, report, nullptr));
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(svg.find("<img"), std::string::npos);
    EXPECT_EQ(svg.find("</svg>"), svg.rfind("</svg>"));
  }
}

TEST(Svg, says_in_words_what_it_shows) {
  const std::string svg = svg_file(breakdown_of(example_report()));
  EXPECT_NE(svg.find("role=\"img\""), std::string::npos);
  EXPECT_NE(svg.find("aria-label=\"Where the step goes. "), std::string::npos);
  EXPECT_NE(svg.find("compute 6.0000 s, 60.0%"), std::string::npos);
}

TEST(Pictures, series_that_stand_for_nothing_have_colours_of_their_own) {
  std::set<std::string> roles;
  for (std::size_t i = 0; i < 7; ++i) {
    const std::string role = role_of_series(i);
    EXPECT_TRUE(std::ranges::any_of(kRoles, [&](const Role& each) { return each.name == role; })) << role;
    EXPECT_TRUE(roles.insert(role).second) << role;
  }
}

}  // namespace
}  // namespace podsim::pictures_test
