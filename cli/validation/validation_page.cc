// Puts training runs in a plane of measured and predicted step times, above their table.
#include "cli/validation/validation_page.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "cli/answers/page_parts.h"
#include "report/pictures/roles.h"
#include "report/text/text.h"

namespace podsim {

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
  for (const PredictedRun& row : runs.rows) {
    if (!row.run.measured_s || !row.failure.empty()) continue;
    const double measured = *row.run.measured_s, predicted = row.report.step_time.in_seconds();
    const auto [series, fresh] =
        by_chip.emplace(row.run.chip, PictureSeries{row.run.chip, "", MarkShape::kDot});
    if (fresh) series->second.role = role_of_series(by_chip.size() - 1);
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
