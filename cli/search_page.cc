// The page of a search: layouts by step time and memory, where their steps go, and how the search went.
#include <algorithm>
#include <cmath>

#include "cli/page_parts.h"
#include "cli/search_text.h"
#include "cli/verb_pages.h"
#include "report/pictures/run_pictures.h"
#include "report/text.h"

namespace podsim {
namespace {

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

PageTable layout_table(const SearchAnswer& answer) {
  PageTable table{"Layouts, fastest first", {"layout", "step time, s", "over the fastest", "memory"}, {}};
  const double best = answer.best.front().figures.step_time.in_seconds();
  for (std::size_t i = 0; i < std::min(kMostBars, answer.best.size()); ++i) {
    const FoundLayout& found = answer.best[i];
    const double step = found.figures.step_time.in_seconds();
    table.rows.push_back(
        {{to_string(found.layout)}, {fixed(step, 4)}, {percent(step / best - 1)}, {gib(found.memory)}});
  }
  return table;
}

// The best that was known and the least that was open, while the search went on.
PagePanel course_panel(std::span<const SearchMoment> course) {
  PagePanel panel{"course", "How the search went"};
  Picture picture{.id = "course", .title = "The best so far, and what could still be better", .summary = ""};
  picture.x = {"time since the begin of the search", "s"};
  picture.y = {"step time", "s"};
  PictureSeries best{"best so far", "compute", MarkShape::kLine};
  PictureSeries bound{"nothing open is below", "limit", MarkShape::kLine};
  double low = 1e300, high = 0;
  const auto add = [&](PictureSeries& series, const SearchMoment& moment, Time at, const std::string& what) {
    if (at.ps == 0) return;
    const double seconds = at.in_seconds();
    low = std::min(low, seconds);
    high = std::max(high, seconds);
    series.marks.push_back({moment.seconds, seconds, 0, "",
                            "after " + fixed(moment.seconds, 2) + " s and " +
                                std::to_string(moment.progress.simulated) + " simulated steps: " + what +
                                " " + fixed(seconds, 4) + " s"});
  };
  for (const SearchMoment& moment : course) {
    const SearchProgress& progress = moment.progress;
    add(best, moment, progress.incumbent, "the best so far takes");
    const bool closed = progress.bound.ps == 0 && &moment == &course.back();
    add(bound, moment, closed ? progress.incumbent : std::min(progress.bound, progress.incumbent),
        "nothing open is below");
  }
  const SearchProgress& last = course.back().progress;
  picture.summary = std::to_string(last.layouts) + " layouts, of which " + std::to_string(last.simulated) +
                    " were simulated, in " + fixed(course.back().seconds, 2) + " s.";
  picture.y.low = low - 0.1 * (high - low);
  for (PictureSeries* series : {&best, &bound})
    if (series->marks.size() > 1) picture.series.push_back(std::move(*series));
  if (!picture.series.empty()) panel.pictures.push_back(std::move(picture));
  panel.sentences.push_back(
      "The lines meet where it is proven that no layout is faster. How long it took depends on the machine, "
      "what was found does not.");
  return panel;
}

}  // namespace

Page search_page(const Space& space, const SearchAnswer& answer, std::span<const SearchMoment> course) {
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
    found.marks.back().row = to_string(each.layout);
    found.marks.back().more = against_best_text(each.layout, each.figures, best);
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
  panel.tables.push_back(layout_table(answer));
  PagePanel where{"steps", "Where their steps go"};
  where.pictures.push_back(std::move(steps));
  page.panels = {std::move(panel), std::move(where)};
  if (course.size() > 1) page.panels.push_back(course_panel(course));
  page.panels.push_back(text_panel(table));
  return page;
}

}  // namespace podsim
