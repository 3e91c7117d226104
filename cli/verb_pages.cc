// Puts answers of verbs on panels: a picture, its figures, and the tables as a terminal shows them.
#include "cli/verb_pages.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/plan_text.h"
#include "cli/render.h"
#include "cli/search_text.h"
#include "proto/pages/run_page.h"
#include "report/figures.h"
#include "report/pictures/run_pictures.h"
#include "report/step_figures.h"
#include "report/text.h"
#include "report/what_if_text.h"
#include "report/write.h"

namespace podsim {
namespace {

constexpr std::size_t kMostBars = 24;

std::string at_index(std::size_t i) { return "[" + std::to_string(i) + "]."; }

std::vector<NamedReport> bars_of(std::span<const Report> reports) {
  std::vector<NamedReport> bars;
  for (std::size_t i = 0; i < reports.size(); ++i)
    bars.push_back({reports[i].scenario, &reports[i], at_index(i)});
  return bars;
}

// Buckets of reports side by side.
PageTable bucket_columns(std::span<const Report> reports) {
  PageTable table{"Seconds of a step of the mean chip", {""}, {}};
  for (const Report& report : reports) table.head.push_back(report.scenario);
  for (const StepBucket& bucket : step_buckets()) {
    std::vector<PageText> row = {{bucket.name}};
    const bool parts = bucket.time == &Report::exposed_communication;
    for (std::size_t i = 0; i < reports.size(); ++i)
      row.push_back({fixed((reports[i].*bucket.time).in_seconds(), 4),
                     at_index(i) + bucket.key + (parts ? ".total" : "")});
    table.rows.push_back(std::move(row));
  }
  std::vector<PageText> whole = {{"step time"}};
  for (std::size_t i = 0; i < reports.size(); ++i)
    whole.push_back({fixed(reports[i].step_time.in_seconds(), 4), at_index(i) + "step_time_s"});
  table.rows.push_back(std::move(whole));
  return table;
}

// What is known of a layout that was found, as far as a bar shows it.
Report bar_of(const FoundLayout& found) {
  const MainFigures& figures = found.figures;
  Report step;
  step.scenario = to_string(found.layout);
  step.step_time = figures.step_time;
  step.compute = figures.compute;
  step.pipeline_bubble = figures.pipeline_bubble;
  step.optimizer = figures.optimizer;
  step.skew_wait = figures.skew_wait;
  const Time known = figures.compute + figures.pipeline_bubble + figures.optimizer + figures.skew_wait +
                     figures.exposed_communication;
  step.exposed = {{"exposed", "communication", figures.exposed_communication},
                  {"other", "waits", figures.step_time - known}};
  return step;
}

PagePanel text_panel(const std::string& text) {
  PagePanel panel{"tables", "As tables"};
  panel.text = text;
  return panel;
}

PageFigure step_figure(const Report& report, std::size_t i) {
  return {report.scenario,
          {significant(report.step_time.in_seconds(), 4) + " s a step", at_index(i) + "step_time_s"},
          significant(report.tokens_per_s, 4) + " tokens/s"};
}

// A dot of a picture of two figures.
PictureMark dot_at(double x, double y, std::size_t of, const std::string& label, const std::string& text) {
  return {x, y, 0.35 / static_cast<double>(std::max<std::size_t>(8, of)), label, text};
}

// Of points that are better the less of both they need: those that no other beats in both.
PictureSeries front_of(const PictureSeries& points) {
  std::vector<PictureMark> sorted = points.marks;
  std::ranges::stable_sort(sorted, [](const PictureMark& a, const PictureMark& b) {
    return std::pair(a.x, a.y) < std::pair(b.x, b.y);
  });
  PictureSeries front{"no other is better in both", "limit", MarkShape::kLine};
  for (const PictureMark& mark : sorted)
    if (front.marks.empty() || mark.y < front.marks.back().y) front.marks.push_back({mark.x, mark.y, 0});
  return front;
}

}  // namespace

Page compare_page(std::span<const Report> reports) {
  Page page{
      .title = "Compared: " + reports.front().scenario + " and " +
               (reports.size() == 2 ? reports.back().scenario : std::to_string(reports.size() - 1) + " more"),
      .question = reports.front().question};
  page.json = render(reports, "json");
  page.meanings = meanings_of(figures(reports.front()));
  for (std::size_t i = 0; i < std::min<std::size_t>(6, reports.size()); ++i)
    page.figures.push_back(step_figure(reports[i], i));
  PagePanel steps{"steps", "Where the steps go"};
  steps.pictures.push_back(breakdown_picture(bars_of(reports)));
  steps.tables.push_back(bucket_columns(reports));
  page.panels = {std::move(steps), text_panel(compare_table(reports))};
  return page;
}

Page scale_page(std::span<const ScalePoint> points, const std::string& json, const std::string& verdict) {
  Page page{.title = points.front().report->scenario, .question = points.front().report->question};
  page.title += ": how it scales";
  page.answer = verdict;
  page.json = json;
  page.meanings = meanings_of(figures(*points.front().report));
  Picture efficiency{
      .id = "scaling", .title = "Throughput per chip against the fewest chips", .summary = verdict};
  efficiency.x = {"chips", "", {}, true};
  efficiency.y = {"efficiency", "%"};
  efficiency.y.low = 0;
  Picture speed{.id = "throughput", .title = "Tokens per second", .summary = verdict};
  speed.x = {"chips", "", {}, true};
  speed.y = {"tokens/s", "", {}, true};
  PageTable table{"", {"chips", "step time, s", "tokens/s", "efficiency", "bubble, s", "exposed, s"}, {}};
  std::map<std::string, std::size_t> series_of;
  constexpr const char* kRoles[] = {"compute", "tensor", "data", "expert", "context", "pipeline", "other"};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ScalePoint& point = points[i];
    const Report& report = *point.report;
    const auto [at, fresh] = series_of.emplace(point.setting, efficiency.series.size());
    if (fresh) {
      const char* role = kRoles[at->second % std::size(kRoles)];
      const std::string name = point.setting.empty() ? "predicted" : point.setting;
      efficiency.series.push_back({name, role, MarkShape::kLine});
      speed.series.push_back({name, role, MarkShape::kLine});
    }
    const std::string text = std::to_string(report.chips) + " chips: " + percent(point.efficiency) + ", " +
                             significant(report.tokens_per_s, 4) + " tokens/s";
    efficiency.series[at->second].marks.push_back({static_cast<double>(report.chips), 100 * point.efficiency,
                                                   0, percent(point.efficiency), text,
                                                   at_index(i) + "scaling_efficiency"});
    speed.series[at->second].marks.push_back(
        {static_cast<double>(report.chips), report.tokens_per_s, 0, "", text, at_index(i) + "tokens_per_s"});
    table.rows.push_back({{std::to_string(report.chips), at_index(i) + "chips"},
                          {fixed(report.step_time.in_seconds(), 4), at_index(i) + "step_time_s"},
                          {significant(report.tokens_per_s, 4), at_index(i) + "tokens_per_s"},
                          {percent(point.efficiency), at_index(i) + "scaling_efficiency"},
                          {fixed(report.pipeline_bubble.in_seconds(), 4), at_index(i) + "pipeline_bubble_s"},
                          {fixed(report.exposed_communication.in_seconds(), 4),
                           at_index(i) + "exposed_communication_s.total"}});
  }
  const double first = points.front().report->tokens_per_s_per_chip;
  PictureSeries ideal{"every chip as fast as at first", "limit", MarkShape::kLine};
  for (const ScalePoint* end : {&points.front(), &points.back()})
    ideal.marks.push_back({static_cast<double>(end->report->chips), first * end->report->chips, 0});
  speed.series.push_back(std::move(ideal));
  efficiency.lines.push_back({false, 100, "ideal"});
  PagePanel curve{"curve", "The curve"};
  curve.pictures = {std::move(efficiency), std::move(speed)};
  curve.tables.push_back(std::move(table));
  PagePanel steps{"steps", "Where the steps go"};
  std::vector<NamedReport> bars;
  for (std::size_t i = 0; i < std::min(kMostBars, points.size()); ++i)
    bars.push_back({std::to_string(points[i].report->chips) + " chips" +
                        (points[i].setting.empty() ? "" : ", " + points[i].setting),
                    points[i].report, at_index(i)});
  steps.pictures.push_back(breakdown_picture(bars));
  page.panels = {std::move(curve), std::move(steps)};
  return page;
}

