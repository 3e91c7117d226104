// Implements page_parts.h.
#include "cli/answers/page_parts.h"

#include <algorithm>
#include <utility>

#include "report/pictures/run_pictures.h"
#include "report/text/text.h"

namespace podsim {

std::string at_index(std::size_t i) { return "[" + std::to_string(i) + "]."; }

PagePanel text_panel(const std::string& text) {
  PagePanel panel{"tables", "As tables"};
  panel.text = text;
  return panel;
}

PictureMark dot_at(double x, double y, std::size_t of, const std::string& label, const std::string& text) {
  return {x, y, 0.35 / static_cast<double>(std::max<std::size_t>(8, of)), label, text};
}

Report bar_of(const FoundLayout& found, const std::string& name) {
  const MainFigures& figures = found.figures;
  Report step;
  step.scenario = name;
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

Picture bars_of_found(const std::vector<Report>& steps) {
  std::vector<NamedReport> bars;
  for (const Report& step : steps) bars.push_back({step.scenario, &step, ""});
  Picture picture = breakdown_picture(bars);
  for (PictureSeries& series : picture.series)
    for (PictureMark& mark : series.marks) mark.key.clear();
  return picture;
}

std::string buckets_text(const MainFigures& figures) {
  const double step = figures.step_time.in_seconds();
  std::vector<std::pair<const char*, double>> parts = {
      {"compute", figures.compute.in_seconds()},
      {"exposed communication", figures.exposed_communication.in_seconds()},
      {"pipeline bubble", figures.pipeline_bubble.in_seconds()},
      {"optimizer", figures.optimizer.in_seconds()},
      {"wait for slowest host", figures.skew_wait.in_seconds()}};
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, seconds] : parts)
    if (step > 0 && seconds / step >= 0.0005)
      text += (text.empty() ? "" : ", ") + std::string(name) + " " + percent(seconds / step);
  return text;
}

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

}  // namespace podsim
