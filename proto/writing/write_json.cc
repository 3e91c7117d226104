// A report as JSON, made from the list of figures.
#include "proto/writing/figure_json.h"
#include "proto/writing/write.h"
#include "report/figures.h"

namespace podsim {

std::string report_json(const Report& report) {
  return json_text(result_figure(report.scenario_sha256, figures(report)), JsonNumbers::kShortest);
}

std::string report_json(const JobsReport& report) {
  return json_text(result_figure(report.scenario_sha256, figures(report)), JsonNumbers::kShortest);
}

}  // namespace podsim