Page search_page(const Space& space, const SearchAnswer& answer) {
  const std::string table = search_table(space, answer, true);
  Page page{.title = space.spec().name + ": layouts", .question = space.spec().question};
  page.json = search_json(space, answer);
  const FoundLayout& best = answer.best.front();
  page.answer =
      "The fastest layout is " + to_string(best.layout) + ": " +
      fixed(best.figures.step_time.in_seconds(), 4) + " s a step and " + gib(best.memory) +
      " on the fullest chip. " +
      (answer.proven ? "That no other is faster, by more than was asked for, is proven."
                     : "The search was stopped: another may be faster by " + percent(answer.gap) + ".");
  PictureSeries found{"layouts", "compute", MarkShape::kDot};
  std::vector<Report> steps_of_best;
  for (std::size_t i = 0; i < answer.best.size(); ++i) {
    const FoundLayout& each = answer.best[i];
    const std::string text = to_string(each.layout) + ": " + fixed(each.figures.step_time.in_seconds(), 4) +
                             " s, " + gib(each.memory);
    found.marks.push_back(dot_at(each.figures.step_time.in_seconds(), each.memory.value / (1 << 30),
                                 answer.best.size(), i == 0 ? "fastest" : "", text));
    if (i < kMostBars) steps_of_best.push_back(bar_of(each));
  }
  Picture plane{
      .id = "layouts", .title = "Step time and memory of the layouts found", .summary = page.answer};
  plane.x = {"step time", "s"};
  plane.x.low = found.marks.front().x * 0.98;
  plane.y = {"GiB of the fullest chip", ""};
  plane.lines.push_back({false, space.spec().cluster.chip.hbm_capacity.value / (1 << 30), "capacity"});
  plane.series = {front_of(found), std::move(found)};
  std::vector<NamedReport> bars;
  for (const Report& step : steps_of_best) bars.push_back({step.scenario, &step, ""});
  Picture steps = breakdown_picture(bars);
  for (PictureSeries& series : steps.series)
    for (PictureMark& mark : series.marks) mark.key.clear();  // of layouts the JSON has step time and memory
  PagePanel panel{"layouts", "Step and memory"};
  panel.pictures.push_back(std::move(plane));
  PagePanel where{"steps", "Where their steps go"};
  where.pictures.push_back(std::move(steps));
  page.panels = {std::move(panel), std::move(where), text_panel(table)};
  return page;
}

