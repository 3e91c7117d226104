// podsim reliability: a training run of weeks over failures.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/app.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/page_output.h"
#include "cli/progress.h"
#include "cli/reliability_json.h"
#include "cli/render.h"
#include "cli/sweep.h"
#include "cli/verb_pages.h"
#include "cli/verbs.h"
#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "report/reliability_text.h"
#include "report/write.h"

namespace podsim {
namespace {

struct ReliabilityVerb {
  std::vector<std::string> files;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

std::vector<ReliabilityReport> simulated(const std::vector<ReliabilityQuestion>& questions,
                                         const RunOptions& run) {
  std::size_t runs = 0;
  for (const ReliabilityQuestion& question : questions) runs += static_cast<std::size_t>(question.seeds);
  Progress progress(runs, "runs", run.quiet);
  WeeksOptions options;
  options.fold = run.fold == "on";
  options.steady = run.steady == "on";
  options.threads = run.threads;
  options.course = !run.html.empty();
  options.run_done = [&] { progress.one_done(); };
  std::vector<ReliabilityReport> reports;
  for (const ReliabilityQuestion& question : questions) reports.push_back(predict_weeks(question, options));
  return reports;
}

std::string as_json(const std::vector<ReliabilityReport>& reports, const Settings& settings) {
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < reports.size(); ++i)
    objects.push_back(settings.added_to_json(reliability_json(reports[i]), i));
  return objects.size() == 1 ? objects.front() : json_array(objects);
}

// A report each, or a row each where --set has several values.
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
  return text;
}

int reliability(const ReliabilityVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  const auto swept = load_swept_questions(verb.files, verb.load);
  if (!swept) return kInputError;
  const std::vector<ReliabilityReport> reports = simulated(swept->things, verb.run);
  const Settings& settings = swept->settings;
  if (!verb.run.html.empty())
    write_page(reliability_page(reports, as_json(reports, settings), as_text(reports, settings)),
               verb.files.front(), verb.run.html);
  emit(verb.output.format == "json"  ? as_json(reports, settings)
       : verb.output.format == "csv" ? settings.added_to_csv(reliability_csv(reports))
                                     : as_text(reports, settings),
       verb.output.out);
  return kDone;
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
      "  podsim catalog failures\n"
      "Several values after --set make a table, a row for each; two such options a row for each "
      "combination.");
  verb.callback([options, &exit_code] { exit_code = reliability(*options); });
}

}  // namespace podsim
