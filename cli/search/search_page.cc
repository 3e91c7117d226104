// Puts a search on panels: layouts by step time and memory, where their steps go, and how the search went.
#include "cli/search/search_page.h"

#include <algorithm>
#include <cmath>

#include "cli/answers/page_parts.h"
#include "cli/search/choice_plane.h"
#include "cli/search/search_text.h"
#include "engine/binary_units.h"
#include "report/text/text.h"

namespace podsim {
namespace {

double capacity_gib(const Space& space) {
  return space.spec().cluster.chip.hbm_capacity.value / kBytesPerGib;
}

double memory_free(const Space& space, const FoundLayout& found) {
  return capacity_gib(space) > 0 ? 1 - found.figures.memory_gib / capacity_gib(space) : 0;
}

std::string layout_text(const Space& space, const FoundLayout& found) {
  const MainFigures& figures = found.figures;
  return to_string(found.layout) + ": " + fixed(figures.step_time.in_seconds(), 4) + " s, " +
         significant(figures.cost_usd_per_million_tokens, 4) + " USD per million tokens, " +
         gib(found.memory) + ", " + percent(memory_free(space, found)) + " of memory free; " +
         buckets_text(figures);
}

// On one cluster money goes with time; colours tell which layouts leave room for more.
Picture money_picture(const Space& space, const SearchAnswer& answer, const std::string& summary) {
  const Cluster& cluster = space.spec().cluster;
  std::vector<PlaneChoice> choices;
  for (const FoundLayout& each : answer.best)
    choices.push_back({cluster.chip.name, cluster.fabric.chips, each.figures.step_time.in_seconds(),
                       each.figures.cost_usd_per_million_tokens, memory_free(space, each),
                       &each == answer.best.data() ? "fastest" : "", layout_text(space, each),
                       to_string(each.layout),
                       against_best_text(each.layout, each.figures, answer.best.front())});
  Picture plane{.id = "money", .title = "Step time and money of the layouts found", .summary = summary};
  plane.x = {"step time", "s"};
  plane.y = {"USD per million tokens", "", {}, true};
  plane.x.low = choices.front().time * 0.98;
  plane.series = plane_series(choices);
  return plane;
}

Picture memory_plane(const Space& space, const SearchAnswer& answer, const std::string& summary) {
  PictureSeries found{"layouts", "compute", MarkShape::kDot};
  for (const FoundLayout& each : answer.best) {
    found.marks.push_back(dot_at(each.figures.step_time.in_seconds(), each.figures.memory_gib,
                                 answer.best.size(), &each == answer.best.data() ? "fastest" : "",
                                 layout_text(space, each)));
    found.marks.back().row = to_string(each.layout);
    found.marks.back().more = against_best_text(each.layout, each.figures, answer.best.front());
  }
  Picture plane{.id = "layouts", .title = "Step time and memory of the layouts found", .summary = summary};
  plane.x = {"step time", "s"};
  plane.x.low = found.marks.front().x * 0.98;
  plane.y = {"GiB of the fullest chip", ""};
  plane.lines.push_back({false, capacity_gib(space), "capacity"});
  plane.series = {front_of(found), std::move(found)};
  return plane;
}

PageTable layout_table(const SearchAnswer& answer) {
  PageTable table{
      "Layouts, fastest first",
      {"layout", "step time, s", "over the fastest", "GiB", "USD per million tokens", "J per token"},
      {}};
  const double best = answer.best.front().figures.step_time.in_seconds();
  for (std::size_t i = 0; i < std::min(kMostBars, answer.best.size()); ++i) {
    const FoundLayout& found = answer.best[i];
    const double step = found.figures.step_time.in_seconds();
    const std::string key = "layouts" + at_index(i);
    table.rows.push_back(
        {{to_string(found.layout)},
         {fixed(step, 4), key + "step_time_s"},
         {percent(step / best - 1)},
         {fixed(found.figures.memory_gib, 2), key + "memory_gib"},
         {significant(found.figures.cost_usd_per_million_tokens, 4), key + "cost_usd_per_million_tokens"},
         {significant(found.figures.energy_j_per_token, 4), key + "energy_j_per_token"}});
  }
  return table;
}

// The best that was known and the least that was open, while the search went on.
PagePanel search_panel(std::span<const SearchMoment> course) {
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
    const Time open = closed ? progress.incumbent : std::min(progress.bound, progress.incumbent);
    const double best_s = progress.incumbent.in_seconds();
    add(bound, moment, open,
        "a gap of " + percent(best_s > 0 ? 1 - open.in_seconds() / best_s : 1) + ", nothing open is below");
  }
  const SearchProgress& last = course.back().progress;
  picture.summary = std::to_string(last.layouts) + " layouts, of which " + std::to_string(last.simulated) +
                    " were simulated, in " + fixed(course.back().seconds, 2) + " s.";
  picture.y.low = low - 0.1 * (high - low);
  for (PictureSeries* series : {&best, &bound})
    if (series->marks.size() > 1) picture.series.push_back(std::move(*series));
  if (!picture.series.empty()) panel.pictures.push_back(std::move(picture));
  panel.sentences.push_back(
      "The lines meet where it is proven that no layout is predicted to be faster. How long it took depends "
      "on the machine, "
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
  PagePanel panel{"layouts", "Step, money and memory"};
  panel.pictures = {money_picture(space, answer, page.answer), memory_plane(space, answer, page.answer)};
  panel.tables.push_back(layout_table(answer));
  PagePanel where{"steps", "Where their steps go"};
  std::vector<Report> steps;
  for (std::size_t i = 0; i < std::min(kMostBars, answer.best.size()); ++i)
    steps.push_back(bar_of(answer.best[i], to_string(answer.best[i].layout)));
  where.pictures.push_back(bars_of_found(steps));
  page.panels = {std::move(panel), std::move(where)};
  if (course.size() > 1) page.panels.push_back(search_panel(course));
  page.panels.push_back(text_panel(table));
  return page;
}

}  // namespace podsim
