// Puts training runs of weeks on panels: where the chip-time goes, in all and day by day.
#include "cli/weeks/reliability_page.h"

#include <algorithm>
#include <map>

#include "cli/answers/page_parts.h"
#include "report/tables/reliability_text.h"
#include "report/text/text.h"

namespace podsim {
namespace {

const char* role_of_bucket(std::size_t bucket) {
  constexpr const char* kRoles[] = {"compute", "idle", "straggler", "data",     "tensor",  "input",
                                    "expert",  "skew", "offload",   "pipeline", "context", "other"};
  return kRoles[bucket % std::size(kRoles)];
}

// "3 gpu, 1 nic"
std::string component_counts(const std::map<std::string, int>& components) {
  std::string text;
  for (const auto& [component, count] : components)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + component;
  return text;
}

// What struck the first run, above its shares of chip-time: of many failures those of a short time together.
PictureSeries failure_ticks(const WeeksCourse& course) {
  constexpr double kFoot = 100.6, kLongest = 5;
  constexpr int kTicks = 240;  // that can be told apart
  const double days = course.slices.back().end_day;
  std::map<int, std::vector<const WeeksCourse::Failure*>> places;
  for (const WeeksCourse::Failure& failure : course.failures)
    places[static_cast<int>(failure.day / days * kTicks)].push_back(&failure);
  std::size_t most = 1;
  for (const auto& [place, failures] : places) most = std::max(most, failures.size());
  PictureSeries series{"failure", "limit", MarkShape::kTick};
  for (const auto& [place, failures] : places) {
    std::map<std::string, int> components;
    double day = 0;
    for (const WeeksCourse::Failure* failure : failures) {
      ++components[failure->component];
      day += failure->day / static_cast<double>(failures.size());
    }
    const std::string when = failures.size() == 1 ? "day " + fixed(day, 2)
                                                  : "days " + fixed(failures.front()->day, 2) + " to " +
                                                        fixed(failures.back()->day, 2);
    const double length = kLongest * static_cast<double>(failures.size()) / static_cast<double>(most);
    series.marks.push_back(
        {day, kFoot, length, "",
         when + ": " + (failures.size() == 1 ? failures.front()->component : component_counts(components))});
  }
  return series;
}

// Every chip-second of the first run over its days, and on top what struck it.
Picture weeks_picture(const ReliabilityReport& report) {
  const WeeksCourse& course = *report.course;
  Picture picture{
      .id = "weeks", .title = "Where the chip-time of the first run goes, day by day", .summary = ""};
  picture.x = {"days", ""};
  picture.x.high = course.slices.back().end_day;
  picture.y = {"share of all chip-time", "%"};
  picture.y.high = 106;
  std::vector<double> top(course.slices.size(), 0);
  for (std::size_t b = 0; b < report.buckets.size(); ++b) {
    PictureSeries series{report.buckets[b].bucket, role_of_bucket(b), MarkShape::kArea};
    bool any = false;
    for (std::size_t i = 0; i < course.slices.size(); ++i) {
      const WeeksCourse::Slice& slice = course.slices[i];
      const double share = 100 * slice.shares[b];
      any = any || share > 0;
      for (const double day : {slice.begin_day, slice.end_day}) series.marks.push_back({day, top[i], share});
      top[i] += share;
    }
    if (any) picture.series.push_back(std::move(series));
  }
  picture.summary = "In the first run " + std::to_string(course.failures.size()) +
                    " failures struck the job in " + fixed(course.slices.back().end_day, 1) +
                    " days: the ticks on top.";
  PictureSeries failures = failure_ticks(course);
  if (failures.marks.size() < course.failures.size())
    picture.summary +=
        " Where several have no room beside each other one tick, as much longer, stands for all.";
  if (!failures.marks.empty()) picture.series.push_back(std::move(failures));
  return picture;
}

Picture goodput_picture(const WeeksCourse& course) {
  Picture picture{.id = "goodput", .title = "Goodput from the start until then", .summary = ""};
  picture.x = {"days", ""};
  picture.y = {"goodput", "%"};
  picture.y.low = 0;
  picture.y.high = 100;
  PictureSeries band{"eight runs in ten", "mean", MarkShape::kArea},
      middle{"median", "compute", MarkShape::kLine};
  for (const WeeksCourse::Goodput& at : course.goodput) {
    band.marks.push_back({at.day, 100 * at.low, 100 * (at.high - at.low)});
    middle.marks.push_back({at.day, 100 * at.middle, 0, "",
                            "until day " + fixed(at.day, 2) + ": " + percent(at.middle) +
                                ", eight runs in ten " + percent(at.low) + " to " + percent(at.high)});
  }
  const WeeksCourse::Goodput& last = course.goodput.back();
  picture.summary = "Of " + std::to_string(course.runs) + " runs: at the end half of them have " +
                    percent(last.middle) + " or more, and eight in ten " + percent(last.low) + " to " +
                    percent(last.high) + ".";
  picture.series = {std::move(band), std::move(middle)};
  return picture;
}

PagePanel course_panel(const ReliabilityReport& report) {
  PagePanel panel{"days", "Day by day"};
  if (!report.course->slices.empty()) panel.pictures.push_back(weeks_picture(report));
  if (report.course->goodput.size() > 1) panel.pictures.push_back(goodput_picture(*report.course));
  return panel;
}

}  // namespace

Page reliability_page(std::span<const ReliabilityReport> reports, const std::string& json,
                      const std::string& text) {
  const ReliabilityReport& first = reports.front();
  Page page{.title = first.scenario + ": weeks over failures", .question = first.question};
  page.json = json;
  Picture bar{.id = "buckets", .title = "Where the chip-time goes", .summary = ""};
  bar.x = {"share of all chip-time", "%"};
  bar.x.high = 100;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    bar.y.names.push_back(reports[i].scenario);
    double at = 0;
    for (std::size_t b = 0; b < reports[i].buckets.size(); ++b) {
      const BucketReport& bucket = reports[i].buckets[b];
      if (bar.series.size() <= b) bar.series.push_back({bucket.bucket, role_of_bucket(b)});
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
  page.panels = {std::move(panel)};
  if (first.course) page.panels.push_back(course_panel(first));
  page.panels.push_back(text_panel(text));
  for (std::size_t i = 0; i < std::min<std::size_t>(6, reports.size()); ++i) {
    const std::string key = (reports.size() > 1 ? at_index(i) : "") + "event_simulation.";
    page.figures.push_back({reports[i].scenario + ", goodput",
                            {percent(reports[i].figures.goodput.mean), key + "goodput.mean"},
                            "of all chip-time"});
    page.figures.push_back(
        {reports[i].scenario + ", days",
         {significant(reports[i].figures.days.mean, 4), key + "days.mean"},
         reports[i].unfinished > 0 ? "at least: " + unfinished_runs(reports[i]) + " were cut off" : ""});
  }
  return page;
}

}  // namespace podsim