Page plan_page(const PlanQuestion& question, const PlanAnswer& answer) {
  const std::string table = plan_table(question, answer);
  Page page{.title = "Clusters for " + significant(question.tokens / 1e12, 4) + "T tokens"};
  page.json = plan_json(question, answer);
  const PlanRow& best = answer.rows.front();
  page.figures = {
      {"first choice", {std::to_string(best.chips) + " " + best.chip, "rows[0].chips"}, best.price_term},
      {"days", {significant(best.days, 4), "rows[0].days"}},
      {"USD", {significant(best.usd, 4), "rows[0].cost_usd"}},
      {"energy, MWh", {significant(best.mwh, 4), "rows[0].energy_mwh"}}};
  std::map<std::string, PictureSeries> by_chip;
  PictureSeries all{"", "limit", MarkShape::kDot};
  constexpr const char* kRoles[] = {"compute", "tensor", "data", "expert", "context", "pipeline", "other"};
  PageTable rows{"", {"choice", "term", "days", "USD", "MWh", "step, s", "meets the limits"}, {}};
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const PlanRow& row = answer.rows[i];
    const std::string key = "rows[" + std::to_string(i) + "].";
    const std::string name = std::to_string(row.chips) + " " + row.chip;
    const std::string text = name + ", " + row.precision + ", " + row.price_term + ": " +
                             significant(row.days, 4) + " days, " + significant(row.usd, 4) + " USD";
    const auto [series, fresh] = by_chip.emplace(row.chip, PictureSeries{row.chip, "", MarkShape::kDot});
    if (fresh) series->second.role = kRoles[(by_chip.size() - 1) % std::size(kRoles)];
    series->second.marks.push_back(
        dot_at(row.days, row.usd, answer.rows.size(), std::to_string(row.chips), text));
    all.marks.push_back(series->second.marks.back());
    rows.rows.push_back({{name},
                         {row.price_term},
                         {significant(row.days, 4), key + "days"},
                         {significant(row.usd, 4), key + "cost_usd"},
                         {significant(row.mwh, 4), key + "energy_mwh"},
                         {fixed(row.found.figures.step_time.in_seconds(), 4), key + "step_time_s"},
                         {row.meets(question) ? "yes" : "no", key + "meets"}});
  }
  Picture plane{.id = "clusters", .title = "Days and dollars", .summary = ""};
  plane.summary = "The first choice takes " + significant(best.days, 4) + " days and " +
                  significant(best.usd, 4) + " USD.";
  page.answer = plane.summary;
  plane.x = {"days", "", {}, true};
  plane.y = {"USD", "", {}, true};
  plane.series.push_back(front_of(all));
  for (auto& [chip, series] : by_chip) plane.series.push_back(std::move(series));
  if (question.most_days) plane.lines.push_back({true, *question.most_days, "deadline"});
  if (question.most_usd) plane.lines.push_back({false, *question.most_usd, "budget"});
  PagePanel panel{"clusters", "Days and dollars"};
  panel.pictures.push_back(std::move(plane));
  panel.tables.push_back(std::move(rows));
  page.panels = {std::move(panel), text_panel(table)};
  return page;
}

