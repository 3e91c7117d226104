// Puts sizes of a scenario on panels: the curve, where the batch becomes too small for it, and the steps.
#include "cli/comparisons/scale_page.h"

#include <algorithm>
#include <array>
#include <map>

#include "cli/answers/page_parts.h"
#include "proto/pages/run_page.h"
#include "report/figures/figures.h"
#include "report/pictures/roles.h"
#include "report/pictures/run_pictures.h"
#include "report/text/text.h"

namespace podsim {
namespace {

PictureMark efficiency_mark(const ScalePoint& point, std::size_t i, const std::string& text) {
  return {
      static_cast<double>(point.report->chips), 100 * point.efficiency, 0, percent(point.efficiency), text,
      at_index(i) + "scaling_efficiency"};
}

// The points of the curve where the batch is too small to fill the pipeline, and to give every chip a
// sequence.
void add_starved(Picture& picture, std::span<const ScalePoint> points) {
  PictureSeries pipeline{"fewer microbatches than stages", "bubble", MarkShape::kDot};
  PictureSeries chips{"less than a sequence for each chip", "straggler", MarkShape::kDot};
  for (const ScalePoint& point : points) {
    const BatchCut& cut = point.cut;
    const std::string size = std::to_string(point.report->chips) + " chips: ";
    const auto at = [&](const std::string& text) {
      return PictureMark{static_cast<double>(point.report->chips), 100 * point.efficiency, 0, "",
                         size + text};
    };
    if (cut.starves_pipeline())
      pipeline.marks.push_back(at(std::to_string(cut.microbatches) + " microbatches for " +
                                  std::to_string(cut.stages) + " stages, which cannot all be busy at once"));
    if (cut.starves_chips())
      chips.marks.push_back(
          at(significant(cut.sequences_per_chip, 3) + " sequences of the batch for a chip"));
  }
  for (PictureSeries* series : {&pipeline, &chips})
    if (!series->marks.empty()) picture.series.push_back(std::move(*series));
}

// Efficiency and tokens per second against chips, a curve for each setting.
std::array<Picture, 2> curves_of(std::span<const ScalePoint> points, const std::string& verdict) {
  Picture efficiency{
      .id = "scaling", .title = "Throughput per chip against the fewest chips", .summary = verdict};
  efficiency.x = {"chips", "", {}, true};
  efficiency.y = {"efficiency", "%"};
  efficiency.y.low = 0;
  Picture speed{.id = "throughput", .title = "Tokens per second", .summary = verdict};
  speed.x = {"chips", "", {}, true};
  speed.y = {"tokens/s", "", {}, true};
  std::map<std::string, std::size_t> series_of;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ScalePoint& point = points[i];
    const Report& report = *point.report;
    const auto [at, fresh] = series_of.emplace(point.setting, efficiency.series.size());
    if (fresh) {
      const std::string role = role_of_series(at->second);
      const std::string name = point.setting.empty() ? "predicted" : point.setting;
      efficiency.series.push_back({name, role, MarkShape::kLine});
      speed.series.push_back({name, role, MarkShape::kLine});
    }
    const std::string text = std::to_string(report.chips) + " chips: " + percent(point.efficiency) + ", " +
                             significant(report.tokens_per_s, 4) + " tokens/s";
    efficiency.series[at->second].marks.push_back(efficiency_mark(point, i, text));
    speed.series[at->second].marks.push_back(
        {static_cast<double>(report.chips), report.tokens_per_s, 0, "", text, at_index(i) + "tokens_per_s"});
  }
  const double first = points.front().report->tokens_per_s_per_chip;
  PictureSeries ideal{"every chip as fast as at first", "limit", MarkShape::kLine};
  for (const ScalePoint* end : {&points.front(), &points.back()})
    ideal.marks.push_back({static_cast<double>(end->report->chips), first * end->report->chips, 0});
  speed.series.push_back(std::move(ideal));
  efficiency.lines.push_back({false, 100, "ideal"});
  add_starved(efficiency, points);
  return {std::move(efficiency), std::move(speed)};
}

PageTable sizes_table(std::span<const ScalePoint> points) {
  const bool several =
      std::ranges::any_of(points, [](const ScalePoint& each) { return !each.setting.empty(); });
  PageTable table{"",
                  {"chips", "step time, s", "tokens/s", "efficiency", "bubble, s", "exposed, s",
                   "microbatches", "stages", "sequences a chip"},
                  {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ScalePoint& point = points[i];
    const Report& report = *point.report;
    table.rows.push_back(
        {{std::to_string(report.chips), at_index(i) + "chips"},
         {fixed(report.step_time.in_seconds(), 4), at_index(i) + "step_time_s"},
         {significant(report.tokens_per_s, 4), at_index(i) + "tokens_per_s"},
         {percent(point.efficiency), at_index(i) + "scaling_efficiency"},
         {fixed(report.pipeline_bubble.in_seconds(), 4), at_index(i) + "pipeline_bubble_s"},
         {fixed(report.exposed_communication.in_seconds(), 4), at_index(i) + "exposed_communication_s.total"},
         {std::to_string(point.cut.microbatches), at_index(i) + "microbatches"},
         {std::to_string(point.cut.stages), at_index(i) + "pipeline_stages"},
         {significant(point.cut.sequences_per_chip, 4), at_index(i) + "sequences_per_chip"}});
    if (several) table.rows.back().push_back({point.setting});
  }
  if (several) table.head.emplace_back("scaling");
  return table;
}

}  // namespace

Page scale_page(std::span<const ScalePoint> points, const std::string& json, const std::string& verdict) {
  Page page{.title = points.front().report->scenario, .question = points.front().report->question};
  page.title += ": how it scales";
  page.answer = verdict;
  page.json = json;
  page.meanings = meanings_of(figures(*points.front().report));
  PagePanel curve{"curve", "The curve"};
  for (Picture& picture : curves_of(points, verdict)) curve.pictures.push_back(std::move(picture));
  curve.tables.push_back(sizes_table(points));
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

}  // namespace podsim
