// Puts reports on panels: bars of their steps, what explains the difference, and the table as a terminal
// shows it.
#include "cli/comparisons/compare_page.h"

#include <algorithm>
#include <cmath>

#include "cli/answers/page_parts.h"
#include "cli/answers/render.h"
#include "proto/pages/run_page.h"
#include "report/figures/figures.h"
#include "report/figures/step_figures.h"
#include "report/pictures/run_pictures.h"
#include "report/tables/write.h"
#include "report/text/text.h"

namespace podsim {
namespace {

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

// A part of the step in two reports.
struct Change {
  std::string part;
  double before = 0, after = 0;

  double by() const { return after - before; }
};

// Parts of the steps, by how much they explain of the difference.
std::vector<Change> changes_of(const Report& first, const Report& other) {
  std::vector<Change> changes;
  for (const StepBucket& bucket : step_buckets())
    changes.push_back({bucket.name, (first.*bucket.time).in_seconds(), (other.*bucket.time).in_seconds()});
  std::erase_if(changes, [](const Change& change) { return change.before == 0 && change.after == 0; });
  std::ranges::stable_sort(
      changes, [](const Change& a, const Change& b) { return std::abs(a.by()) > std::abs(b.by()); });
  return changes;
}

std::string signed_text(double seconds) { return (seconds < 0 ? "-" : "+") + fixed(std::abs(seconds), 4); }

// What explains the difference: bars of what became longer and what shorter, most first.
PagePanel difference_panel(const Report& first, const Report& other, std::size_t index) {
  const double before = first.step_time.in_seconds(), after = other.step_time.in_seconds();
  const std::string number = index == 1 ? "" : "-" + std::to_string(index);
  PagePanel panel{"difference" + number, "What explains the difference: " + other.scenario};
  Picture picture{.id = "difference" + number, .title = "Seconds of a step more or less", .summary = ""};
  picture.x = {"than in " + first.scenario, "s"};
  PictureSeries longer{"longer", "straggler"}, shorter{"shorter", "expert"};
  PageTable table{"", {"part of the step", "before, s", "after, s", "change, s", "of the difference"}, {}};
  for (const Change& change : changes_of(first, other)) {
    const auto row = static_cast<double>(picture.y.names.size());
    picture.y.names.push_back(change.part);
    if (change.by() != 0)
      (change.by() > 0 ? longer : shorter)
          .marks.push_back({std::min(0.0, change.by()), row, std::abs(change.by()), signed_text(change.by()),
                            change.part + ": " + signed_text(change.by()) + " s, from " +
                                fixed(change.before, 4) + " s to " + fixed(change.after, 4) + " s",
                            "", change.part});
    table.rows.push_back({{change.part},
                          {fixed(change.before, 4)},
                          {fixed(change.after, 4)},
                          {signed_text(change.by())},
                          {after == before ? "-" : percent(change.by() / (after - before))}});
  }
  picture.summary = "A step of " + other.scenario + " takes " +
                    (after == before ? "as long as one"
                                     : fixed(std::abs(after - before), 4) + " s " +
                                           (after > before ? "more" : "less") + " than one") +
                    " of " + first.scenario + ".";
  for (PictureSeries* series : {&longer, &shorter})
    if (!series->marks.empty()) picture.series.push_back(std::move(*series));
  panel.sentences.push_back(picture.summary);
  if (!picture.series.empty()) panel.pictures.push_back(std::move(picture));
  panel.tables.push_back(std::move(table));
  return panel;
}

PageFigure step_figure(const Report& report, std::size_t i) {
  return {report.scenario,
          {significant(report.step_time.in_seconds(), 4) + " s a step", at_index(i) + "step_time_s"},
          significant(report.tokens_per_s, 4) + " tokens/s"};
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
  page.panels = {std::move(steps)};
  for (std::size_t i = 1; i < std::min<std::size_t>(4, reports.size()); ++i)
    page.panels.push_back(difference_panel(reports[0], reports[i], i));
  page.panels.push_back(text_panel(compare_table(reports)));
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
    workers.tables.push_back(worker_table(*replay));
    page.panels.insert(page.panels.begin() + 1, std::move(workers));
  }
  return page;
}

}  // namespace podsim