Page whatif_page(std::span<const Report> reports, const std::string& text) {
  Page page = compare_page(reports);
  page.title = reports.front().scenario + " and after";
  page.answer = text.substr(text.rfind("A step takes"));
  page.panels.back().text = text;
  if (const auto& replay = reports.back().what_if) {
    PagePanel workers{"workers", "Who makes others wait"};
    workers.pictures.push_back(heat_picture(*replay));
    page.panels.insert(page.panels.begin() + 1, std::move(workers));
  }
  return page;
}

Page reliability_page(std::span<const ReliabilityReport> reports, const std::string& json,
                      const std::string& text) {
  const ReliabilityReport& first = reports.front();
  Page page{.title = first.scenario + ": weeks over failures", .question = first.question};
  page.json = json;
  Picture bar{.id = "buckets", .title = "Where the chip-time goes", .summary = ""};
  bar.x = {"share of all chip-time", "%"};
  bar.x.high = 100;
  constexpr const char* kRoles[] = {"compute", "idle", "straggler", "data",     "tensor",  "input",
                                    "expert",  "skew", "offload",   "pipeline", "context", "other"};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    bar.y.names.push_back(reports[i].scenario);
    double at = 0;
    for (std::size_t b = 0; b < reports[i].buckets.size(); ++b) {
      const BucketReport& bucket = reports[i].buckets[b];
      if (bar.series.size() <= b) bar.series.push_back({bucket.bucket, kRoles[b % std::size(kRoles)]});
      const std::string of = bucket.bucket + ": " + percent(bucket.share);
      if (bucket.share > 0)
        bar.series[b].marks.push_back({at, static_cast<double>(i), 100 * bucket.share, percent(bucket.share),
                                       of,
                                       (reports.size() > 1 ? at_index(i) : "") + "event_simulation.buckets[" +
                                           std::to_string(b) + "].share"});
      if (i == 0 && bucket.share > 0) bar.summary += (bar.summary.empty() ? "" : "; ") + of;
      at += 100 * bucket.share;
    }
  }
  bar.summary += ".";
  std::erase_if(bar.series, [](const PictureSeries& series) { return series.marks.empty(); });
  PagePanel panel{"time", "Where the chip-time goes"};
  if (!bar.series.empty()) panel.pictures.push_back(std::move(bar));
  page.panels = {std::move(panel), text_panel(text)};
  for (std::size_t i = 0; i < std::min<std::size_t>(6, reports.size()); ++i) {
    const std::string key = (reports.size() > 1 ? at_index(i) : "") + "event_simulation.";
    page.figures.push_back({reports[i].scenario + ", goodput",
                            {percent(reports[i].figures.goodput.mean), key + "goodput.mean"},
                            "of all chip-time"});
    page.figures.push_back(
        {reports[i].scenario + ", days", {significant(reports[i].figures.days.mean, 4), key + "days.mean"}});
  }
  return page;
}

