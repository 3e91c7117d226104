// podsim reliability: a training run of weeks over failures.
#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/reliability_json.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "planner/weeks.h"
#include "proto/load_reliability.h"
#include "proto/read_file.h"
#include "report/reliability_text.h"

namespace podsim {
namespace {

struct ReliabilityVerb {
  std::vector<std::string> files;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

// All questions, or nothing when one has problems; they are printed to standard error.
std::optional<std::vector<ReliabilityQuestion>> load_questions(const ReliabilityVerb& verb) {
  const auto catalog = open_catalog(verb.load.catalog_directories);
  const auto overrides = verb.load.overrides();
  if (!catalog || !overrides) return std::nullopt;
  std::vector<ReliabilityQuestion> questions;
  for (const std::string& file : verb.files) {
    LoadReliabilityResult loaded;
    if (const auto input = read_input(file, loaded.problems))
      loaded = load_reliability(input->name, input->text, *catalog, *overrides);
    print_problems(loaded.problems);
    if (!verb.run.quiet) print_problems(loaded.warnings);
    if (loaded.question) questions.push_back(*std::move(loaded.question));
  }
  if (questions.size() < verb.files.size()) return std::nullopt;
  return questions;
}

// What is printed of each question.
std::vector<std::string> answers(const std::vector<ReliabilityQuestion>& questions,
                                 const ReliabilityVerb& verb) {
  std::size_t runs = 0;
  for (const ReliabilityQuestion& question : questions) runs += static_cast<std::size_t>(question.seeds);
  Progress progress(runs, "runs", verb.run.quiet);
  WeeksOptions options;
  options.fold = verb.run.fold == "on";
  options.steady = verb.run.steady == "on";
  options.threads = verb.run.threads > 0
                        ? verb.run.threads
                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.run_done = [&] { progress.one_done(); };
  std::vector<std::string> texts;
  for (const ReliabilityQuestion& question : questions) {
    const ReliabilityReport report = predict_weeks(question, options);
    texts.push_back(verb.output.format == "json" ? reliability_json(report) : reliability_table(report));
  }
  return texts;
}

int reliability(const ReliabilityVerb& verb) {
  const auto questions = load_questions(verb);
  if (!questions) return kInputError;
  const std::vector<std::string> texts = answers(*questions, verb);
  std::string all = texts.front();
  if (texts.size() > 1 && verb.output.format == "json") {
    all = json_array(texts);
  } else {
    for (std::size_t i = 1; i < texts.size(); ++i) all += "\n" + texts[i];
  }
  emit(all, verb.output.out);
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
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "The table says of each figure whether it is by formula or simulated. --seeds is the number of runs.\n"
      "Examples:\n"
      "  podsim reliability scenarios/reliability/llama3_54_days_16384_h100.textproto\n"
      "  podsim reliability scenarios/reliability/spares_2048_nodes.textproto --seeds 200 --threads 4\n"
      "  podsim reliability weeks.textproto --set reliability.checkpoint.interval_s=600 --format json\n"
      "  podsim catalog failures");
  verb.callback([options, &exit_code] { exit_code = reliability(*options); });
}

}  // namespace podsim
