// podsim reliability: a training run of weeks over failures.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/answers/page_output.h"
#include "cli/options/options.h"
#include "cli/scenarios/sweep.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/weeks/reliability_page.h"
#include "cli/weeks/verbs.h"
#include "cli/weeks/weeks_batch.h"
#include "report/tables/reliability_text.h"
#include "report/text/align.h"

namespace podsim {
namespace {

struct ReliabilityVerb {
  std::vector<std::string> files;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

// A report each and then all beside each other, or a row each where --set has several values.
std::string as_text(const std::vector<ReliabilityReport>& reports, const Settings& settings) {
  std::string text;
  if (settings.any()) {
    std::vector<std::vector<std::string>> rows = reliability_rows(reports);
    for (std::size_t row = 1; row < rows.size(); ++row) rows[row][0] = settings.unset(rows[row][0], row - 1);
    settings.add_to_table(rows);
    return align(rows);
  }
  for (const ReliabilityReport& report : reports)
    text += (text.empty() ? "" : "\n") + reliability_table(report);
  return reports.size() == 1 ? text : text + "\n" + reliability_beside(reports);
}

int reliability(const ReliabilityVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  auto swept = load_swept_questions(verb.files, verb.load);
  if (!swept) return kInputError;
  const auto predicted = predict_all_weeks(*swept, verb.run);
  if (!predicted) return kInputError;
  const std::vector<ReliabilityReport>& reports = *predicted;
  const Settings& settings = swept->settings;
  if (!verb.run.html.empty())
    write_page(reliability_page(reports, all_weeks_json(reports, settings), as_text(reports, settings)),
               PageSources{verb.files, verb.load}, verb.run.html);
  emit(verb.output.format == "json"  ? all_weeks_json(reports, settings)
       : verb.output.format == "csv" ? settings.added_to_csv(reliability_csv(reports))
                                     : as_text(reports, settings),
       verb.output.out);
  return judge_weeks(reports);
}

}  // namespace

void add_reliability(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "reliability",
      "Simulate a training run of weeks: failures, checkpoints, spares, goodput, days and cost");
  const auto options = std::make_shared<ReliabilityVerb>();
  verb.add_option("FILE", options->files, "Scenario files with a reliability block; - is standard input")
      ->required();
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_output_options(verb, options->output, {"table", "json", "csv"});
  add_html_option(verb, options->run.html);
  verb.footer(
      "The table says of each figure whether it is by formula or simulated. --seeds is the number of runs.\n"
      "Examples:\n"
      "  podsim reliability scenarios/reliability/llama3_54_days_16384_h100.textproto\n"
      "  podsim reliability scenarios/reliability/spares_2048_nodes.textproto --seeds 200 --threads 4\n"
      "  podsim reliability weeks.textproto --set reliability.checkpoint.interval_s=600 --format json\n"
      "  podsim reliability weeks.textproto --set reliability.days=9,27,54\n"
      "  podsim reliability gpu.textproto tpu.textproto\n"
      "  podsim catalog failures\n"
      "Several values after --set make a table, a row for each; two such options a row for each "
      "combination.");
  verb.callback([options, &exit_code] { exit_code = reliability(*options); });
}

}  // namespace podsim