Page replay_page(const std::string& name, const WhatIf& result, const std::string& json) {
  Page page{.title = name + ": who was slow"};
  page.json = json;
  page.answer = "Likely cause: " + result.likely_cause + ".";
  page.figures = {{"slowdown", {fixed(result.S.mean, 4), "S"}, "of a step, against the ideal one"}};
  PagePanel workers{"workers", "Who makes others wait"};
  workers.pictures.push_back(heat_picture(result));
  page.panels = {std::move(workers), text_panel(what_if_text(result))};
  return page;
}

Page validation_page(const RunValidation& runs) {
  Page page{.title = "Predicted and measured"};
  page.json = run_errors(runs, "json");
  const std::string table = run_errors(runs, "table");
  Picture plane{.id = "errors", .title = "Predicted against measured step times", .summary = ""};
  plane.x = {"measured", "s", {}, true};
  plane.y = {"predicted", "s", {}, true};
  std::map<std::string, PictureSeries> by_chip;
  double low = 1e300, high = 0;
  std::size_t count = 0;
  constexpr const char* kRoles[] = {"compute", "tensor", "data", "expert", "context", "pipeline", "other"};
  for (const PredictedRun& row : runs.rows) {
    if (!row.run.measured_s || !row.failure.empty()) continue;
    const double measured = *row.run.measured_s, predicted = row.report.step_time.in_seconds();
    const auto [series, fresh] =
        by_chip.emplace(row.run.chip, PictureSeries{row.run.chip, "", MarkShape::kDot});
    if (fresh) series->second.role = kRoles[(by_chip.size() - 1) % std::size(kRoles)];
    series->second.marks.push_back(dot_at(measured, predicted, 60, "",
                                          row.run.id + ": measured " + significant(measured, 4) +
                                              " s, predicted " + significant(predicted, 4) + " s, " +
                                              row.run.model));
    low = std::min({low, measured, predicted});
    high = std::max({high, measured, predicted});
    ++count;
  }
  plane.summary = std::to_string(count) + " runs; on the line they are as predicted.";
  PagePanel panel{"errors", "Every run"};
  if (count > 0) {
    plane.series.push_back({"as predicted", "limit", MarkShape::kLine, {{low, low, 0}, {high, high, 0}}});
    for (auto& [chip, series] : by_chip) plane.series.push_back(std::move(series));
    panel.pictures.push_back(std::move(plane));
  }
  page.panels = {std::move(panel), text_panel(table)};
  return page;
}

}  // namespace podsim
