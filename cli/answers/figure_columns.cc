// One row of figures a report.
#include "cli/answers/figure_columns.h"

#include <algorithm>

#include "report/tables/ensemble_text.h"
#include "report/tables/write.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string share(Time part, const Report& report) {
  return percent(part.in_seconds() / report.step_time.in_seconds());
}

}  // namespace

std::vector<std::vector<std::string>> figure_rows(std::span<const Report> reports) {
  std::vector<std::vector<std::string>> rows = {{"step s", "tokens/s", "tokens/s/chip", "MFU causal",
                                                 "exposed comm", "bubble", "stragglers", "USD/Mtoken", "GiB",
                                                 "fits"}};
  const bool ensembles = std::any_of(reports.begin(), reports.end(),
                                     [](const Report& report) { return report.ensemble.has_value(); });
  if (ensembles) rows[0].insert(rows[0].end(), {"step s, 95 % confidence", "p99 s"});
  for (const Report& report : reports) {
    const std::string fits = fits_text(report);
    rows.push_back({fixed(report.step_time.in_seconds(), 4), significant(report.tokens_per_s, 4),
                    significant(report.tokens_per_s_per_chip, 4),
                    report.knows_flops() ? percent(report.mfu_causal) : "-",
                    share(report.exposed_communication, report), share(report.pipeline_bubble, report),
                    share(report.straggler_delay, report), fixed(report.cost_usd_per_million_tokens, 4),
                    fits == "-" ? "-" : fixed(report.memory.total, 2), fits});
    if (ensembles && report.ensemble)
      rows.back().insert(rows.back().end(),
                         {interval_text(report.ensemble->mean), fixed(report.step_time_p99.in_seconds(), 4)});
  }
  return rows;
}

}  // namespace podsim
