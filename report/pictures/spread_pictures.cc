// Implements the pictures of run_pictures.h that show how figures spread: over workers, over steps, and over
// measured runs that are like the predicted one.
#include <algorithm>

#include "report/pictures/run_pictures.h"
#include "report/tables/what_if_text.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr int kMostHeatRows = 512, kMostHeatColumns = 64;
constexpr std::size_t kMostStepBars = 64;

// Places along an axis that share one of the picture.
struct Folded {
  int places = 0, each = 1;

  Folded(int count, int most) : each((count + most - 1) / most) { places = (count + each - 1) / each; }
  int begin(int place) const { return place * each; }
  int end(int place, int count) const { return std::min(count, begin(place) + each); }
};

std::string range_name(int first, int last) {
  return first == last ? std::to_string(first) : std::to_string(first) + " to " + std::to_string(last);
}

std::string rank_name(const WhatIf& what_if, int begin, int end) {
  std::int64_t stands_for = 0;
  for (int row = begin; row < end; ++row) stands_for += what_if.ranks_alike[static_cast<std::size_t>(row)];
  const std::string name = range_name(what_if.rank_number(begin), what_if.rank_number(end - 1));
  return end - begin == 1 && stands_for > 1 ? name + " (" + std::to_string(stands_for) + " alike)" : name;
}

}  // namespace

Picture heat_picture(const WhatIf& what_if) {
  Picture picture{.id = "heat", .title = "Slowdown that each worker alone causes", .summary = ""};
  const int ranks = what_if.data_ranks(), stages = what_if.stages();
  const Folded rows(ranks, kMostHeatRows), columns(stages, kMostHeatColumns);
  picture.x.label = "pipeline stage";
  picture.y.label = "data rank";
  for (int column = 0; column < columns.places; ++column)
    picture.x.names.push_back(range_name(columns.begin(column), columns.end(column, stages) - 1));
  PictureSeries cells{"slower", "limit", MarkShape::kCell};
  double most = 1;
  for (int row = 0; row < rows.places; ++row) {
    picture.y.names.push_back(rank_name(what_if, rows.begin(row), rows.end(row, ranks)));
    for (int column = 0; column < columns.places; ++column) {
      std::size_t slowest = static_cast<std::size_t>(rows.begin(row) * stages + columns.begin(column));
      for (int rank = rows.begin(row); rank < rows.end(row, ranks); ++rank)
        for (int stage = columns.begin(column); stage < columns.end(column, stages); ++stage)
          if (const auto at = static_cast<std::size_t>(rank * stages + stage);
              what_if.by_worker[at] > what_if.by_worker[slowest])
            slowest = at;
      const double slowdown = what_if.by_worker[slowest];
      const std::string name = name_of(what_if.workers[slowest]);
      most = std::max(most, slowdown);
      cells.marks.push_back({static_cast<double>(column), static_cast<double>(row), slowdown, "",
                             name + ": " + fixed(slowdown, 4) + " times as long", "", name});
    }
  }
  picture.scale = {"slowdown", ""};
  picture.scale.low = 1;
  picture.scale.high = std::max(most, 1.02);
  cells.note = "1.00 to " + fixed(*picture.scale.high, 2) + " times the ideal step";
  picture.summary = "The step takes " + fixed(what_if.S.mean, 4) +
                    " times the ideal one; the slowest worker alone " + fixed(most, 4) + " times.";
  if (rows.each > 1 || columns.each > 1)
    picture.summary += " A cell is the slowest of " + std::to_string(rows.each) + " data ranks and " +
                       std::to_string(columns.each) + (columns.each > 1 ? " stages." : " stage.");
  picture.series.push_back(std::move(cells));
  return picture;
}

Picture steps_picture(const Report& report, const StepDetail& detail) {
  std::vector<Time> sorted = detail.steps;
  std::ranges::sort(sorted);
  const std::string count = std::to_string(sorted.size());
  Picture picture{.id = "steps", .title = "Every step", .summary = ""};
  picture.summary = count + " steps take " + fixed(sorted.front().in_seconds(), 4) + " s to " +
                    fixed(sorted.back().in_seconds(), 4) + " s, " + fixed(report.step_time.in_seconds(), 4) +
                    " s on average; half of them no longer than " +
                    fixed(report.step_time_p50.in_seconds(), 4) + " s.";
  picture.x = {"time of a step", "s"};
  if (detail.steps.size() <= kMostStepBars) {
    PictureSeries bars{"step", "compute"};
    for (std::size_t i = 0; i < detail.steps.size(); ++i) {
      const double seconds = detail.steps[i].in_seconds();
      picture.y.names.push_back(std::to_string(i));
      bars.marks.push_back({0, static_cast<double>(i), seconds, "",
                            "step " + std::to_string(i) + ": " + fixed(seconds, 4) + " s"});
    }
    picture.y.label = "step";
    picture.series.push_back(std::move(bars));
  } else {
    picture.x.low = sorted.front().in_seconds();
    picture.y = {"steps that are no longer", "%"};
    picture.y.high = 100;
    PictureSeries curve{"share of steps", "compute", MarkShape::kLine};
    const std::size_t every = std::max<std::size_t>(1, sorted.size() / 500);
    for (std::size_t i = 0; i < sorted.size(); i += every) {
      const double share = 100.0 * static_cast<double>(i + 1) / static_cast<double>(sorted.size());
      curve.marks.push_back({sorted[i].in_seconds(), share, 0, "",
                             fixed(share, 1) + "% take at most " + fixed(sorted[i].in_seconds(), 4) + " s"});
    }
    picture.series.push_back(std::move(curve));
  }
  picture.lines.push_back({true, report.step_time.in_seconds(), "mean"});
  return picture;
}

Picture certainty_picture(const Report& report, const StepDetail& detail) {
  const double step = report.step_time.in_seconds();
  Picture picture{
      .id = "certainty", .title = "How far measured runs were from their predictions", .summary = ""};
  picture.x = {"this step, if it erred as that run did", "s"};
  picture.x.low = 0.95 * step * std::min(detail.near.front().ratio, report.band->low.in_seconds() / step);
  picture.y = {"runs with a faster step against its prediction", "%"};
  picture.y.high = 100;
  PictureSeries runs{"measured run", "data", MarkShape::kDot};
  const auto count = static_cast<double>(detail.near.size());
  for (std::size_t i = 0; i < detail.near.size(); ++i) {
    const NearRun& run = detail.near[i];
    runs.marks.push_back({step * run.ratio, 100 * (static_cast<double>(i) + 0.5) / count,
                          0.3 / std::max(30.0, count), "",
                          run.run + ": measured " + fixed(run.ratio, 3) + " times its prediction, here " +
                              significant(step * run.ratio, 4) + " s"});
  }
  picture.series.push_back(std::move(runs));
  picture.lines = {{true, report.band->low.in_seconds(), "low"},
                   {true, step, "predicted"},
                   {true, report.band->high.in_seconds(), "high"}};
  picture.summary =
      std::to_string(detail.near.size()) +
      " measured runs that are like this one; eight runs in ten are expected between the outer lines.";
  return picture;
}

}  // namespace podsim
