// A report as JSON, made from the list of figures.
#include <utility>

#include "proto/writing/figure_json.h"
#include "proto/writing/write.h"
#include "report/figures/figures.h"
#include "report/pictures/detail_figures.h"

namespace podsim {

std::string report_json(const Report& report) { return report_json(report, nullptr); }

std::string report_json(const Report& report, const StepDetail* detail) {
  std::vector<Figure> all = figures(report);
  if (detail != nullptr) append(all, detail_figures(*detail));
  return json_text(result_figure(report.scenario_sha256, std::move(all)), JsonNumbers::kShortest);
}

std::string report_json(const JobsReport& report) {
  return json_text(result_figure(report.scenario_sha256, figures(report)), JsonNumbers::kShortest);
}

}  // namespace podsim
